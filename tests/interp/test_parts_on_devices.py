"""What a function is given of sizes that are divided over one axis of a mesh: whatever number of devices stands along it,
parts of equal sizes are equal, and parts of others are not."""

from __future__ import annotations

import pytest

from interp.programs import errors_of

HEAD = """import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("data", "model"))


def run(f, specs, out, *args):
    return jax.shard_map(f, mesh=mesh, in_specs=specs, out_specs=out)(*args)


"""
WRONG = (
    "run(lambda w, v: jax.lax.psum(w @ v, 'model'), (P(None, 'model'), P('model')), P(), jnp.ones((4, 64)), jnp.ones((32, 2)))",
    "run(lambda a, b: a + b, (P('data'), P('data')), P('data'), jnp.ones((16, 3)), jnp.ones((24, 3)))",
    "run(lambda a, b: a + b, (P('data'), P('data')), P('data'), jnp.ones((6, 3)), jnp.ones((4, 3)))",
    "run(lambda a, b: jnp.concatenate([a, b], 1), P('data'), P('data'), jnp.ones((8, 3)), jnp.ones((16, 3)))",
    "run(lambda a, b: a @ b, (P('data'), P()), P('data'), jnp.ones((8, 3)), jnp.ones((4, 3)))",
    "run(lambda t: t['a'] * t['b'], ({'a': P('data'), 'b': P('data')},), P('data'), {'a': jnp.ones((8,)), 'b': jnp.ones((12,))})",
    "run(lambda a, b: a + b, P(('data', 'model')), P(('data', 'model')), jnp.ones((8, 3)), jnp.ones((12, 3)))",
    "run(lambda a: 2 * a, P('data'), P('data'), jnp.ones((8, 3))) + jnp.ones((9, 3))",
    "run(lambda a, b: jnp.concatenate([a, a]) + b, P('data'), P('data'), jnp.ones((8, 3)), jnp.ones((24, 3)))",
)
RIGHT = (
    "run(lambda a, b: a + b, (P('data'), P('data')), P('data'), jnp.ones((1, 3)), jnp.ones((24, 3)))",  # a part of one row
    "run(lambda w, v: jax.lax.psum(w @ v, 'model'), (P(None, 'model'), P('model')), P(), jnp.ones((4, 64)), jnp.ones((64, 2)))",
    "run(lambda a, b: a + b, (P('data'), P('data')), P('data'), jnp.ones((8, 3)), jnp.ones((8, 3)))",
    "run(lambda a, b: jnp.concatenate([a, a]) + b, P('data'), P('data'), jnp.ones((8, 3)), jnp.ones((16, 3)))",
    "run(lambda a, b: jnp.concatenate([a, b]), P('data'), P('data'), jnp.ones((8, 3)), jnp.ones((16, 3)))",
    "run(lambda a, b: a @ b, (P('data', 'model'), P()), P('data', 'model'), jnp.ones((8, 3)), jnp.ones((3, 4)))",
    "run(lambda a, b: a + b, (P('data'), P('model')), P(('data', 'model')), jnp.ones((8, 3)), jnp.ones((8, 3)))",
    "run(lambda a, b: a + b[:1], (P('data'), P('model')), P(('data', 'model')), jnp.ones((8, 3)), jnp.ones((16, 3)))",
    "run(lambda a: 2 * a, P('data'), P('data'), jnp.ones((8, 3))) + jnp.ones((8, 3))",
    "run(lambda a, b: (a, b), P('data'), P('data'), jnp.ones((8, 3)), jnp.ones((16, 3)))[1] + jnp.ones((16, 3))",
)


@pytest.mark.parametrize("line", WRONG)
def test_parts_that_fit_for_no_number_of_devices_are_found(line: str) -> None:
    assert len(errors_of(HEAD + line + "\n")) == 1


@pytest.mark.parametrize("line", RIGHT)
def test_parts_that_fit_are_taken(line: str) -> None:
    assert errors_of(HEAD + line + "\n") == []
