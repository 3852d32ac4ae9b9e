"""The table of layers against PyTorch: parameters, shapes of results and multiply-adds of real models on meta tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from distml.gradual.shown import ShownLayers

from gradual.seeing import shapes

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"
MODELS = {
    "convolutions": (
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 16, 5, stride=2, padding=1, bias=False)
        self.n = nn.BatchNorm2d(16)
        self.b = nn.Conv2d(16, 32, 3, groups=4, dilation=2)
        self.up = nn.ConvTranspose2d(32, 8, 4, stride=2, padding=1)
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.fc = nn.Linear(8 * 4, 10)

    def forward(self, x):
        x = F.relu(self.n(self.a(x)))
        x = self.up(self.b(x))
        return self.fc(self.pool(x).flatten(1))
""",
        (2, 3, 40, 36),
    ),
    "volumes": (
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv3d(1, 4, (1, 3, 3), bias=True)
        self.b = nn.Sequential(nn.InstanceNorm3d(4, affine=True), nn.PReLU(4), nn.MaxPool3d(2))
        self.c = nn.ConvTranspose3d(4, 2, 2, stride=2)

    def forward(self, x):
        return self.c(self.b(self.a(x)))
""",
        (1, 1, 6, 10, 12),
    ),
    "blocks made in a loop": (
        """
class Block(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.conv = nn.Conv2d(a, b, 3, padding=1)
        self.norm = nn.GroupNorm(2, b)
        self.gain = nn.Parameter(torch.ones(b, 1, 1))

    def forward(self, x):
        return F.relu(self.norm(self.conv(x))) * self.gain


class Net(nn.Module):
    def __init__(self, widths=(8, 8, 16)):
        super().__init__()
        sizes = [3, *widths]
        self.blocks = nn.ModuleList(Block(a, b) for a, b in zip(sizes, sizes[1:]))
        self.more = nn.Sequential(*[Block(16, 16) for _ in range(3)])
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        for block in self.blocks:
            x = F.max_pool2d(block(x), 2)
        return self.head(self.more(x).mean((2, 3)))
""",
        (2, 3, 32, 32),
    ),
    "shared weights": (
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.inner = nn.Linear(16, 16)
        self.head = nn.Linear(16, 50, bias=False)
        self.head.weight = self.embed.weight
        self.again = self.inner

    def forward(self, x):
        y = self.inner(self.embed(x))
        return self.head(self.again(y))
""",
        (2, 7),
    ),
    "not called": (
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(4, 4)
        self.unused = nn.Linear(4, 9)
        self.register_buffer("scale", torch.ones(100))
        self.token = nn.Parameter(torch.zeros(1, 4))

    def forward(self, x):
        return self.used(x) + self.token
""",
        (3, 4),
    ),
    "recurrent": (
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(8, 6, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(12, 5, bias=False)
        self.head = nn.Linear(5, 3)

    def forward(self, x):
        y, _ = self.rnn(x)
        z, _ = self.gru(y)
        return self.head(z)
""",
        (2, 9, 8),
    ),
    "attention": (
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 4, batch_first=True)
        self.norm = nn.LayerNorm(16)
        self.mlp = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 16))

    def forward(self, x):
        y, _ = self.attn(x, x, x)
        return x + self.mlp(self.norm(y))
""",
        (2, 5, 16),
    ),
    "attention of two sequences": (
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 4, bias=False)
        self.own = nn.MultiheadAttention(16, 2)

    def forward(self, x):
        y, _ = self.attn(x, x[:3], x[:3], need_weights=False)
        z, _ = self.own(y[:, 0], y[:, 1], y[:, 1])
        return z
""",
        (5, 2, 16),
    ),
    "cells in one direction, in two, without a batch": (
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.RNN(8, 6, num_layers=3, nonlinearity="relu", bidirectional=True)
        self.b = nn.GRU(12, 5, num_layers=2, batch_first=True)
        self.c = nn.RNN(5, 4, bias=False)

    def forward(self, x):
        x, _ = self.a(x)
        x, _ = self.b(x)
        x, _ = self.c(x[0])
        return x
""",
        (2, 9, 8),
    ),
    "a branch that is decided": (
        """
class Net(nn.Module):
    def __init__(self, deep=True):
        super().__init__()
        self.deep = deep
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def forward(self, x):
        if self.deep:
            x = self.a(x)
        if x.shape[0] > 100:
            x = self.b(x)
        return x
""",
        (3, 4),
    ),
    "sequences": (
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 12, padding_idx=0)
        self.convs = nn.ModuleList([nn.Conv1d(12, 6, k) for k in (2, 3)])
        self.out = nn.Linear(12, 2)

    def forward(self, x):
        e = self.embed(x).transpose(1, 2)
        found = [conv(e).amax(-1) for conv in self.convs]
        return self.out(torch.cat(found, 1))
""",
        (4, 11),
    ),
}


def real(program: str, size: tuple[int, ...], title: str) -> tuple[int, dict[str, list[tuple[int, ...]]], int]:
    """The parameters of a real model, the shapes that its leaves give, and the multiply-adds of a call."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    names: dict[str, Any] = {}
    exec(compile(program, "program.py", "exec", dont_inherit=True), names)
    with torch.device("meta"):
        net = names["Net"]().eval()
    given = torch.zeros(size, device="meta", dtype=torch.long if "Embedding" in program else torch.float)
    found: dict[str, list[tuple[int, ...]]] = {}

    def keep(name: str) -> Any:
        def hook(_module: Any, _inputs: Any, output: Any) -> None:
            first = output if isinstance(output, torch.Tensor) else output[0]
            found.setdefault(name, []).append(tuple(first.shape))

        return hook

    for name, module in net.named_modules():
        if not list(module.children()) or isinstance(module, torch.nn.MultiheadAttention):
            module.register_forward_hook(keep(name))
    with FlopCounterMode(display=False) as counter:
        net(given)
    return sum(p.numel() for p in net.parameters()), found, counter.get_total_flops() // 2


def shown(folder: Path, program: str, size: tuple[int, ...], name: str = "Net") -> ShownLayers:
    kind = "int" if "Embedding" in program else "float"
    found = shapes(folder, program, name, [f"x: {kind}[{', '.join(map(str, size))}]"]).layers
    assert found is not None
    return found


@pytest.mark.requires("torch")
@pytest.mark.parametrize("title", list(MODELS))
def test_the_table_is_what_pytorch_counts(title: str, tmp_path: Path) -> None:
    body, size = MODELS[title]
    program = HEAD + body
    parameters, outputs, work = real(program, size, title)
    table = shown(tmp_path, program, size)
    assert table.parameters == parameters
    given: dict[str, list[str]] = {}
    for row in table.rows:
        if row.output is not None:
            given.setdefault(row.name, []).append(row.output)
    for name, results in outputs.items():
        if name in given:  # a module that is held twice has the name by which it is known first
            assert [text.removeprefix("(").partition("]")[0] + "]" for text in given[name]][: len(results)] == [
                str(list(each)) for each in results
            ][: len(given[name])]
    assert {name for name in given if name} <= set(outputs)
    assert table.multiply_adds == work


@pytest.mark.requires("torch")
def test_bytes_are_those_of_the_results(tmp_path: Path) -> None:
    import torch

    body, size = MODELS["convolutions"]
    table = shown(tmp_path, HEAD + body, size)
    _, outputs, _ = real(HEAD + body, size, "")
    assert table.bytes == sum(4 * torch.Size(each).numel() for found in outputs.values() for each in found)


def test_formulas_where_sizes_have_names(tmp_path: Path) -> None:
    program = HEAD + (
        "class Net(nn.Module):\n    def __init__(self, dim, out=10):\n        super().__init__()\n"
        "        self.fc = nn.Linear(dim, out)\n\n    def forward(self, x):\n        return self.fc(x)\n"
    )
    table = shapes(tmp_path, program, "Net", ["x: float[b, d]"]).layers
    assert table is not None
    (row,) = table.rows
    assert (row.name, row.type, row.output) == ("fc", "Linear", "[b, 10]")
    assert row.parameters == "10*dim + 10"
    assert row.multiply_adds == "10*dim*b"


@pytest.mark.parametrize(
    "change",
    [
        "if flag:\n            x = self.b(x)",
        "while x.sum() > 0:\n            x = self.b(x)",
        "x = self.b(self.c(x))",
    ],
)
def test_what_is_not_certain_is_not_summed(change: str, tmp_path: Path) -> None:
    program = HEAD + (
        "class Net(nn.Module):\n    def __init__(self, other):\n        super().__init__()\n        self.a = nn.Linear(4, 4)\n"
        "        self.b = nn.Linear(4, 4)\n        self.c = other\n\n"
        f"    def forward(self, x, flag):\n        x = self.a(x)\n        {change}\n        return x\n"
    )
    table = shapes(tmp_path, program, "Net", ["x: float[2, 4]"]).layers
    assert table is not None
    assert table.parameters is None  # nobody knows what `other` is
    if "self.c" not in change:
        assert table.multiply_adds is None


def test_a_model_that_is_not_all_in_sight_has_no_sum(tmp_path: Path) -> None:
    program = HEAD.replace("import torch\n", "import torch\nfrom collections import OrderedDict\n") + (
        "class Net(nn.Module):\n    def __init__(self, widths):\n        super().__init__()\n        blocks = []\n"
        "        for i, w in enumerate(widths.values()):\n            blocks.append((f'block{i}', nn.Linear(w, w)))\n"
        "        self.trunk = nn.Sequential(OrderedDict(blocks))\n        self.head = nn.Linear(4, 4)\n\n"
        "    def forward(self, x):\n        return self.head(self.trunk(x))\n"
    )
    table = shapes(tmp_path, program, "Net", ["x: float[2, 4]"]).layers
    assert table is not None
    assert table.parameters is None
    assert table.multiply_adds is None


def test_what_is_no_model_has_no_layers(tmp_path: Path) -> None:
    assert shapes(tmp_path, HEAD + "def f(x):\n    return torch.relu(x)\n", "f").layers is None


def test_a_variable_that_holds_a_model_is_asked_as_it_was_made(tmp_path: Path) -> None:
    program = HEAD + MODELS["blocks made in a loop"][0].replace("class Net(", "class Made(")
    size = MODELS["blocks made in a loop"][1]
    made = shown(tmp_path, program, size, "Made")
    for variable in ("net = Made()", "def build():\n    return Made()\n\n\nnet = build()"):
        assert shown(tmp_path, f"{program}\n\n{variable}\n", size, "net") == made


def test_a_layer_that_a_variable_holds_is_asked_for_its_input(tmp_path: Path) -> None:
    program = HEAD + "net = nn.Sequential(nn.Linear(4, 3), nn.ReLU())\n"
    found = shapes(tmp_path, program, "net", ["input: float[2, 4]"])
    assert found.layers is not None
    assert [(row.name, row.output) for row in found.layers.rows] == [("0", "[2, 3]"), ("1", "[2, 3]")]
    assert [(each.name, each.line) for each in found.entries] == [("input", 6), ("net", 6)]
