"""Flax nnx: blocks from a registry, in an order that a list says."""
import jax.numpy as jnp
from flax import nnx

BLOCKS = {
    "norm": lambda d, rngs: nnx.LayerNorm(d, rngs=rngs),
    "dense": lambda d, rngs: nnx.Linear(d, d, rngs=rngs),
    "expand": lambda d, rngs: nnx.Linear(d, 2 * d, rngs=rngs),
}


class Residual(nnx.Module):
    def __init__(self, kinds, width, rngs):
        self.parts = nnx.List([BLOCKS[kind](width, rngs) for kind in kinds])

    def __call__(self, x):
        h = x
        for part in self.parts:
            h = part(h)
        return x + nnx.gelu(h)  # bug: the last block doubles the width


net = Residual(["norm", "dense", "expand"], 12, nnx.Rngs(0))
print(net(jnp.ones((3, 12))).shape)
