"""`module.training` is what the last `train` or `eval` that reached the module said; unknown code may have said anything."""

from __future__ import annotations

from random import Random

import pytest

from interp.programs import errors_of, judge_running

pytestmark = pytest.mark.requires("torch")

CLASSES = """
import copy
import torch
from torch import nn


class Part(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def forward(self):
        return torch.zeros(self.rows, 1) if self.training else torch.zeros(self.rows, 2)


class Stubborn(Part):
    def train(self, mode=True):
        return super().train(False)


class Loud(Part):
    def train(self, mode=True):
        super().train(mode)
        self.told = mode
        return self


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Part(2)
        self.listed = nn.ModuleList([Part(3), Stubborn(4)])
        self.seq = nn.Sequential(nn.Linear(1, 1), Loud(5))
        self.plain = [Part(6)]

    def forward(self):
        here = torch.zeros(1, 1) if self.training else torch.zeros(1, 2)
        return [here, self.a(), self.listed[0](), self.listed[1](), self.seq[1](), self.plain[0]()]


def evaluated(net):
    net.eval()
    return net


net = Net()
"""
ACTIONS = (
    "net.train()",
    "net.eval()",
    "net.train(False)",
    "net.train(mode=True)",
    "net.a.eval()",
    "net.listed.train()",
    "net.seq.eval()",
    "net.plain[0].eval()",
    "net = evaluated(net)",
    "net = Net()",
    "net.a = Part(2)",
    "net.a.training = False",
    "other = net.eval()",
    "for part in net.modules():\n    part.eval()",
    "for part in net.children():\n    part.train()",
    "net.apply(lambda m: m.eval())",
    "net = copy.deepcopy(net)",
    "net.to('cpu')",
    "net.train(bool(net.training))",
    "net.listed.append(Part(7))",
    "for epoch in range(3):\n    net.train()\n    net()\n    net.eval()\n    net()",
    "with torch.no_grad():\n    net.a.train()",
)


@pytest.mark.parametrize("seed", range(40))
def test_modes_are_those_of_a_real_run(seed: int) -> None:
    random = Random(seed)
    lines = [action for _ in range(random.randrange(1, 5)) for action in (random.choice(ACTIONS), "out = net()")]
    names = [f"out[{i}]" for i in range(6)]
    program = CLASSES + "\n".join(["out = net()", *lines, ""])
    verdict = judge_running(program, names)
    assert verdict.kind == "exact" or (verdict.kind == "vague" and "deepcopy" in program), str(verdict)


UNKNOWN = (
    "import elsewhere\nelsewhere.fit(net)\n",
    "from elsewhere import model_of\nholder = model_of(net)\nholder.validate()\n",
    "def run(net):\n",
    "class Trainer:\n    def __init__(self):\n        self.net = Net()\n    def step(self):\n        net = self.net\n",
)


@pytest.mark.parametrize("before", UNKNOWN)
@pytest.mark.parametrize("columns", (1, 2))
def test_a_mode_that_others_may_have_set_decides_nothing(before: str, columns: int) -> None:
    line = f"net.a() @ torch.zeros({columns}, 1)\n"
    indent = "        " if "class" in before else "    " if before.endswith(":\n") else ""
    program = CLASSES + before + indent + line
    assert not errors_of(program)


def test_what_only_training_gives_is_told() -> None:
    found = errors_of(CLASSES + "net.a() @ torch.zeros(2, 1)\nnet.eval()\nnet.a() @ torch.zeros(2, 1)\n")
    assert [each.code for each in found] == ["SHP101"]


BASES = ("nn.Module", "object", "Unknown", "Unknown, nn.Module", "nn.Linear", "Part")
CONSTRUCTORS = (
    "",
    "    def __init__(self, n=3):\n        self.n = n\n",
    "    def __init__(self, n=3):\n        super().__init__()\n        self.part = Part(2)\n",
    "    def __init__(self, n=3):\n        self.training = n\n",
)
METHODS = (
    "self.training = mode",
    "setattr(self, 'training', mode)",
    "self.part.training = mode",
    "self.train(mode)",
    "del self.training",
)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("made", CONSTRUCTORS)
@pytest.mark.parametrize("method", METHODS)
def test_a_mode_may_be_set_by_any_class(base: str, made: str, method: str) -> None:
    classes = CLASSES.partition("net = ")[0]
    program = f"{classes}from elsewhere import Unknown\nclass Own({base}):\n{made}    def turn(self, mode):\n        {method}\n"
    more = "    def use(self):\n        return self.training\nclass Holder:\n    def __init__(self):\n        self.own = Own()\n"
    assert not errors_of(program + more)
