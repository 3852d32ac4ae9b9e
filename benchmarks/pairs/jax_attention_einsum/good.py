"""Attention of queries over a memory of another length."""
import jax
import jax.numpy as jnp
from jax import random


def attend(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    weights = jax.nn.softmax(scores, axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


keys = random.split(random.PRNGKey(0), 3)
q = random.normal(keys[0], (2, 10, 4, 16))
k = random.normal(keys[1], (2, 40, 4, 16))
v = random.normal(keys[2], (2, 40, 4, 16))
print(attend(q, k, v).shape)
