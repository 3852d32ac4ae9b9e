"""What a container of layers hands out is the layers among its attributes, whatever else it is given. They run for real."""

from __future__ import annotations

import pytest

from interp.programs import errors_of, fails, runs

OTHERS = {
    "a number": "self.width = 4",
    "text": "self.layout = 'NCHW'",
    "an object": "self.info = Info()",
    "a member of an enumeration": "self.layout = Layout('NCHW')",
    "a dict": "self.names = {}",
    "a function": "self.act = torch.relu",
    "a tensor": "self.scale = torch.ones(4)",
    "a parameter": "self.scale = nn.Parameter(torch.ones(4))",
    "a class": "self.kind = nn.Linear",
    "nothing": "self.extra = None",
}
CONTAINERS = {
    "ModuleDict": ("self.update({'a': nn.Linear(3, 4)})", "for name, part in self.items():"),
    "ModuleDict's values": ("self['a'] = nn.Linear(3, 4)", "for part in self.values():"),
    "ModuleList": ("self.append(nn.Linear(3, 4))", "for part in list(self)[:1]:"),
    "Sequential": ("self.append(nn.Linear(3, 4))", "for part in self:"),
}
PROGRAM = """import enum
import torch
from torch import nn

class Info:
    def __init__(self):
        self.channels = [3, 4]

class Layout(str, enum.Enum):
    FIRST = "NCHW"
    LAST = "NHWC"

class Net(nn.{container}):
    def __init__(self):
        super().__init__()
        {other}
        {fill}
        {also}
    def forward(self, x):
        {walk}
            x = part(x)
        return x

Net()(torch.zeros(2, {width}))
"""


def _program(container: str, other: str, width: int, also: str = "pass") -> str:
    fill, walk = CONTAINERS[container]
    kind = container.split("'", maxsplit=1)[0]
    return PROGRAM.format(container=kind, other=other, fill=fill, walk=walk, width=width, also=also)


@pytest.mark.requires("torch")
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("other", OTHERS)
def test_what_is_no_layer_is_no_part(container: str, other: str) -> None:
    right, wrong = (_program(container, OTHERS[other], width) for width in (3, 5))
    assert runs(right)
    assert fails(wrong)
    assert errors_of(right) == []
    assert [each.code for each in errors_of(wrong)] == ["SHP401"]


@pytest.mark.requires("torch")
@pytest.mark.parametrize("container", ["ModuleDict", "ModuleDict's values", "Sequential"])
def test_a_layer_that_is_an_attribute_is_a_part(container: str) -> None:
    right, wrong = (_program(container, "pass", 3, f"self.last = nn.Linear({n}, 2)") for n in (4, 5))
    assert runs(right)
    assert fails(wrong)
    assert errors_of(right) == []
    assert [each.code for each in errors_of(wrong)] == ["SHP401"]


@pytest.mark.parametrize("container", CONTAINERS)
def test_what_may_be_a_layer_leaves_the_parts_open(container: str) -> None:
    assert errors_of("from elsewhere import made\n" + _program(container, "self.extra = made()", 5)) == []


REMOVED = """import torch
from torch import nn

class Net(nn.Sequential):
    def forward(self, x):
        for part in self.{view}:
            x = part(x)
        return x

def made():
    net = Net()
    for name, (inside, outside) in dict(first=(3, 4), second=(4, 5), third=(5, 6), last=(6, 7)).items():
        net.add_module(name, nn.Linear(inside, outside))
    return net

net = made()
{remove}
net(torch.zeros(2, {width}))
"""


@pytest.mark.requires("torch")
@pytest.mark.parametrize("view", ["_modules.values()", "children()", "_modules.copy().values()"])
@pytest.mark.parametrize(
    "remove, width",
    [
        ("del net[0]", 4),
        ("del net[-1]", 3),
        ("for _ in range(2):\n    del net[0]", 5),
        ("for _ in range(len(net) - 1):\n    del net[0]", 6),
        ("del net[-1]\nfor _ in range(2):\n    del net[0]", 5),
        ("net.pop(0)", 4),
        ("del net[0]\nassert not hasattr(net, 'second')\nnet.second = nn.Identity()", 4),
    ],
)
def test_what_was_removed_is_no_part_any_more(view: str, remove: str, width: int) -> None:
    good, bad = (REMOVED.format(view=view, remove=remove, width=each) for each in (width, 17))
    assert runs(good) and errors_of(good) == []
    assert fails(bad) and [error.code for error in errors_of(bad)] == ["SHP401"]
