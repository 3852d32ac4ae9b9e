"""A network over the frames of a clip."""
from tensorflow import keras
from tensorflow.keras import layers

clip = keras.Input(shape=(8, 32, 32, 3))
frames = layers.TimeDistributed(layers.Conv2D(4, 3))(clip)
pooled = layers.TimeDistributed(layers.Flatten())(layers.Flatten()(frames))  # bug: a convolution in time gets frames without their time axis
summary = layers.GRU(16)(pooled)
print(keras.Model(clip, layers.Dense(5)(summary)).output_shape)
