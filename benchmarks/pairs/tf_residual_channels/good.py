"""A residual stage."""
from tensorflow import keras
from tensorflow.keras import layers


def residual(x, filters):
    shortcut = x
    y = layers.Conv2D(filters, 3, padding="same")(x)
    y = layers.BatchNormalization()(y)
    y = layers.ReLU()(y)
    y = layers.Conv2D(filters, 3, padding="same")(y)
    if shortcut.shape[-1] != filters:
        shortcut = layers.Conv2D(filters, 1)(shortcut)
    return layers.Add()([shortcut, y])


inputs = keras.Input((16, 16, 32))
x = residual(inputs, 32)
x = residual(x, 64)
print(keras.Model(inputs, x).output_shape)
