"""A recurrent network as a scan over time."""
import jax
import jax.numpy as jnp
from jax import lax, random

HIDDEN, FEATURES = 32, 12
key = random.PRNGKey(0)
k1, k2, k3 = random.split(key, 3)
w_in = random.normal(k1, (FEATURES, HIDDEN)) * 0.1
w_hidden = random.normal(k2, (HIDDEN, HIDDEN)) * 0.1


def step(hidden, x):
    new = jnp.tanh(x @ w_in + hidden @ w_hidden)
    return new, new


series = random.normal(k3, (20, 8, FEATURES))
last, outputs = lax.scan(step, jnp.zeros((8, HIDDEN)), series)
print(last.shape, outputs.shape)
