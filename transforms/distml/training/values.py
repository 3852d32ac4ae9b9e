"""What an expression can stand for: objects by the expression that makes them.

The analysis does not know what libraries do. What comes from one is `Foreign`: a path of what was done to reach it, such
as `torch.optim.Adam()` for the optimizer that a call makes, `torch.optim.Adam().param_groups[]` for an item of its
groups. What the program itself defines is known: functions, classes and their instances, lists and tuples, constants.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache

from distml.source.file import SourceFile

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
DEEPEST = 8
"""Steps in the path of a `Foreign`; what is reached by more is nameless."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something of a library, or made by one.

    `name` is its path, `node` the expression that made the object the path is rooted in: None for what is imported and
    not made. A name that begins with `?` is of something nobody knows.
    """

    name: str
    node: ast.AST | None = None

    def step(self, suffix: str) -> Foreign:
        """What is reached by one more step: `.attribute` or `[]`."""
        return Foreign(_stepped(self.name, suffix), self.node)

    def called(self, call: ast.AST) -> Foreign:
        """What a call of this makes."""
        return Foreign(_stepped(self.name, "()"), call)


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal: a string, a number, a truth value or None."""

    value: str | int | float | bool | bytes | complex | None


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the program."""

    source: SourceFile


@dataclass(frozen=True, slots=True)
class Class:
    """A class of the program."""

    node: ast.ClassDef


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class of the program. All of a class are one as far as their attributes go."""

    type: Class


@dataclass(frozen=True, slots=True)
class Callable:
    """A function of the program, bound to the object it was taken from if it is a method."""

    node: Function
    bound: Instance | None = None


@dataclass(frozen=True, slots=True)
class Box:
    """A list, tuple, set or dict, by the expression that makes it. What lies in it is kept beside, by key."""

    node: ast.AST


@dataclass(frozen=True, slots=True)
class BoxMethod:
    """A method of a box, about to be called."""

    box: Box
    name: str


Value = Foreign | Constant | Module | Class | Instance | Callable | Box | BoxMethod
Values = frozenset[Value]
NOTHING: Values = frozenset()

_SAME = (
    ("tensorflow.compat.v1.", "tensorflow."),
    ("tensorflow.compat.v2.", "tensorflow."),
    ("tensorflow.python.keras", "keras"),
    ("tensorflow.keras", "keras"),
    ("tensorflow.contrib.keras", "keras"),
    ("tf_keras", "keras"),
    ("tensorflow.optimizers.", "keras.optimizers."),
    ("keras.api.", "keras."),
    ("keras._v2.keras.", "keras."),
    ("keras.optimizers.legacy.", "keras.optimizers."),
    ("keras.optimizers.experimental.", "keras.optimizers."),
    ("keras.models.Model", "keras.Model"),
    ("keras.models.Sequential", "keras.Sequential"),
    ("keras.engine.", "keras."),
    ("keras.training.Model", "keras.Model"),
    ("torch.nn.modules.module.Module", "torch.nn.Module"),
)


PATH = "pathlib.Path()"
"""What every path of `pathlib` is called, however it was come by."""
_PATHS = re.compile(
    r"pathlib\.((Posix|Windows)?Path(\.(cwd|home))?\(\)"
    r"(\.(resolve|absolute|expanduser|joinpath|with_\w+|readlink|rename|replace)\(\)|\.parent|\.parents\[\])?)(?![\w(])"
)
"""A path, and what is done to one to have another."""


def canonical(name: str) -> str:
    """One name for what libraries offer under several: `tensorflow.keras.X` and `keras.X`, `tensorflow.compat.v1.X`.

    A path that is made of another is a path like any. A member by a computed name is `.?`.
    """
    if name.endswith(".__dict__[]"):
        return canonical(name.removesuffix("__dict__[]") + "?")
    if name.startswith("pathlib."):
        return _PATHS.sub(PATH, name)
    if name.startswith(("tensorflow.", "keras.", "torch.", "tf_keras")):
        for start, instead in _SAME:
            if name.startswith(start) and (start.endswith(".") or name[len(start) : len(start) + 1] in ("", ".", "(")):
                name = instead + name[len(start) :]
    return name


@lru_cache(maxsize=1 << 16)
def _stepped(name: str, suffix: str) -> str:
    """The path that is one step further."""
    if name.count("()") + name.count("[]") < DEEPEST:
        return canonical(name + suffix)
    return "?()" if suffix == "()" else "?"
