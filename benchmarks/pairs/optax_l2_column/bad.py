"""A linear regression with optax."""
import jax
import jax.numpy as jnp
import optax
from jax import random

params = {"w": jnp.zeros((6, 1)), "b": jnp.zeros(1)}
optimizer = optax.sgd(0.1)
state = optimizer.init(params)


def loss(params, x, y):
    predictions = x @ params["w"] + params["b"]
    return optax.l2_loss(predictions, y).mean()  # bug: predictions are a column, the targets a row


x = random.normal(random.PRNGKey(0), (40, 6))
y = x.sum(axis=1)
for _ in range(3):
    grads = jax.grad(loss)(params, x, y)
    updates, state = optimizer.update(grads, state)
    params = optax.apply_updates(params, updates)
print(params["w"].shape)
