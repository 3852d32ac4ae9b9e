"""Scaled dot-product attention by hand."""
import tensorflow as tf


def attention(query, key, value):
    scores = tf.matmul(query, key, transpose_b=True)
    scores = scores / tf.sqrt(tf.cast(tf.shape(key)[-1], tf.float32))
    weights = tf.nn.softmax(scores, axis=-1)
    return tf.matmul(weights, value)


def split_heads(x, heads):
    batch, time, width = x.shape
    x = tf.reshape(x, (batch, time, heads, width // heads))
    return tf.transpose(x, perm=[0, 2, 1, 3])


x = tf.random.normal((2, 10, 64))
heads = split_heads(x, 4)
print(attention(heads, heads, heads).shape)
