"""Momentum for a tree of parameters."""
import jax
import jax.numpy as jnp
from jax import random

k1, k2 = random.split(random.PRNGKey(0))
params = {"dense": {"w": random.normal(k1, (20, 8)), "b": jnp.zeros(8)}, "head": {"w": random.normal(k2, (8, 3)), "b": jnp.zeros(3)}}
velocity = jax.tree.map(lambda p: jnp.zeros(p.shape), params)


def loss(params, x, y):
    h = jnp.tanh(x @ params["dense"]["w"] + params["dense"]["b"])
    return jnp.mean((h @ params["head"]["w"] + params["head"]["b"] - y) ** 2)


x, y = jnp.ones((16, 20)), jnp.zeros((16, 3))
grads = jax.grad(loss)(params, x, y)
velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, grads)
params = jax.tree.map(lambda p, v: p - 0.1 * v, params, velocity)
print(params["dense"]["w"].shape)
