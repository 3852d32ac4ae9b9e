"""Keras: a causal block whose mask is made in a helper of its own."""
import tensorflow as tf
from tensorflow import keras


def causal(heads, length):
    return (1.0 - tf.linalg.band_part(tf.ones((heads, length)), -1, 0)) * -1e9


class Block(keras.layers.Layer):
    def __init__(self, width, heads, **kwargs):
        super().__init__(**kwargs)
        self.width, self.heads = width, heads
        self.qkv = keras.layers.Dense(3 * width, use_bias=False)
        self.out = keras.layers.Dense(width)
        self.norm = keras.layers.LayerNormalization()

    def call(self, x):
        batch, length = tf.shape(x)[0], x.shape[1]
        parts = tf.reshape(self.qkv(self.norm(x)), (batch, length, 3, self.heads, self.width // self.heads))
        q, k, v = tf.unstack(tf.transpose(parts, (2, 0, 3, 1, 4)))
        scores = tf.einsum("bhqd,bhkd->bhqk", q, k) + causal(self.heads, length)  # bug: a row for each head
        mixed = tf.einsum("bhqk,bhkd->bqhd", tf.nn.softmax(scores), v)
        return x + self.out(tf.reshape(mixed, (batch, length, self.width)))


block = Block(24, 4)
print(block(tf.random.normal((2, 10, 24))).shape)
