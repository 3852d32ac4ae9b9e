"""Iris-like classification with a dense network."""
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.utils import to_categorical

CLASSES = 3
features = np.random.rand(120, 4).astype("float32")
labels = to_categorical(np.random.randint(0, CLASSES, 120), CLASSES)

inputs = keras.Input(shape=(4,))
hidden = layers.Dense(16, activation="relu")(inputs)
outputs = layers.Dense(CLASSES, activation="softmax")(hidden)
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="categorical_crossentropy")
model.fit(features, labels, epochs=1, verbose=0)
print("done", model.predict(features, verbose=0).shape)
