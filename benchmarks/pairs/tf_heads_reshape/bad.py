"""A multi-head projection as a layer."""
import tensorflow as tf
from tensorflow.keras import layers


class Heads(layers.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.depth = width // (heads + 2)
        self.project = layers.Dense(width)

    def call(self, inputs):
        projected = self.project(inputs)
        batch = tf.shape(inputs)[0]
        split = tf.reshape(projected, (batch, 12, self.heads, self.depth))  # bug: the width of a head is computed for other heads than are made
        return tf.transpose(split, [0, 2, 1, 3])


layer = Heads(width=48, heads=6)
print(layer(tf.ones((3, 12, 20))).shape)
