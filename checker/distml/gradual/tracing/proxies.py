"""What the user's code holds instead of tensors, sizes and the truth of comparisons.

A proxy carries an abstract value and asks its tracer for everything else. One for a tensor is a
`torch.Tensor`, so that `isinstance` and torch's own checks of arguments take it for one; a size
says that it is an int. Sizes that are plain numbers are proxies too, so that a branch on them
is seen to be one on shapes.
"""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

import torch

from distml.values import Condition, Const, Num

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from distml.gradual.tracing.tracer import Tracer
    from distml.values import Value

BINARY: dict[str, type[ast.operator]] = {
    "add": ast.Add,
    "sub": ast.Sub,
    "mul": ast.Mult,
    "floordiv": ast.FloorDiv,
    "truediv": ast.Div,
    "mod": ast.Mod,
    "pow": ast.Pow,
}
COMPARED: dict[str, type[ast.cmpop]] = {
    "eq": ast.Eq,
    "ne": ast.NotEq,
    "lt": ast.Lt,
    "le": ast.LtE,
    "gt": ast.Gt,
    "ge": ast.GtE,
}


class TensorProxy(torch.Tensor):
    """A tensor of which the shape is known, or nothing. Torch hands every function called on it to the tracer."""

    value: Value
    tracer: Tracer

    def __iter__(self) -> Iterator[Any]:
        return self.tracer.iterate(self)

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return repr(self.value)

    def __format__(self, spec: str) -> str:
        return repr(self.value)

    def __deepcopy__(self, memo: object) -> TensorProxy:
        return self

    __hash__ = torch.Tensor.__hash__


class Scalar(torch.SymInt):
    """A number or another object of which something is known, but not its value.

    It descends from torch's own symbolic integer, which torch takes wherever it takes a size.
    """

    def __init__(self, tracer: Tracer, value: Value) -> None:
        self.tracer = tracer
        self.value = value

    def __bool__(self) -> bool:
        return self.tracer.decide(self.value, isinstance(self.value, Num))

    def __index__(self) -> int:
        return self.tracer.number(self.value)

    def __int__(self) -> int:
        return self.tracer.number(self.value)

    def __float__(self) -> float:
        return float(self.tracer.number(self.value))

    def __neg__(self) -> Any:
        return self.tracer.binary(ast.Mult, Const(-1), self.value)

    def __pos__(self) -> Any:
        return self

    def __repr__(self) -> str:
        return str(self.value.dim if isinstance(self.value, Num) else self.value)

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __deepcopy__(self, memo: object) -> Scalar:
        return self

    __str__ = __repr__
    __hash__ = object.__hash__


class Size(Scalar):
    """An integer computed from sizes."""

    __class__ = property(lambda self: int)


class Unknown(Scalar):
    """An object nothing is known of: what depends on the content of tensors."""

    __class__ = property(lambda self: Unknown)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("tracer", "value", "node"):
            raise AttributeError(name)
        return self.tracer.attribute(self.value, name)

    def __getitem__(self, index: Any) -> Any:
        return self.tracer.item(self.value, index)

    def __iter__(self) -> Iterator[Any]:
        return self.tracer.iterate(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.unknown(repr(self.value))


class Known(int):
    """A size that is a plain number."""

    tracer: Tracer

    def __deepcopy__(self, memo: object) -> Known:
        return self

    __hash__ = int.__hash__


class Truth(torch.SymBool):
    """Whether a comparison of sizes holds. Asked for its truth it is one or the other."""

    __class__ = property(lambda self: bool)

    def __init__(self, tracer: Tracer, value: Value) -> None:
        self.tracer = tracer
        self.value = value

    def __bool__(self) -> bool:
        return self.tracer.decide(self.value, isinstance(self.value, Condition | Const))

    def __and__(self, other: Any) -> Any:
        return self.tracer.joined((self, other), conjunction=True)

    def __or__(self, other: Any) -> Any:
        return self.tracer.joined((self, other), conjunction=False)

    def __invert__(self) -> Any:
        return self.tracer.negated(self)

    def __repr__(self) -> str:
        return repr(self.value)

    __rand__, __ror__ = __and__, __or__
    __hash__ = object.__hash__


class Sizes(tuple[Any, ...]):  # noqa: SLOT001 (it knows its tracer)
    """`x.shape` of a tensor of known rank."""

    tracer: Tracer

    def numel(self) -> Any:
        """The number of elements."""
        product: Any = 1
        for size in self:
            product = size * product
        return product

    def __iter__(self) -> Iterator[Any]:
        return self.tracer.iterate(self)

    def __getitem__(self, index: Any) -> Any:
        try:
            found = super().__getitem__(index)
        except IndexError:
            return self.tracer.item(self.tracer.lift(self), index)
        return self.tracer.sizes(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Any:
        return self.tracer.sizes((*self, *other))

    def __radd__(self, other: Any) -> Any:
        return self.tracer.sizes((*other, *self))

    __hash__ = tuple.__hash__


class UnrankedSizes:
    """`x.shape` of a tensor whose rank is not known."""

    def __init__(self, tracer: Tracer, value: Value) -> None:
        self.tracer = tracer
        self.value = value

    def __getitem__(self, index: Any) -> Any:
        return self.tracer.item(self.value, index)

    def __iter__(self) -> Iterator[Any]:
        return self.tracer.iterate(self)

    def __len__(self) -> int:
        return int(self.tracer.length(self))

    def numel(self) -> Any:
        """The number of elements."""
        return self.tracer.unknown("numel")

    def __add__(self, other: Any) -> Any:
        return self.tracer.binary(ast.Add, self.value, self.tracer.lift(other))

    def __radd__(self, other: Any) -> Any:
        return self.tracer.binary(ast.Add, self.tracer.lift(other), self.value)

    __hash__ = object.__hash__


PROXIES = (TensorProxy, Scalar, Truth, Sizes, UnrankedSizes)


def is_number(value: object) -> bool:
    """Whether Python itself can compute with a value and a known size."""
    return type(value) in (int, float, bool, complex, Known)


def _arithmetic(name: str, swapped: bool) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        if isinstance(other, torch.Tensor):
            return NotImplemented
        tracer = self.tracer
        left, right = tracer.lift(self), tracer.lift(other)
        return tracer.binary(BINARY[name], right, left) if swapped else tracer.binary(BINARY[name], left, right)

    return method


def _known_arithmetic(name: str, swapped: bool) -> Callable[[Any, Any], Any]:
    plain = getattr(int, f"__{'r' if swapped else ''}{name}__")

    def method(self: Known, other: Any) -> Any:
        if not is_number(other):
            return NotImplemented
        found = plain(self, other)
        return self.tracer.known(found) if type(found) is int else found

    return method


def _comparison(name: str) -> Callable[[Any, Any], Any]:
    plain = getattr(operator, name)

    def method(self: Any, other: Any) -> Any:
        tracer = self.tracer
        if type(self) is Known and is_number(other):
            return Truth(tracer, Const(bool(plain(int(self), int(other) if type(other) is Known else other))))
        if not is_number(other) and not isinstance(other, tuple | list | Scalar | UnrankedSizes):
            return NotImplemented
        return tracer.compare(COMPARED[name], tracer.lift(self), tracer.lift(other))

    return method


for _name in BINARY:
    for _swapped in (False, True):
        _method = f"__{'r' if _swapped else ''}{_name}__"
        setattr(Scalar, _method, _arithmetic(_name, _swapped))
        setattr(Known, _method, _known_arithmetic(_name, _swapped))
for _name in COMPARED:
    for _class in (Scalar, Known, Sizes, UnrankedSizes):
        setattr(_class, f"__{_name}__", _comparison(_name))
