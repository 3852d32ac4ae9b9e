"""One level of a U-Net."""
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers


def block(x, filters):
    return layers.Conv2D(filters, 3, padding="same", activation="relu")(x)


def unet(size):
    inputs = keras.Input(shape=(size, size, 1))
    down = block(inputs, 8)
    middle = block(layers.MaxPooling2D()(down), 16)
    up = layers.UpSampling2D()(middle)
    merged = layers.Concatenate()([down, up])  # bug: a pooling of odd sizes does not come back to the size of the skip connection
    return keras.Model(inputs, layers.Conv2D(1, 1)(merged))


size = 33
model = unet(size)
print(model(np.zeros((1, size, size, 1), "float32")).shape)
