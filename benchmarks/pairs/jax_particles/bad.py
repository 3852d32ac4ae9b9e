"""JAX: forces between particles by nested vmap, with their masses."""
from functools import partial

import jax
import jax.numpy as jnp


def pull(a, b, mass):
    difference = b - a
    return mass * difference / (jnp.sum(difference**2) + 1e-2) ** 1.5


def forces(positions, masses):
    toward = jax.vmap(pull, in_axes=(None, 0, 0))
    return jax.vmap(lambda p: toward(p, positions, masses).sum(0))(positions)  # bug: masses of seven of eight


@partial(jax.jit, static_argnames=("steps",))
def simulate(positions, velocities, masses, steps):
    def step(state, _):
        p, v = state
        v = v + 0.01 * forces(p, masses)
        return (p + 0.01 * v, v), jnp.sum(v**2)

    return jax.lax.scan(step, (positions, velocities), None, length=steps)


state, energies = simulate(jnp.ones((8, 2)), jnp.zeros((8, 2)), jnp.ones((7,)), steps=5)
print(energies.shape)
