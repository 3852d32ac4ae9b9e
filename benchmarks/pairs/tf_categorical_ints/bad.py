"""Sentiment in five grades from bags of words."""
import numpy as np
import tensorflow as tf

vocabulary, grades = 200, 5
texts = np.random.rand(90, vocabulary).astype("float32")
stars = np.random.randint(0, grades, size=(90,))

model = tf.keras.models.Sequential()
model.add(tf.keras.layers.Dense(32, activation="relu", input_shape=(vocabulary,)))
model.add(tf.keras.layers.Dropout(0.3))
model.add(tf.keras.layers.Dense(grades))
model.compile(
    optimizer=tf.keras.optimizers.Adam(1e-3),
    loss=tf.keras.losses.CategoricalCrossentropy(from_logits=True),
)
model.fit(texts, stars, epochs=1, verbose=0)  # bug: class numbers meet the loss for one-hot labels
print("fitted")
