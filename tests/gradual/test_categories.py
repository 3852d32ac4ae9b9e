"""What each kind of op tells of its inputs, one small program a kind; and what is easily got wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

import pytest

from gradual.asking import migration, shown


class Kind(NamedTuple):
    """A function of `x` (and `y`): what it must be given, in words of `migrate`."""

    name: str
    body: str
    ranks: dict[str, list[int] | Literal["any"]]
    types: dict[str, str]
    constraints: tuple[str, ...] = ()


KINDS = (
    Kind("convolution", "nn.Conv2d(3, 8, 3)(x)", {"x": [3, 4]}, {"x": "b 3 h w"}, ("h >= 3", "w >= 3")),
    Kind("grouped convolution", "F.conv2d(x, torch.ones(8, 2, 1, 1), groups=4)", {"x": [3, 4]}, {"x": "b 8 h w"}),
    Kind("maximum pooling", "F.max_pool2d(x, 4)", {"x": [3, 4]}, {"x": "b c h w"}, ("h >= 4", "w >= 4")),
    Kind(
        "adaptive pooling",
        "nn.Linear(20, 2)(nn.AdaptiveAvgPool2d((4, 5))(x).flatten(-2))",
        {"x": [3, 4]},
        {"x": "b c h w"},
    ),
    Kind(
        "linear",
        "nn.Linear(7, 2)(x) + torch.ones(3, 2)",
        {"x": [1, 2, 3, 4, 5, 6]},
        {"x": "b 7"},
        ("b == 3 or b == 1",),
    ),
    Kind(
        "embedding", "nn.Embedding(10, 6)(x) @ torch.ones(2, 6, 3)", {"x": "any"}, {"x": "b n"}, ("b == 2 or b == 1",)
    ),
    Kind("batch normalization", "nn.BatchNorm2d(5).eval()(x)", {"x": [4]}, {"x": "b 5 h w"}),
    Kind(
        "layer normalization", "nn.LayerNorm((4, 6))(x).sum(-1) @ torch.ones(4)", {"x": [2, 3, 4, 5, 6]}, {"x": "4 6"}
    ),
    Kind("view", "x.view(6, -1)", {"x": [1, 2, 3, 4, 5, 6]}, {"x": "b n"}, ("b*n % 6 == 0",)),
    Kind(
        "view of two axes", "torch.mm(x, x.t()).reshape(x.shape[0], 3, -1)", {"x": [2]}, {"x": "b n"}, ("b % 3 == 0",)
    ),
    Kind(
        "flatten",
        "nn.Linear(12, 2)(torch.flatten(x, 2).view(x.size(0), x.size(1), 12))",
        {"x": [3, 4, 5, 6]},
        {"x": "b t 12"},
    ),
    Kind("expand", "torch.bmm(x, x.expand(4, -1, -1))", {"x": [3]}, {"x": "4 h h"}),
    Kind("transposition", "torch.bmm(x, x.transpose(1, 2))", {"x": [3]}, {"x": "b t d"}),
    Kind("cumulated sum", "torch.mm(torch.cumsum(x, 1), torch.ones(5, 2))", {"x": [2]}, {"x": "b 5"}),
    Kind(
        "masked filling",
        "torch.mm(x.masked_fill(torch.ones(3, 1, dtype=torch.bool), 0.0), torch.ones(5, 2))",
        {"x": [1, 2]},
        {"x": "b 5"},
        ("b == 3 or b == 1",),
    ),
    Kind("range", "torch.mm(x, torch.arange(x.size(1)).view(5, 1).float())", {"x": [2]}, {"x": "b 5"}),
    Kind(
        "selection",
        "torch.mm(x.index_select(1, torch.zeros(5, dtype=torch.long)), torch.ones(5, 2))",
        {"x": [2]},
        {"x": "b n"},
    ),
    Kind("full", "torch.mm(torch.full((x.size(0), 4), 1.0), x)", {"x": [2]}, {"x": "4 n"}),
    Kind(
        "addition of a vector",
        "torch.mm(x, torch.ones(6, 2)) + torch.ones(4, 1)",
        {"x": [2]},
        {"x": "b 6"},
        ("b == 4 or b == 1",),
    ),
    Kind(
        "product of elements",
        "torch.bmm(x * torch.ones(2, 1, 4), torch.ones(2, 4, 3))",
        {"x": [0, 1, 2, 3]},
        {"x": "b n"},
        ("n == 4 or n == 1",),
    ),
    Kind("batched product", "torch.bmm(x, y)", {"x": [3], "y": [3]}, {"x": "b t d", "y": "b d d2"}),
    Kind("matrix product", "torch.mm(x, y)", {"x": [2], "y": [2]}, {"x": "b n", "y": "n n2"}),
    Kind("dropout and rectifier", "torch.mm(F.dropout(F.relu(x)), torch.ones(3, 3))", {"x": [2]}, {"x": "b 3"}),
    Kind(
        "unequal",
        "torch.mm((x != torch.ones(2, 1)).float(), torch.ones(3, 3))",
        {"x": [1, 2]},
        {"x": "b 3"},
        ("b == 2 or b == 1",),
    ),
    Kind(
        "less and greater",
        "torch.mm(torch.lt(x, 1).logical_and(torch.gt(x, 0)).float(), torch.ones(3, 3))",
        {"x": [2]},
        {"x": "b 3"},
    ),
    Kind("type of another", "torch.mm(x.type_as(torch.ones(7)), torch.ones(3, 3))", {"x": [2]}, {"x": "b 3"}),
    Kind("item", "torch.mm(x[0], torch.ones(5, 5))", {"x": [3]}, {"x": "b t 5"}),
    Kind("last item", "torch.mm(x[:, -1], torch.ones(5, 5))", {"x": [3]}, {"x": "b t 5"}),
    Kind("item 2", "torch.dot(x[2], torch.ones(5))", {"x": [2]}, {"x": "b 5"}, ("b >= 3",)),
    Kind("new axis", "torch.bmm(x[:, None], torch.ones(3, 5, 2))", {"x": [2]}, {"x": "3 5"}),
    Kind("concatenation", "torch.mm(torch.cat([x, torch.ones(2, 3)], 1), torch.ones(8, 2))", {"x": [2]}, {"x": "2 5"}),
    Kind("stack", "torch.stack([x, torch.ones(2, 3)])", {"x": [2]}, {"x": "2 3"}),
    Kind("narrowing", "torch.narrow(x, 0, 2, 3) @ torch.ones(4, 2)", {"x": [2, 3, 4, 5, 6]}, {"x": "b 4"}, ("b >= 5",)),
    Kind(
        "reflected padding",
        "F.conv2d(F.pad(x, (3, 3, 2, 2), mode='reflect'), torch.ones(1, 3, 1, 1))",
        {"x": [3, 4]},
        {"x": "b 3 h w"},
        ("h >= 3", "w >= 4"),
    ),
    Kind("top values", "torch.mm(x.topk(3, 1)[0], torch.ones(3, 2))", {"x": [2]}, {"x": "b n"}, ("n >= 3",)),
    Kind(
        "heads",
        "nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x)[0].view(5, -1, 8)[:, 0] @ torch.ones(8)",
        {"x": [2, 3]},
        {"x": "b t 8"},
        ("b*t % 5 == 0",),
    ),
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_kind(kind: Kind, tmp_path: Path) -> None:
    parameters = ", ".join(f"{name}: torch.Tensor" for name in kind.ranks)
    found = migration(tmp_path, f"def f({parameters}):\n    return {kind.body}\n")
    assert found.verdict == "static"
    assert (found.ranks, shown(found), found.constraints) == (kind.ranks, kind.types, kind.constraints)


def test_volumes_have_five_axes(tmp_path: Path) -> None:
    found = migration(tmp_path, "def f(x):\n    return nn.Conv3d(3, 8, (1, 2, 3))(x)\n")
    assert found.ranks == {"x": [4, 5]}
    assert shown(found) == {"x": "b 3 t h w"}
    assert found.constraints == ("h >= 2", "w >= 3")


def test_six_axes(tmp_path: Path) -> None:
    body = "torch.matmul(x.permute(5, 4, 3, 2, 1, 0), torch.ones(7, 1, 5, 6))"
    found = migration(tmp_path, f"def f(x: torch.Tensor):\n    return {body}\n")
    assert found.ranks == {"x": [6]}
    assert shown(found) == {"x": "5 d1 d2 d3 d4 d5"}
    assert found.constraints == ("d3 == 7 or d3 == 1",)


@pytest.mark.parametrize("product", ["torch.bmm(x, torch.ones(2, 5, 6))", "torch.matmul(x, torch.ones(2, 5, 6))"])
def test_what_is_summed_over_must_be_as_long(product: str, tmp_path: Path) -> None:
    program = f"def f(x: torch.Tensor):\n    return {product}\n"
    assert migration(tmp_path, program, where="len(x.shape) == 3 and x.shape[2] == 5").verdict == "static"
    found = migration(tmp_path, program, where="len(x.shape) == 3 and x.shape[2] == 4")
    assert [(d.input, d.axis) for d in found.dyn_only] == [("x", 2)]


def test_batches_of_a_product_are_equal_and_those_of_matmul_meet(tmp_path: Path) -> None:
    where = "x.shape[0] == 3 and y.shape[0] == 1"
    assert migration(tmp_path, "def f(x, y):\n    return torch.bmm(x, y)\n", where=where).verdict == "dynamic"
    found = migration(tmp_path, "def f(x, y):\n    return torch.matmul(x, y) + torch.ones(3, 2, 4)\n", where=where)
    assert found.verdict == "static"


def test_an_empty_batch_is_an_instance_only_if_asked_for(tmp_path: Path) -> None:
    program = "def f(x):\n    return nn.Conv2d(3, 8, 3)(x)\n"
    assert migration(tmp_path, program).model == {"x": [1, 3, 3, 3]}
    assert migration(tmp_path, program, least=0).model == {"x": [0, 3, 3, 3]}


def test_a_shape_that_holds_no_elements_cannot_be_inferred(tmp_path: Path) -> None:
    program = "def f(x: torch.Tensor):\n    return torch.mm(x, torch.ones(4, 2)).view(0, -1)\n"
    assert migration(tmp_path, program, least=0).verdict == "empty"
