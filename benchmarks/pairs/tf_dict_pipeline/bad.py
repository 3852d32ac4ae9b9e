"""tf.data: records of named columns, batched, normalized and given to a model that joins them."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

COLUMNS = {"age": 1, "income": 1, "height": 1}
rows = {name: np.random.rand(40).astype("float32") for name in COLUMNS}
labels = np.random.randint(0, 2, 40)


def normalize(record, label):
    scaled = {name: (value - 0.5) / 0.3 for name, value in record.items()}
    return scaled, tf.cast(label, tf.float32)


class Tabular(keras.Model):
    def __init__(self, hidden=8):
        super().__init__()
        self.kernel = self.add_weight(shape=(3, hidden), name="kernel")
        self.out = keras.layers.Dense(1)

    def call(self, record):
        columns = [tf.expand_dims(record[name], -1) for name in ("age", "income")]
        features = tf.concat(columns, axis=-1)
        return self.out(tf.nn.relu(tf.matmul(features, self.kernel)))  # bug: two of three columns


data = tf.data.Dataset.from_tensor_slices((rows, labels)).shuffle(40).batch(8).map(normalize)
model = Tabular()
for record, label in data.take(2):
    logits = model(record)
    print(tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(label[:, None], logits)).shape)
