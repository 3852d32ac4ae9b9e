"""The arrays of layers of flax.nnx by name, as Flax 0.12.8 makes them."""

from __future__ import annotations

from interp.programs import errors_and_revealed, errors_of

HEAD = """
import jax.numpy as jnp
from flax import nnx
r = nnx.Rngs(0)
lin = nnx.Linear(8, 4, rngs=r)
bare = nnx.Linear(8, 4, use_bias=False, rngs=r)
conv = nnx.Conv(6, 4, kernel_size=(3, 5), rngs=r)
grouped = nnx.Conv(6, 4, kernel_size=(3,), feature_group_count=2, use_bias=False, rngs=r)
one = nnx.Conv(6, 4, 3, rngs=r)
up = nnx.ConvTranspose(6, 4, (3, 2), rngs=r)
turned = nnx.ConvTranspose(6, 4, (3, 2), transpose_kernel=True, rngs=r)
emb = nnx.Embed(60, 7, rngs=r)
bn = nnx.BatchNorm(5, rngs=r)
ln = nnx.LayerNorm(5, use_scale=False, rngs=r)
gn = nnx.GroupNorm(32, rngs=r)
rms = nnx.RMSNorm(5, rngs=r)
x = jnp.zeros((2, 8))
"""
WEIGHTS = [
    ("lin.kernel", "[8, 4]"),
    ("lin.kernel.value", "[8, 4]"),
    ("lin.kernel[...]", "[8, 4]"),
    ("lin.bias", "[4]"),
    ("x @ lin.kernel", "[2, 4]"),
    ("x @ lin.kernel + lin.bias.value", "[2, 4]"),
    ("lin.kernel.T", "[4, 8]"),
    ("jnp.zeros(1 if bare.bias is None else 2)", "[1]"),
    ("bare.kernel", "[8, 4]"),
    ("conv.kernel", "[3, 5, 6, 4]"),
    ("conv.bias", "[4]"),
    ("grouped.kernel", "[3, 3, 4]"),
    ("one.kernel", "[3, 6, 4]"),
    ("up.kernel", "[3, 2, 6, 4]"),
    ("up.bias", "[4]"),
    ("turned.kernel", "[3, 2, 4, 6]"),
    ("emb.embedding", "[60, 7]"),
    ("x[:, :7] @ emb.embedding.T", "[2, 60]"),
    ("bn.scale", "[5]"),
    ("bn.mean.value", "[5]"),
    ("bn.var", "[5]"),
    ("ln.bias", "[5]"),
    ("gn.scale.value", "[32]"),
    ("rms.scale", "[5]"),
    ("jnp.sum(lin.kernel.value ** 2, axis=0)", "[4]"),
]
"""What a program reads, and the shape that it has."""


def test_weights_by_name() -> None:
    errors, told = errors_and_revealed(HEAD + "".join(f"reveal_shape({form})\n" for form, _ in WEIGHTS))
    assert not errors
    assert told == [f"Array{shape}" for _, shape in WEIGHTS]


def test_a_weight_is_used_as_any_array() -> None:
    assert [each.code for each in errors_of(f"{HEAD}x @ emb.embedding\n")] == ["SHP101"]
    assert errors_of(f"{HEAD}x[:, :7] @ emb.embedding.T\n") == []


def test_what_is_not_known_is_not_told() -> None:
    text = "n = int(input())\nl = nnx.Linear(8, 4, use_bias=n > 2, rngs=r)\nreveal_shape(l.bias)\n"
    more = "c = nnx.Conv(6, 4, kernel_size=read(), rngs=r)\nreveal_shape(c.kernel)\n"
    assert errors_and_revealed(f"{HEAD}from elsewhere import read\n{text}{more}") == ([], ["unknown", "unknown"])
