"""A perceptron whose parameters are made from a list of widths."""
import jax
import jax.numpy as jnp
from jax import random


def init(widths, key):
    keys = random.split(key, len(widths))
    layers = zip(keys, widths[:-1], widths[1:])
    return [random.normal(k, (m, n)) / jnp.sqrt(m) for k, m, n in layers]


def predict(params, images):
    x = images
    for w in params:
        x = jnp.tanh(x @ w)
    return jax.nn.log_softmax(x)


params = init([784, 256, 128, 10], random.PRNGKey(0))
images = random.normal(random.PRNGKey(1), (64, 784))
print(predict(params, images).shape)
