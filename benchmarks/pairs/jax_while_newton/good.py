"""Newton's method for many roots at once."""
import jax.numpy as jnp
from jax import lax


def solve(values):
    def far(state):
        x, steps = state
        return (jnp.max(jnp.abs(x * x - values)) > 1e-5) & (steps < 50)

    def step(state):
        x, steps = state
        return 0.5 * (x + values / x), steps + 1

    return lax.while_loop(far, step, (values, 0))


roots, steps = solve(jnp.arange(1.0, 9.0))
print(roots.shape, steps)
