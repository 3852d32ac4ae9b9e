"""Writes programs that run: every statement is tried for real before it is kept.

What may go either way (a flag, a number of turns) splits the environments in which statements are tried; a
statement is kept when it runs in all of them. A program that shall fail ends with one that fails in all of them.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from math import prod
from random import Random
from types import ModuleType
from typing import Any

NOT_ABOUT_SHAPES = re.compile(
    r"dtype|scalar type|boolean|floating|complex|integral|integer|overflow|leaf|grad|not implemented|memory|overlap"
    r"|Float|Long|Int |Double|subscriptable|attribute|object|strid"
    r"|scalar variable|read-only|negative elements|sequence|of dimension 0|0-dimensional|no dimensions",
)
"""Messages about something else, and about NumPy's scalars, which are no arrays of rank 0 in everything."""
LARGEST = 3000
MAX_RANK = 5

Template = Callable[["Writer"], "str | list[str]"]


class Writer:
    """A program that grows. `names` are the tensors it has, `counts` its integers."""

    def __init__(self, random: Random, modules: dict[str, ModuleType]) -> None:
        self.random = random
        self.modules = modules
        self.library = next(iter(modules))
        # Weights are random and some shapes follow values: the program that is written must be the one that is run.
        self.seeding = ["torch.manual_seed(0)"] if self.library == "torch" else []
        self.lines: list[str] = [f"import {m.__name__} as {n}" for n, m in modules.items()]
        self.envs: list[dict[str, Any]] = [{}]
        self.inputs: list[str] = []
        self.last = 0
        self.fails = False

    # --- drawing -----------------------------------------------------------------------

    def one(self, *options: Any) -> Any:
        """One of the options."""
        return self.random.choice(options)

    def tensors(self) -> list[str]:
        return [name for name, value in self.envs[0].items() if hasattr(value, "shape") and name.startswith("v")]

    def tensor(self, rank: int | None = None) -> str:
        """A tensor, of a rank if there is one; later ones are more likely."""
        known = self.tensors()
        fitting = [name for name in known if rank is None or self.rank(name) == rank] or known
        return self.random.choice([*fitting, *fitting[-3:]])

    def like(self, name: str) -> str:
        """Another tensor of the same shape, if there is one."""
        shape = self.shape(name)
        return self.random.choice([n for n in self.tensors() if self.shape(n) == shape])

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self.envs[0][name].shape)

    def rank(self, name: str) -> int:
        return len(self.shape(name))

    def axis(self, name: str) -> int:
        """An axis, now and then one that is not there."""
        rank = self.rank(name)
        if self.random.random() < 0.06:
            return self.one(rank, -rank - 1)
        return self.random.randint(-rank, max(rank - 1, 0)) if rank else 0

    def size(self, name: str, axis: int) -> str:
        """The size of an axis, as a number or as a program says it."""
        shape = self.shape(name)
        if not -len(shape) <= axis < len(shape):
            return str(self.number())
        wrong = self.random.random() < 0.04
        return self.one(str(shape[axis] + wrong), f"{name}.shape[{axis}]")

    def number(self, low: int = 1, high: int = 5) -> int:
        return self.random.randint(low, high)

    def sizes(self, count: int) -> str:
        return ", ".join(str(self.number()) for _ in range(count))

    def fresh(self, prefix: str = "v") -> str:
        self.last += 1
        return f"{prefix}{self.last}"

    # --- writing -----------------------------------------------------------------------

    def begin(self, count: int) -> None:
        """The tensors that a program starts with; related sizes make things fit."""
        base = [self.number(2, 6) for _ in range(3)]
        for _ in range(count):
            shape = [self.random.choice(base) for _ in range(self.random.choice((1, 2, 2, 3, 3, 4)))]
            name = self.fresh()
            self.inputs.append(name)
            sizes = ", ".join(map(str, shape))
            self.attempt([f"{name} = {self.library}.linspace(-1, 1, {prod(shape)}).reshape({sizes})"], wrong=False)

    def flag(self) -> str:
        """A new condition that may hold or not."""
        name = self.fresh("flag")
        self.lines.append(f'{name} = "{name}" in os.environ')
        self.envs = [{**copy.deepcopy(env), name: value} for env in self.envs for value in (True, False)]
        return name

    def turns(self) -> str:
        """A new number of turns that is not known."""
        name = self.fresh("turns")
        self.lines.append(f'{name} = int(os.environ.get("{name}", "0"))')
        self.envs = [{**copy.deepcopy(env), name: value} for env in self.envs for value in (0, 1, 3)]
        return name

    def attempt(self, statement: Sequence[str], wrong: bool) -> bool:
        """Keep a statement if it runs everywhere; or, if a `wrong` one is wanted, if it fails everywhere."""
        statement = [*self.seeding, *statement]
        code = compile("\n".join(statement), "statement", "exec")
        after, errors = [], []
        for env in self.envs:
            namespace = {**self.modules, **copy.deepcopy(env)}
            try:
                exec(code, namespace)
            except Exception as error:
                errors.append(error)
                continue
            after.append({k: v for k, v in namespace.items() if k not in self.modules and k != "__builtins__"})
        if errors:
            about = [isinstance(e, ValueError | RuntimeError | IndexError) and is_about_shapes(e) for e in errors]
            if wrong and len(errors) == len(self.envs) and all(about):
                self.lines.extend(statement)
                self.fails = True
            return False
        if not all(_small(env) for env in after):
            return False
        self.lines.extend(statement)
        self.envs = after
        return True

    def write(self, templates: Sequence[Template], count: int, wrong: bool) -> str:
        """Try `count` statements; the program, which if `wrong` ends in a mistake if one was met."""
        for tried in range(count):
            made = self.random.choice(templates)(self)
            statement = [f"{self.fresh()} = {made}"] if isinstance(made, str) else made
            self.attempt(statement, wrong=wrong and tried > count // 2)
            if self.fails:
                break
        return self.program()

    def program(self) -> str:
        return "\n".join(self.lines) + "\n"


def is_about_shapes(error: Exception) -> bool:
    """Whether an exception of a library is about shapes."""
    return not NOT_ABOUT_SHAPES.search(str(error))


def _small(env: dict[str, Any]) -> bool:
    for name, value in env.items():
        if name.startswith("v"):
            if not hasattr(value, "shape"):
                return False
            if not 0 < prod(value.shape) <= LARGEST or len(value.shape) > MAX_RANK:
                return False
    return True
