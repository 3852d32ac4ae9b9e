"""Train and test splits of a small regression."""
import numpy as np
from tensorflow import keras

data = np.random.rand(100, 6).astype("float32")
target = data.sum(axis=1, keepdims=True)
train, test = data[:80], data[80:]
train_target, test_target = target[:80], target[80:]

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
model.fit(train, train_target, epochs=1, verbose=0)
print(model.predict(test, verbose=0).shape == test_target.shape)
