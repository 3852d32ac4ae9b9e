"""A perceptron over flattened images."""
import tensorflow as tf

images = tf.random.uniform((16, 28, 28))
flat = tf.reshape(images, [16, 32 * 32])  # bug: the flattened size belongs to another image size
weights = tf.Variable(tf.random.normal([784, 10]))
print(tf.matmul(flat, weights).shape)
