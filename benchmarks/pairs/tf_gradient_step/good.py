"""Linear regression with a tape."""
import tensorflow as tf

weights = tf.Variable(tf.zeros([5, 1]))
bias = tf.Variable(tf.zeros([1]))
inputs, targets = tf.random.normal([64, 5]), tf.random.normal([64, 1])

for _ in range(3):
    predicted = inputs @ weights + bias
    error = predicted - targets
    gradient = tf.matmul(inputs, error, transpose_a=True) / 64.0
    weights.assign_sub(0.1 * gradient)
    bias.assign_sub(0.1 * tf.reduce_mean(error, axis=0))
print(weights.shape, bias.shape)
