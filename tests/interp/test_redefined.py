"""What a program may define itself: operators, functions called for arrays, patches. A program that runs is never
accused, and a shape that is known is the real one."""

from __future__ import annotations

import warnings
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.growing import arrays, grow
from interp.programs import judge_running

pytestmark = pytest.mark.requires("torch")

BINARY = ("add", "mul", "matmul", "sub", "truediv", "pow", "eq", "lt", "ge")
BODIES = (
    "return self.a",
    "return self.a.T",
    "return self.a @ o",
    "return o",
    "return self.a[..., None]",
    "return NotImplemented",
    "return type(self)(self.a.T)",
    "return 3",
)
HOOKS = (
    "    __array_ufunc__ = None",
    "    __array_priority__ = 20",
    "    def __array_ufunc__(self, ufunc, method, *inputs, **kw): return self.a.T",
    "    def __array_function__(self, func, types, args, kwargs): return self.a[None]",
    "    @classmethod\n    def __torch_function__(cls, func, types, args=(), kwargs=None): return torch.zeros(7, 2)",
    "    def __array__(self, dtype=None, copy=None): return np.zeros((5, 6))",
    "    def __len__(self): return 9",
    "    def __bool__(self): return False",
    "    def __getitem__(self, index): return self.a.T",
    "    def __neg__(self): return self.a[0]",
    "    def __call__(self, *args): return self.a.T",
    "    def __getattr__(self, name): return np.zeros((4, 9)) if name == 'T' else object.__getattribute__(self, name)",
    "    def sum(self, *args): return self.a",
    "    shape = (8, 1)",
)
OPERATORS = ("+", "-", "*", "@", "/", "==", "<")
FUNCTIONS = ("np.dot", "np.multiply", "np.add", "np.matmul", "torch.matmul", "torch.add", "np.subtract", "torch.mul")
VALUES = (
    "a = np.ones((2, 3))",
    "b = np.ones((3, 2))",
    "s = torch.ones(3, 3)",
    "o = Obj(np.ones((2, 3)))",
    "p = Obj(torch.ones(3, 3))",
    "h = hide(o)",
    "i = hide(p)",
    "m = np.asmatrix(np.ones((2, 3)))",
    "n = hide(m)",
    "k = hide(np.ma.masked_array(np.ones((3, 2))))",
    "c = Sub(torch.ones(3, 2))",
    "d = hide(np.ones((2, 3)))",
)


def _class(random: Random) -> str:
    lines = ["class Obj:", "    def __init__(self, a): self.a = a"]
    for name in random.sample(BINARY, 4):
        prefix = random.choice(["", "", "r", "i"]) if name not in ("eq", "lt", "ge") else ""
        lines.append(f"    def __{prefix}{name}__(self, o): {random.choice(BODIES)}")
    return "\n".join([*lines, *random.sample(HOOKS, 3)])


SUBCLASS = """class Sub(torch.Tensor):
    def __mul__(self, o): return torch.zeros(1, 7)
    def __radd__(self, o): return torch.zeros(5)
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None): return torch.zeros(6, 6)"""


def _prelude(random: Random) -> str:
    start = ["import numpy as np", "import torch", 'hide = eval("lambda value: value")', _class(random), SUBCLASS]
    return "\n".join([*start, *VALUES])


def _operator(random: Random, names: list[str], new: str) -> str:
    return f"{new} = {random.choice(names)} {random.choice(OPERATORS)} {random.choice(names)}"


def _in_place(random: Random, names: list[str], new: str) -> str:
    return f"{random.choice(names)} {random.choice(OPERATORS[:5])}= {random.choice(names)}"


def _call(random: Random, names: list[str], new: str) -> str:
    return f"{new} = {random.choice(FUNCTIONS)}({random.choice(names)}, {random.choice(names)})"


def _part(random: Random, names: list[str], new: str) -> str:
    parts = (".T", "[0]", "[:, 0]", ".sum(1)", "[..., None]", ".reshape(-1)", ".mean(0)", ".dot(b)", ".transpose()")
    return f"{new} = {random.choice(names)}{random.choice(parts)}"


def _whole(random: Random, names: list[str], new: str) -> str:
    calls = ("np.sum({}, 1)", "np.concatenate([{}, {}])", "torch.stack([{}, {}])", "np.asarray({})", "-{}", "np.exp({})",
             "abs({})", "np.expand_dims({}, 0)", "np.squeeze({})", "torch.relu({})")  # fmt: skip
    return f"{new} = {random.choice(calls).format(random.choice(names), random.choice(names))}"


def program(random: Random) -> tuple[str, list[str]]:
    """A program that runs, and the names that hold plain arrays at its end."""
    moves = [_operator, _operator, _operator, _in_place, _call, _part, _whole]
    text, known = grow(random, _prelude(random), [value.partition(" ")[0] for value in VALUES], moves, 14)
    return text, arrays(text, known)


@settings(max_examples=40)
@given(st.integers(0, 10**9))
def test_operators_and_functions_do_what_classes_want(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict = judge_running(*program(Random(seed)))
    assert verdict.kind in ("exact", "vague"), str(verdict)
