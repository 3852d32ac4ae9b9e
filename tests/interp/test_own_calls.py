"""A layer whose class has a `__call__` of its own does what that says. All programs run for real."""

from __future__ import annotations

import pytest

from interp.programs import errors_of

HEAD = """import functools
import sys
import torch
from torch import nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 4)
        self.active = None

    def forward(self, x, wide=False):
        y = self.inner(x)
        return torch.cat([y, y], -1) if wide or self.active else y


def use(x):
    return x @ torch.zeros(5, 1)


x = torch.zeros(2, 3)
"""
OWN = {
    "super": "return super().__call__(x)",
    "super of a class": "return super(Own, self).__call__(x)",
    "handed on": "return super().__call__(x, **kw)",
    "by the library's name": "return nn.Module.__call__(self, x)",
    "by the base's name": "return Base.__call__(self, x)",
    "cut": "return super().__call__(x, wide=True)[:, :4]",
    "set for a while": (
        "before, self.active = self.active, name\n        try:\n            return super().__call__(x)[:, 4:]\n"
        "        finally:\n            self.active = before"
    ),
    "by forward": "return self.forward(x)",
    "by super's forward": "return super().forward(x)",
    "when alone": "return super().__call__(x) if self.active is None else x",
}
USES = {
    "plain": "use(Own()(x, name='a'))",
    "hooked": "own = Own()\nown.register_forward_hook(lambda m, i, o: o * 2)\nuse(own(x, name='a'))",
    "derived": "class Later(Own):\n    pass\n\nuse(Later()(x, name='a'))",
    "twice": "class Later(Own):\n    def __call__(self, x):\n        return super().__call__(x, 'a') * 2\n\nuse(Later()(x))",
    "in another": "use(nn.Sequential(Again(), nn.Identity())(x))",
}
UNLIKE = (
    (
        "class Own(Base):\n    if len(sys.argv) > 99:\n        def __call__(self, x):\n            return x\n\n"
        "Own()(x) @ torch.zeros(4, 1)"
    ),
    "class Own(Base):\n    __call__ = functools.partialmethod(nn.Module.__call__, wide=True)\n\nOwn()(x) @ torch.zeros(8, 1)",
    "class Own(Base):\n    __call__ = lambda self, x: x\n\nOwn()(x) @ torch.zeros(3, 1)",
    (
        "class Own(Base):\n    def __call__(self, x):\n        return super().__call__(x), x\n\n"
        "own = Own()\nown.register_forward_hook(lambda m, i, o: o[:, :2])\nown(x)[0] @ torch.zeros(2, 1)"
    ),
    "class Own(Base):\n    pass\n\nOwn.__call__ = lambda self, x: x\nOwn()(x) @ torch.zeros(3, 1)",
    (
        "class Own(Base):\n    def __call__(self, x):\n        return x\n\n"
        "own = Own()\nown.forward = lambda x: 0\nown(x) @ torch.zeros(3, 1)"
    ),
)


def _program(body: str, use: str) -> str:
    own = f"class Own(Base):\n    def __call__(self, x, name=None, **kw):\n        {body}\n\n\n"
    again = "class Again(Own):\n    def __call__(self, x):\n        return super().__call__(x, name='b')\n\n\n"
    return f"{HEAD}\n\n{own}{again}{use}"


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("body", OWN.values(), ids=OWN)
def test_an_own_call_is_run(body: str, use: str) -> None:
    program = _program(body, use)
    with pytest.raises(RuntimeError):
        exec(program, {})
    assert errors_of(program) != []
    good = program.replace("zeros(5, 1)", "zeros(4, 1)")
    exec(good, {})
    assert errors_of(good) == []


@pytest.mark.parametrize("rest", UNLIKE)
def test_a_call_that_is_something_else_is_not_taken_for_forward(rest: str) -> None:
    exec(HEAD + rest, {})
    assert errors_of(HEAD + rest) == []
