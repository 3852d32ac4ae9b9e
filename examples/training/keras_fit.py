"""A classifier of points on rings, trained with Keras in one process."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
generator = np.random.default_rng(0)
radius = generator.integers(1, 4, 4096)
angle = generator.random(4096) * 6.28
points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype("float32")

model = tf.keras.Sequential(
    [
        tf.keras.layers.Dense(64, activation="relu", input_shape=(2,)),
        tf.keras.layers.Dense(3),
    ]
)
model.compile(
    optimizer=tf.keras.optimizers.SGD(0.05),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(points, radius - 1, batch_size=64, epochs=5)
