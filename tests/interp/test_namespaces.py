"""What gets hold of the names of a module may give them other data; what has names of its own may not."""

from __future__ import annotations

import pytest

from interp.programs import errors_of, revealed, run

pytestmark = pytest.mark.requires("torch")

HELD = ("x = torch.ones(2, 3)", "x = 2", "x = [torch.ones(2, 3)]", "x = torch.nn.Linear(3, 2)")
USES = {
    HELD[0]: "x @ torch.ones(4, 5)",
    HELD[1]: "torch.ones(2, 3) @ torch.ones(x, 5)",
    HELD[2]: "x[0] @ torch.ones(4, 5)",
    HELD[3]: "x(torch.ones(2, 4))",
}
OTHER = {
    HELD[0]: "torch.ones(2, 4)",
    HELD[1]: "3",
    HELD[2]: "[torch.ones(2, 4)]",
    HELD[3]: "torch.nn.Linear(4, 2)",
}
REBINDING = (
    "exec(text())",
    "exec(text(), globals())",
    "globals().update(x=eval(value()))",
    "globals()['x'] = eval(value())",
    "vars()['x'] = eval(value())",
    "locals().update(x=eval(value()))",
    "def change():\n    exec(text(), globals())\nchange()",
    "def change():\n    names = globals()\n    names['x'] = eval(value())\nchange()",
    "set_in(globals())",
    "import sys\nsys.modules['settings'] = Settings()\nfrom settings import *",
)
KEEPING = (
    "exec(text(), {'torch': torch})",
    "exec('', {})",
    "def look():\n    return locals()\nlook()",
    "vars(Settings())",
)
PRELUDE = """import torch
{held}
def text(): return "x = " + value()
def value(): return {other!r}
def set_in(names): names["x"] = eval(value())
class Settings: pass
Settings.x = {other}
Settings.__all__ = ["x"]
"""


def program(held: str, between: str) -> str:
    return PRELUDE.format(held=held, other=OTHER[held]) + f"{between}\n{USES[held]}\n"


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("way", REBINDING)
def test_names_that_others_had_are_unknown(way: str, held: str) -> None:
    text = program(held, way)
    assert run(text, {}, None) is None, "it runs"
    assert errors_of(text) == []


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("way", KEEPING)
def test_names_that_nobody_had_are_kept(way: str, held: str) -> None:
    text = program(held, way)
    assert run(text, {}, None) is not None, "it fails"
    assert errors_of(text) != []


def test_functions_and_modules_are_kept() -> None:
    assert errors_of(
        "import torch\ndef f(x):\n    return x @ torch.ones(4, 5)\nfrom nowhere import *\nf(torch.ones(2, 3))\n"
    )


CHILDREN = """import torch
from torch import nn

class Leaf(nn.Module):
    pass

class Holder(nn.{base}):
    def __init__(self):
        super().__init__()
        self.names, self.table, self.scale = ["a"], {{"b": 1}}, nn.Parameter(torch.ones(3))
        {fill}

holder = Holder()
reveal_shape(list(holder._modules))
reveal_shape(list(holder._modules.values()))
"""
FILLS = [
    ("Module", "self.a, self.b = Leaf(), nn.Linear(2, 3)"),
    ("Module", "self.add_module('a', Leaf())"),
    ("Module", "self.part = None; self.a = Leaf()"),
    ("Module", "pass"),
    ("ModuleDict", "self['x'], self['y'] = Leaf(), Leaf()"),
    ("ModuleDict", "self.update({'x': Leaf(), 'y': nn.ReLU()})"),
    ("ModuleDict", "self['x'] = Leaf(); self.extra = Leaf()"),
    ("ModuleList", "self.append(Leaf()); self.append(Leaf())"),
    ("Sequential", "self.add_module('one', Leaf())"),
]


@pytest.mark.parametrize(("base", "fill"), FILLS)
def test_the_children_of_an_object_in_sight(base: str, fill: str) -> None:
    text = CHILDREN.format(base=base, fill=fill)
    scope: dict[str, object] = {"reveal_shape": lambda value: None}
    exec(text, scope)
    real: dict[str, object] = scope["holder"]._modules  # type: ignore[attr-defined]
    shown = "[" + ", ".join(type(each).__name__ for each in real.values()) + "]"
    assert revealed(text) == [repr(list(real)), shown]


@pytest.mark.parametrize("fill", ["setattr(self, names, Leaf())", "self.a = given", "self.update(given)"])
def test_children_that_may_be_others(fill: str) -> None:
    text = CHILDREN.format(base="ModuleDict", fill=fill).replace(
        "import torch\n", "import torch\nfrom x import given, names\n", 1
    )
    assert all("unknown" in each for each in revealed(text))
