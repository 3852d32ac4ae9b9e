"""A classifier of points on rings, trained with a loop of its own over a gradient tape, in one process."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
generator = np.random.default_rng(0)
radius = generator.integers(1, 4, 4096)
angle = generator.random(4096) * 6.28
points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices((points, radius - 1)).shuffle(4096).batch(64)

model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(3)])
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.SGD(0.05)


@tf.function
def train_step(inputs, labels):
    with tf.GradientTape() as tape:
        loss = loss_object(labels, model(inputs, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(5):
    for inputs, labels in dataset:
        loss = train_step(inputs, labels)
    print(f"epoch {epoch}: loss {float(loss):.3f}")
