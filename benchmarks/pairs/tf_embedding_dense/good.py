"""Two towers that share a projection."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

user_ids = layers.Embedding(1000, 32)
item_ids = layers.Embedding(500, 32)
project = layers.Dense(16)

users = tf.constant(np.random.randint(0, 1000, size=(8,)))
items = tf.constant(np.random.randint(0, 500, size=(8,)))
left = project(user_ids(users))
right = project(item_ids(items))
print(tf.reduce_sum(left * right, axis=-1).shape)
