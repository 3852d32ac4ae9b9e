"""However an attribute is set, it is set: `setattr(p, "data", x)` means what `p.data = x` means, and so does a method.

Each way is tried where the tensor is at hand, and in a method that may have run before another one uses the tensor. The
programs run; nothing in them is a finding, and where the attribute is not set there is one.
"""

from __future__ import annotations

import pytest

from interp.programs import errors_of, shown

WAYS = {
    "assignment": "{target}.{name} = {value}",
    "setattr": "setattr({target}, '{name}', {value})",
    "method": "{target}.__setattr__('{name}', {value})",
    "object": "object.__setattr__({target}, '{name}', {value})",
    "named class": "{cls}.__setattr__({target}, '{name}', {value})",
    "loop": "for name in ['{name}']:\n            setattr({target}, name, {value})",
    "unknown name": "setattr({target}, name, {value})",
}
TENSORS = {
    "torch": ("torch.zeros(3, 4)", "data", "torch.zeros(2, 6)", "torch.Tensor"),
    "parameter": ("torch.nn.Parameter(torch.zeros(3, 4))", "data", "torch.zeros(2, 6)", "torch.Tensor"),
    "numpy": ("np.zeros((3, 4))", "shape", "(2, 6)", "np.ndarray"),
}
HERE = """import numpy as np
import torch


class Thing:
    def run(self, name="{name}"):
        t = {tensor}
        {statement}
        return t @ {library}.ones((6, 5))


done = Thing()
"""
ELSEWHERE = """import numpy as np
import torch


class Thing:
    def __init__(self):
        self.t = {tensor}

    def grow(self, name="{name}"):
        {statement}
        return self

    def run(self):
        return self.t @ {library}.ones((6, 5))


done = Thing()
"""


def program(template: str, way: str, kind: str) -> str:
    """A program in which one way sets an attribute of one kind of tensor."""
    tensor, name, value, cls = TENSORS[kind]
    target = "t" if template is HERE else "self.t"
    statement = "pass" if not way else WAYS[way].format(target=target, name=name, value=value, cls=cls)
    library = "np" if kind == "numpy" else "torch"
    return template.format(tensor=tensor, name=name, statement=statement, library=library)


@pytest.mark.parametrize("kind", list(TENSORS))
@pytest.mark.parametrize("way", list(WAYS))
def test_at_hand(way: str, kind: str) -> None:
    text = program(HERE, way, kind)
    exec(text + "done.run()\n", {})
    assert [shown(finding) for finding in errors_of(text)] == []


@pytest.mark.parametrize("kind", list(TENSORS))
@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("loop", "unknown name")])
def test_in_another_method(way: str, kind: str) -> None:
    text = program(ELSEWHERE, way, kind)
    exec(text + "done.grow().run()\n", {})
    assert [shown(finding) for finding in errors_of(text)] == []


@pytest.mark.parametrize("kind", list(TENSORS))
@pytest.mark.parametrize("template", [HERE, ELSEWHERE], ids=["here", "elsewhere"])
def test_without_it_there_is_a_finding(template: str, kind: str) -> None:
    assert [finding.code for finding in errors_of(program(template, "", kind))] == ["SHP101"]
