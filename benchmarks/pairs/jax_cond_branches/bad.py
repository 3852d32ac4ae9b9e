"""A residual branch that is taken for noisy inputs only."""
import jax
import jax.numpy as jnp
from jax import lax, random

w = random.normal(random.PRNGKey(0), (64, 32)) * 0.1


def refine(x):
    return jnp.tanh(x @ w)


@jax.jit
def denoise(x, level):
    return lax.cond(level > 0.5, refine, lambda y: y, x)  # bug: the two branches give different widths


x = random.normal(random.PRNGKey(1), (8, 64))
print(denoise(x, 0.7).shape)
