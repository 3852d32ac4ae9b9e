"""A random walk of particles with noise of its own."""
import jax.numpy as jnp
from jax import random

key = random.PRNGKey(7)
start_key, step_key = random.split(key)
position = random.normal(start_key, (100, 2))
for k in random.split(step_key, 5):
    position = position + 0.1 * random.normal(k, position.shape)
print(position.shape, jnp.mean(position, axis=0).shape)
