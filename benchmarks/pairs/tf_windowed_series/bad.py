"""A forecast from windows of a series."""
import numpy as np
import tensorflow as tf

STEPS = 12

series = np.random.rand(200, 3).astype("float32")
windows = tf.data.Dataset.from_tensor_slices(series).window(STEPS + 1, shift=1, drop_remainder=True)
windows = windows.flat_map(lambda window: window.batch(STEPS + 1, drop_remainder=True))
pairs = windows.map(lambda window: (window[:-1], window[-1])).batch(16, drop_remainder=True)
weights = tf.Variable(tf.random.normal((STEPS * 3, 3)))

for past, target in pairs.take(2):
    flat = tf.reshape(past, (16, (STEPS + 1) * 3))  # bug: the last step of each window is the target
    loss = tf.reduce_mean(tf.square(flat @ weights - target))
print(float(loss))
