"""A dense layer written by hand."""
import tensorflow as tf
from tensorflow import keras


class Linear(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[0], self.units), initializer="zeros")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros")

    def call(self, inputs):
        return tf.matmul(inputs, self.kernel) + self.bias  # bug: the kernel is made for the wrong axis of the input


print(Linear(7)(tf.ones((4, 5))).shape)
