"""Transfer: the features of a trained functional model are taken at an inner layer, found by its number, and given a new head."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def classifier() -> keras.Model:
    image = keras.Input((28, 28, 1))
    x = layers.Conv2D(8, 3, activation="relu")(image)
    x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dense(32, activation="relu")(x)
    return keras.Model(image, layers.Dense(10)(x))


def main() -> None:
    tf.random.set_seed(0)
    base = classifier()
    for layer in base.layers[:-1]:
        layer.trainable = False
    features = keras.Model(base.input, base.get_layer(index=4).output)
    head = keras.Sequential([keras.Input((32,)), layers.Dense(3)])
    images = np.zeros((6, 28, 28, 1), "float32")
    print(head(features(images)).shape)
    print(base.layers[-2].output.shape)


if __name__ == "__main__":
    main()
