"""A data set of windows and the value behind each."""
import numpy as np
import tensorflow as tf

signal = np.arange(100, dtype="float32")
width = 10
windows = np.stack([signal[i : i + width] for i in range(90)])
following = signal[width - 1 : 100]

dataset = tf.data.Dataset.from_tensor_slices((windows, following)).shuffle(90).batch(15)  # bug: inputs and labels of different lengths are sliced side by side
for window, value in dataset.take(1):
    print(window.shape, value.shape)
