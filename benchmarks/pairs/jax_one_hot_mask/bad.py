"""The mean value of the chosen actions."""
import jax
import jax.numpy as jnp
from jax import random

ACTIONS = 6
q_values = random.normal(random.PRNGKey(0), (32, ACTIONS))
actions = random.randint(random.PRNGKey(1), (32,), 0, ACTIONS)
mask = jax.nn.one_hot(actions, ACTIONS - 1)
chosen = jnp.sum(q_values * mask, axis=-1)  # bug: the mask has one action less than there are
print(chosen.shape, chosen.mean().shape)
