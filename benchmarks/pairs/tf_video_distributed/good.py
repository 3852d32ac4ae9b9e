"""Keras: frames by TimeDistributed, then a recurrent layer over time."""
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers


def frame_encoder():
    return keras.Sequential(
        [
            layers.Conv2D(8, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
            layers.MaxPooling2D(2),
        ],
        name="frames",
    )


def build(frames=6, side=32):
    inputs = keras.Input((frames, side, side, 3))
    x = layers.TimeDistributed(frame_encoder())(inputs)
    x = layers.Reshape((6, 4 * 4 * 16))(x)
    x = layers.GRU(20)(x)
    return keras.Model(inputs, layers.Dense(3, activation="softmax")(x))


model = build()
print(model(np.zeros((2, 6, 32, 32, 3), "float32")).shape)
