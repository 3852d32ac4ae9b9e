"""JAX: layers of equal width stacked into one tree and run by a scan."""
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Params(NamedTuple):
    enter: jax.Array
    kernels: jax.Array
    biases: jax.Array
    leave: jax.Array


def init(key, features, width, depth, classes):
    first, middle, last = jax.random.split(key, 3)
    kernels = jax.vmap(lambda k: jax.random.normal(k, (width, width)))(split_for(middle, depth))
    return Params(
        jax.random.normal(first, (features, width)), kernels, jnp.zeros((depth, width)), jax.random.normal(last, (width, classes))
    )


def split_for(key, depth):
    return jax.random.split(key, depth)


def apply(params, x):
    def step(h, layer):
        kernel, bias = layer
        return jax.nn.gelu(h @ kernel + bias), None

    hidden, _ = jax.lax.scan(step, x @ params.enter, (params.kernels, params.biases))
    return hidden @ params.leave


params = init(jax.random.PRNGKey(0), features=6, width=10, depth=4, classes=3)
print(apply(params, jnp.ones((5, 6))).shape)
