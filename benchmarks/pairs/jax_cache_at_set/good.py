"""Decoding with a cache of keys, written in place of a position."""
import jax.numpy as jnp
from jax import random

BATCH, HEADS, LENGTH, WIDTH = 2, 4, 64, 16


def write(cache, new, position):
    return cache.at[:, :, position].set(new)


cache = jnp.zeros((BATCH, HEADS, LENGTH, WIDTH))
for position, key in enumerate(random.split(random.PRNGKey(0), 3)):
    new = random.normal(key, (BATCH, HEADS * WIDTH)).reshape(BATCH, HEADS, WIDTH)
    cache = write(cache, new, position)
print(cache.shape)
