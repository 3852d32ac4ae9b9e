"""Keras: layers of the program by name from a registry, settings from a dataclass."""
from dataclasses import dataclass

import tensorflow as tf
from tensorflow import keras

LAYERS = {}


def register(name):
    def keep(cls):
        LAYERS[name] = keras.utils.register_keras_serializable(package="mine", name=name)(cls)
        return LAYERS[name]

    return keep


@register("gate")
class Gate(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, x):
        return tf.sigmoid(tf.matmul(x, self.kernel) + self.bias) * x

    def get_config(self):
        return {**super().get_config(), "units": self.units}


@dataclass
class Settings:
    width: int = 12
    branches: int = 3
    kind: str = "gate"


class Net(keras.Model):
    def __init__(self, settings):
        super().__init__()
        self.branches = [keras.layers.Dense(settings.width, activation="relu") for _ in range(settings.branches)]
        self.gate = LAYERS[settings.kind](units=settings.width * settings.branches)
        self.out = keras.layers.Dense(1)

    def call(self, x):
        joined = tf.concat([branch(x) for branch in self.branches], axis=-1)
        return self.out(self.gate(joined))


model = Net(Settings())
print(model(tf.zeros((4, 20))).shape)
