"""What the rewriters are asked for and what they answer.

A rewriter is a function from source to `Rewritten`: the new source, an `Edit` for each change, a
`Refusal` for each thing that was asked for and not done. Nothing here reads or writes files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

Style = Literal["jaxtyping", "fx", "comment"]
DType = Literal["float", "int", "bool", "complex"]
Kind = Literal["if", "elif", "while", "assert", "ternary", "boolean"]
Verdict = Literal["always", "never"]
BOM = "\ufeff"
"""The byte order mark that a text may begin with."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """The type of a tensor: its axes, and the kind of its elements.

    An axis is a size, the name of a size or an expression over such names (`"2*n"`), or None where it
    can only be Dyn. `dims` is None where not even the number of axes is known, `dtype` where the kind
    of elements is not.
    """

    dims: tuple[str | int | None, ...] | None
    dtype: DType | None = None


class Typed(Protocol):
    """What an answer about shapes says of one parameter; the fields are those of `Annotation`."""

    @property
    def dims(self) -> tuple[str | int | None, ...] | None: ...
    @property
    def dtype(self) -> DType | None: ...


class Answer(Protocol):
    """An answer about the shapes of one function: its qualified name, the line of its `def`, its parameters."""

    @property
    def qualified(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def annotations(self) -> Mapping[str, Typed]: ...


@dataclass(frozen=True, slots=True)
class Target:
    """A function whose parameters are to be annotated.

    `function` is its qualified name, with or without the `<locals>` that Python puts into it; `line` is that of its
    `def` and tells functions of one name apart.
    """

    function: str
    line: int
    parameters: Mapping[str, Annotation]


@dataclass(frozen=True, slots=True)
class Decision:
    """A condition that always or never holds where it is evaluated.

    `line` and `column` are `lineno` and `col_offset` of the statement or expression that `ast` has for the branch:
    `If`, `While`, `Assert`, `IfExp`. For `boolean` they are those of an operand of `and` or `or`, and the verdict is
    the operand's; the place of the `BoolOp` itself stands for its first operand.
    """

    line: int
    column: int
    kind: Kind
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """A change: where it was made in the original, what it is, why, and the rule that asked for it.

    `cell` is that of a notebook, in which line and column count, 0 elsewhere.
    """

    line: int
    column: int
    what: str
    reason: str = ""
    rule: str = ""
    cell: int = 0

    @property
    def place(self) -> str:
        """The line, as messages show it after the name of the file."""
        return f"cell {self.cell}:{self.line}" if self.cell else str(self.line)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something asked for that was not done. `code` is a short word for programs, `reason` a sentence for people."""

    code: str
    line: int
    column: int
    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The source as it was and as it is now; the same where `edits` is empty."""

    before: str
    source: str
    edits: tuple[Edit, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def excerpt(text: str) -> str:
    """A text of the program as messages show it: at most 60 characters."""
    return text if len(text) <= 60 else f"{text[:57]}..."
