"""Edges with a fixed convolution."""
import tensorflow as tf

image = tf.random.uniform((1, 28, 28, 3))
filters = tf.random.normal((3, 3, 3, 8))
edges = tf.nn.conv2d(image, filters, strides=1, padding="SAME")
pooled = tf.nn.max_pool2d(edges, ksize=2, strides=2, padding="VALID")
print(pooled.shape)
