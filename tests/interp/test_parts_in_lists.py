"""A list of layers that is a part of a model is a list, however it is made and walked (nnx.List as a plain list)."""

from __future__ import annotations

import pytest

from interp.programs import errors_of, revealed

MAKERS = [
    "LIST([nnx.Linear(4, 6, rngs=rngs), nnx.Linear(6, 8, rngs=rngs)])",
    "LIST((nnx.Linear(4, 6, rngs=rngs), nnx.Linear(6, 8, rngs=rngs)))",
    "LIST(nnx.Linear(a, a + 2, rngs=rngs) for a in (4, 6))",
    "LIST(made)",
]
WALKS = [
    "for layer in self.parts:\n            x = layer(x)",
    "for number, layer in enumerate(self.parts):\n            x = layer(x)",
    "for layer in self.parts[:1]:\n            x = layer(x)",
    "x = self.parts[-1](self.parts[0](x))",
    "x = self.parts[0](x)\n        for layer in list(self.parts)[1:]:\n            x = layer(x)",
]
PROGRAM = """import jax.numpy as jnp
from flax import nnx

class Net(nnx.Module):
    def __init__(self, rngs):
        made = []
        for a in (4, 6):
            made.append(nnx.Linear(a, a + 2, rngs=rngs))
        self.parts = MADE

    def __call__(self, x):
        WALK
        reveal_shape(x)
        return x

net = Net(nnx.Rngs(0))
y = net(jnp.zeros((2, 4)))
reveal_shape(y)
"""


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("maker", MAKERS)
def test_a_list_of_parts_is_a_list(maker: str, walk: str) -> None:
    text = PROGRAM.replace("MADE", maker).replace("WALK", walk)
    assert revealed(text.replace("LIST", "nnx.List")) == revealed(text.replace("LIST", "list"))
    assert revealed(text.replace("LIST", "nnx.List"))[-1] in ("Array[2, 8]", "Array[2, 6]")
    assert errors_of(text.replace("LIST", "nnx.List")) == []


@pytest.mark.parametrize("walk", WALKS)
def test_a_wrong_size_in_the_list_is_found(walk: str) -> None:
    text = PROGRAM.replace("MADE", MAKERS[0].replace("LIST", "nnx.List")).replace("WALK", walk)
    assert [finding.code for finding in errors_of(text.replace("nnx.Linear(4, 6,", "nnx.Linear(5, 6,"))] == ["SHP401"]


def test_an_optimizer_keeps_the_parts_of_its_model() -> None:
    text = PROGRAM.replace("MADE", "nnx.List(made)").replace("WALK", WALKS[0])
    made, _, used = text.partition("y = net")
    optimizer = (
        "import optax\nopt = nnx.Optimizer(net, optax.sgd(0.1), wrt=nnx.Param)\n"
        "opt.update(net, grads)\nold = opt.model\nn = opt.step.value + 1\n"
    )
    for given in ("grads = None\n", "from elsewhere import grads\n"):
        text = made + given + optimizer + "y = net" + used
        assert revealed(text)[-1] == "Array[2, 8]"
        assert errors_of(text) == []
