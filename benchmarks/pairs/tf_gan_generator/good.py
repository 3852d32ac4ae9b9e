"""The generator of a small GAN."""
import tensorflow as tf
from tensorflow.keras import Sequential, layers


def generator(noise):
    return Sequential(
        [
            layers.Dense(7 * 7 * 32, input_shape=(noise,)),
            layers.Reshape((7, 7, 32)),
            layers.Conv2DTranspose(16, 4, strides=2, padding="same"),
            layers.Conv2DTranspose(1, 4, strides=2, padding="same"),
        ]
    )


print(generator(10)(tf.random.normal((3, 10))).shape)
