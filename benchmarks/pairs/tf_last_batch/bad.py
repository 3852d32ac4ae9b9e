"""A classifier over batches of a fixed size."""
import numpy as np
import tensorflow as tf

BATCH = 32

images = np.random.rand(500, 28, 28).astype("float32")
labels = np.random.randint(0, 10, 500)
data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(500).batch(BATCH).prefetch(1)
dense = tf.keras.layers.Dense(10)

for x, y in data:
    flat = tf.reshape(x, (BATCH, 784))  # bug: the last batch has 20 images
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=dense(flat)))
print(float(loss))
