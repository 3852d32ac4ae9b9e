"""A small convolutional classifier for digits."""
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers


def load(count=64):
    images = np.random.rand(count, 28, 28, 3).astype("float32")
    labels = np.random.randint(0, 10, size=count)
    return images, labels


def build(classes=10):
    return keras.Sequential(
        [
            layers.Conv2D(8, 3, activation="relu", input_shape=(28, 28, 3)),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(classes, activation="softmax"),
        ]
    )


images, labels = load()
model = build()
model.compile(optimizer="sgd", loss="sparse_categorical_crossentropy")
model.fit(images[..., 0].reshape(-1, 784), labels, epochs=1, batch_size=16, verbose=0)  # bug: a convolution is trained on images without an axis of channels
print("trained", model.count_params() > 0)
