"""Stereo images side by side and as channels."""
import tensorflow as tf

left = tf.random.uniform((4, 24, 32, 3))
right = tf.random.uniform((4, 24, 32, 1))
both = tf.concat([left, right], axis=-1)
print(both.shape)
