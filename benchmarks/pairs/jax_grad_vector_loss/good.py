"""A step of logistic regression."""
import jax
import jax.numpy as jnp
from jax import random


def loss(params, x, y):
    logits = x @ params["w"] + params["b"]
    losses = jnp.maximum(logits, 0) - logits * y + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    return losses.mean()


params = {"w": jnp.zeros(30), "b": jnp.zeros(())}
x = random.normal(random.PRNGKey(0), (128, 30))
y = (x[:, 0] > 0).astype(jnp.float32)
grads = jax.grad(loss)(params, x, y)
params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
print(params["w"].shape)
