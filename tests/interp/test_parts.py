"""What a module hands out may be changed by the code in sight; what is not changed is known. The programs run for real."""

from __future__ import annotations

import pytest

from interp.programs import errors_of, shown

LARGER = "torch.zeros(*(n + 1 for n in p.shape))"
CHANGES = (
    f"p.data = {LARGER}",
    f"p.data, done = {LARGER}, True",
    f"with torch.no_grad():\n        p.set_({LARGER})",
    "widen(p)",
)
WAYS = (
    "for p in net.parameters():\n    CHANGE",
    "for _, p in net.named_parameters():\n    CHANGE",
    "kept = list(net.parameters())\nfor p in kept:\n    CHANGE",
    "for p in [*net.parameters()]:\n    CHANGE",
    "for name in ('weight', 'bias'):\n    p = layer.get_parameter(name)\n    CHANGE",
    "groups = torch.optim.SGD(net.parameters(), lr=0.1).param_groups\nfor p in groups[0]['params']:\n    CHANGE",
    "def change(part):\n  for p in part.parameters():\n    CHANGE\nchange(layer)",
)
PROGRAM = """import torch
from torch import nn


def widen(p):
    p.data = torch.zeros(*(n + 1 for n in p.shape))


layer = nn.Linear(4, 5)
net = nn.Sequential(layer)
WAY
net(torch.zeros(2, 5))
"""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("change", CHANGES)
def test_parameters_that_are_handed_out_may_get_other_sizes(way: str, change: str) -> None:
    program = PROGRAM.replace("WAY", way.replace("CHANGE", change))
    exec(program, {})
    assert [shown(finding) for finding in errors_of(program)] == []


@pytest.mark.parametrize("change", ["p.data -= 1", "p.requires_grad = False", "p.data.zero_()", "nn.init.zeros_(p)"])
def test_what_keeps_their_sizes_keeps_what_is_known(change: str) -> None:
    program = PROGRAM[: PROGRAM.index("def widen")] + PROGRAM[PROGRAM.index("layer =") :]
    program = program.replace("WAY", f"for p in net.parameters():\n    {change}")
    assert [finding.code for finding in errors_of(program)] == ["SHP401"]


@pytest.mark.parametrize("way", [*WAYS[:4], "layer.requires_grad_(False)\nfirst = list(net.buffers())"])
@pytest.mark.parametrize("name", ["body", "in_features", "0"])
def test_parameters_have_none_of_the_attributes_that_code_sets_on_modules(way: str, name: str) -> None:
    program = PROGRAM[: PROGRAM.index("def widen")] + PROGRAM[PROGRAM.index("layer =") :]
    program = program.replace("nn.Sequential(layer)", "nn.Sequential()\nnet.body = layer")
    program = program.replace("WAY", way.replace("CHANGE", "p.requires_grad = False"))
    program += (
        f"def surgery(net, head):\n    net.{name} = head\n" if name.isidentifier() else "net[0] = nn.Linear(4, 2)\n"
    )
    assert [finding.code for finding in errors_of(program)] == ["SHP401"]


TREES = (
    "nn.Sequential(nn.Linear(4, 5), nn.ReLU())",
    "nn.Sequential(OrderedDict([('first', nn.Linear(4, 5)), ('act', nn.Sequential(nn.GELU()))]))",
    "Row()",
    "Named(Form.A)",
    "Either()",
    "deep(6)",
)
WALKS = (
    "walk(net)",
    "net.apply(init)",
    "for m in net.modules():\n    init(m)",
    "for name, m in net.named_modules():\n    init(m)",
)
WALKED = """import enum
import random
from collections import OrderedDict
import torch
from torch import nn


class Form(str, enum.Enum):
    A = "a"


class Row(nn.ModuleDict):
    def __init__(self):
        super().__init__()
        self.add_module("first", nn.Linear(4, 5))

    def forward(self, x):
        for part in self.values():
            x = part(x)
        return x


class Named(nn.Module):
    def __init__(self, form):
        super().__init__()
        self.form, self.first = form, nn.Linear(4, 5)

    def forward(self, x):
        return self.first(x)


class Either(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 5)
        self.drop = nn.Dropout(0.1) if random.random() < 0.5 else nn.Identity()

    def forward(self, x):
        return self.drop(self.first(x))


def deep(count):
    return nn.Sequential(deep(count - 1)) if count else nn.Sequential(nn.Linear(4, 5))


def init(m):
    if isinstance(m, nn.Linear):
        CHANGE
    elif hasattr(m, "init_weights"):
        m.init_weights()


def walk(m):
    for name, child in m.named_children():
        walk(child)
    init(m)


net = TREE
WALK
net(torch.zeros(2, SIZE))
"""


def walked(tree: str, walk: str, change: str, size: int) -> str:
    return WALKED.replace("TREE", tree).replace("WALK", walk).replace("CHANGE", change).replace("SIZE", str(size))


@pytest.mark.requires("torch")
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_over_all_parts_leaves_the_model_known(tree: str, walk: str) -> None:
    good, bad = (walked(tree, walk, "nn.init.zeros_(m.weight)", size) for size in (4, 3))
    exec(compile(good, "good", "exec", dont_inherit=True), {"__name__": "walked"})
    assert errors_of(good) == []
    assert [finding.code for finding in errors_of(bad)] == ["SHP401"]


@pytest.mark.requires("torch")
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("walk", WALKS)
def test_what_a_walk_changes_is_changed(tree: str, walk: str) -> None:
    change = "m.weight = nn.Parameter(torch.zeros(5, 3))"
    good, bad = (walked(tree, walk, change, size) for size in (3, 4))
    exec(compile(good, "good", "exec", dont_inherit=True), {"__name__": "walked"})
    assert errors_of(good) == []
    assert {finding.code for finding in errors_of(bad)} == {"SHP401"}


def test_the_parts_of_a_large_model_are_handed_out_one_by_one() -> None:
    program = """import torch
from torch import nn

net = nn.Sequential(*(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU()) for _ in range(150)), nn.Linear(4, 5))
for m in net.modules():
    if isinstance(m, nn.Linear):
        nn.init.kaiming_normal_(m.weight)
        if m.bias is not None:
            nn.init.zeros_(m.bias)
net(torch.zeros(2, 4)) @ torch.zeros(4, 2)
"""
    assert [finding.code for finding in errors_of(program)] == ["SHP101"]


@pytest.mark.parametrize("name", ["data", "shape", "dtype"])
@pytest.mark.parametrize("base", ["", "(torch.utils.data.Dataset)", "(nn.Module)"])
@pytest.mark.parametrize("method", ["__init__", "fill"])
def test_what_objects_hold_under_the_names_of_tensors_changes_no_tensor(name: str, base: str, method: str) -> None:
    held = f"class Held{base}:\n    def {method}(self, x=3):\n        self.{name} = x\nHeld()"
    program = PROGRAM[: PROGRAM.index("def widen")] + PROGRAM[PROGRAM.index("layer =") :]
    program = program.replace("WAY", f"{held}\n{WAYS[0]}".replace("CHANGE", "pass"))
    assert [finding.code for finding in errors_of(program)] == ["SHP401"]


PATHS = """import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        return self.mix(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(6) for _ in range(2))
        self.heads = nn.ModuleDict({"a": nn.Linear(6, 3)})
        self.register_buffer("scale", torch.ones(6))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.heads["a"](x * self.scale)


net = Net()
WAY
net(torch.zeros(2, 6))
"""
NAMED = "path = 'blocks.0.mix'\nparent, _, name = path.rpartition('.')\n"
BY_PATH = (
    NAMED + "setattr(net.get_submodule(parent), name, nn.Linear(SIZE, 6))",
    "part = net.get_submodule('')\npart.heads['a'] = nn.Linear(SIZE, 3)",
    "net.get_submodule('heads')['a'] = nn.Linear(SIZE, 3)",
    "net.set_submodule('blocks.1.mix', nn.Linear(SIZE, 6))",
    "p = net.get_parameter('blocks.1.mix.weight')\np.data = torch.zeros(6, SIZE)",
    "net.get_buffer('scale') @ torch.zeros(SIZE)",
    (
        "for path in [n for n, m in net.named_modules() if isinstance(m, nn.Linear)]:\n"
        "    parent, _, name = path.rpartition('.')\n"
        "    old = net.get_submodule(path)\n"
        "    new = nn.Linear(old.in_features + SIZE - 6, old.out_features)\n"
        "    net.get_submodule(parent).add_module(name, new)"
    ),
)


@pytest.mark.parametrize("way", BY_PATH)
def test_a_path_leads_to_the_part(way: str) -> None:
    good, bad = (PATHS.replace("WAY", way.replace("SIZE", str(size))) for size in (6, 7))
    exec(good, {})
    with pytest.raises(RuntimeError):
        exec(bad, {})
    assert errors_of(good) == []
    assert errors_of(bad)
