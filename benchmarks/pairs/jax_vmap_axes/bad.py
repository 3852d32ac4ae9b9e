"""Scores of each user for its own candidates."""
import jax
import jax.numpy as jnp
from jax import random


def score(user, candidates):
    return candidates @ user


users = random.normal(random.PRNGKey(0), (16, 24))
candidates = random.normal(random.PRNGKey(1), (50, 16, 24))
batched = jax.vmap(score, in_axes=(0, 0))
scores = batched(users, candidates)  # bug: the candidates are mapped over their own axis, not that of the users
print(scores.shape, jnp.argmax(scores, axis=1).shape)
