"""Keras: a decoder with skip connections on an encoder of keras.applications."""
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SKIPS = [("block4a_expand_activation", 32), ("block3a_expand_activation", 24)]


def decoder(size=128):
    encoder = keras.applications.EfficientNetB0(include_top=False, weights=None, input_shape=(size, size, 3))
    x = encoder.get_layer("block6a_expand_activation").output
    for name, width in SKIPS:
        skip = encoder.get_layer(name).output
        x = layers.UpSampling2D(2)(x)
        x = layers.Concatenate()([x, skip])
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
    return keras.Model(encoder.input, layers.Conv2D(1, 1)(x))


print(decoder().output_shape)
