"""Keras: matching words of two sentences by the dot products of shared encodings."""
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

VOCABULARY, LEFT, RIGHT = 300, 7, 9
embed = layers.Embedding(VOCABULARY, 16)
encode = layers.Bidirectional(layers.LSTM(8, return_sequences=True))
project = layers.Dense(10, use_bias=False)

left, right = keras.Input((LEFT,), dtype="int32"), keras.Input((RIGHT,), dtype="int32")
a, b = encode(embed(left)), encode(embed(right))
scores = layers.Dot(axes=2)([project(a), b])  # bug: 10 features meet 16
best = layers.Lambda(lambda s: tf.reduce_max(s, axis=-1))(scores)
model = keras.Model([left, right], layers.Dense(1)(best))
print(model([tf.zeros((2, LEFT), tf.int32), tf.zeros((2, RIGHT), tf.int32)]).shape)
