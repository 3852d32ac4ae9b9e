"""A perceptron over flattened images."""
import tensorflow as tf

images = tf.random.uniform((16, 28, 28))
flat = tf.reshape(images, [16, 28 * 28])
weights = tf.Variable(tf.random.normal([784, 10]))
print(tf.matmul(flat, weights).shape)
