"""`Call`: how an op reads its arguments, states requirements and builds results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from distml.ops.arraylike import shape_of
from distml.ops.broadcast import broadcast
from distml.ops.dialect import dialect
from distml.ops.world import Note, World
from distml.shapes import Dim, Facts, Origin, Shape
from distml.solver.formula import at_least, divisible, equal
from distml.values import (
    NONE,
    ClaimedTup,
    Const,
    DictRecord,
    Expr,
    InstanceRecord,
    ListRecord,
    Many,
    Num,
    Opaque,
    Range,
    Ref,
    SetRecord,
    ShapeSeq,
    Tensor,
    Tup,
    Union,
    Value,
    union,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.dialect import Dialect
    from distml.solver.formula import Formula

ZERO, ONE, MINUS_ONE = Const(0), Const(1), Const(-1)
TRUE, FALSE = Const(True), Const(False)


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        raise TypeError("an unknown constant has no truth value; compare with `is UNKNOWN`")


UNKNOWN: Any = _Unknown()
"""What `Call.const` gives when the value is not a known constant."""


class ShapeError(Exception):
    """The call cannot succeed: a finding, unless the program catches the exception."""

    def __init__(self, code: str, message: str, notes: Sequence[Note] = (), hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.notes = tuple(notes)
        self.hint = hint


class Call:
    """One call of an op.

    `name` is the qualified name called, `lib` the library that results belong to,
    `text` what to call the caller in messages ("fc1", "torch.cat"). `doubtful` tells that it was given something
    that nothing shows to be an array, and took it for one; `foreign` that it took an object of a class of the program;
    `trusting` that it took for a scalar, or for so many items, what an annotation alone calls so, `wary` that this may be
    an array, or others.
    """

    def __init__(self, world: World, name: str, lib: str, text: str | None = None) -> None:
        self.world = world
        self.name = name
        self.lib = lib
        self.text = text or name.removeprefix("torch.Tensor.")
        self.facts = Facts(world)
        self.doubtful = False
        self.foreign = False
        self.trusting = self.wary = False

    @property
    def dialect(self) -> Dialect:
        """What the tensors that the call makes are."""
        return dialect(self.lib)

    # --- reading constants and sizes -------------------------------------------------

    def const(self, value: Value, kind: type | tuple[type, ...] | None = None) -> Any:
        """The Python constant, or `UNKNOWN`; with `kind`, only one of that type."""
        if isinstance(value, Const) and (kind is None or isinstance(value.value, kind)):
            return value.value
        return UNKNOWN

    def flag(self, value: Value) -> bool | None:
        """A truth value, None when unknown."""
        if isinstance(value, Const):
            return bool(value.value)
        return None

    def is_none(self, value: Value) -> bool | None:
        """Whether the value is None; None when that is unknown."""
        if isinstance(value, Const):
            return value.value is None
        if isinstance(value, Opaque | Expr):
            return None
        if isinstance(value, Union):
            answers = {self.is_none(option) for option in value.options}
            return answers.pop() if len(answers) == 1 else None
        return False

    def dim(self, value: Value) -> Dim | None:
        """An integer argument as a dimension, None when it is no known or symbolic integer."""
        if isinstance(value, Const):
            return Dim.of(value.value, value.origin) if isinstance(value.value, int) else None
        if isinstance(value, Num):
            return self.facts.dim(value.dim)
        if isinstance(value, Opaque):
            key = ("dim", value)
            known = self.world.get(key)
            if known is None:
                known = self.facts.symbol(value.name, None, value.origin)
                self.world.put(key, known)
            return self.facts.dim(known)
        if isinstance(value, Expr):
            return self._expression_dim(value)
        if isinstance(value, Tensor) and value.number is not None:
            return self.dim(value.number)
        return None

    def _expression_dim(self, value: Expr) -> Dim | None:
        left, right = self.dim(value.left), self.dim(value.right)
        if left is None or right is None:
            return None
        if value.op == "+":
            return left + right
        if value.op == "-":
            return left - right
        if value.op == "*":
            return self.small(left * right)
        if right.constant == 0:
            return None
        if value.op == "//":
            return left // right
        return left % right if value.op == "%" else None

    def small(self, dim: Dim) -> Dim:
        """The dimension, or a new symbol for it when it has grown out of hand."""
        if dim.is_small:
            return dim
        return self.facts.symbol("size", dim.low, dim.origin)

    def items(self, value: Value) -> tuple[Value, ...] | None:
        """The elements of a tuple, list, range or known shape, None when not known."""
        if isinstance(value, Tup):
            self.trusting = self.trusting or isinstance(value, ClaimedTup)
            return value.items
        if isinstance(value, ShapeSeq):
            dims = self.facts.shape(value.shape).dims
            return None if dims is None else tuple(self.number(d) for d in dims)
        if isinstance(value, Ref):
            record = self.world.record(value)
            if isinstance(record, ListRecord | SetRecord):
                return record.items
            if isinstance(record, DictRecord) and record.exact:
                return tuple(record.items)
            if isinstance(record, InstanceRecord) and "__items__" in record.attrs:
                return self.items(record.attrs["__items__"])
            return None
        if isinstance(value, Range):
            bounds = [self.const(v, int) for v in (value.start, value.stop, value.step)]
            numbers = None if UNKNOWN in bounds else range(*bounds)
            if numbers is None or numbers[4096:]:
                return None
            return tuple(Const(i) for i in numbers)
        if isinstance(value, Tensor) and value.content is not None and self.shape(value).rank == 1:
            return value.content
        return None

    def iterate(self, value: Value) -> tuple[Value, ...] | Many:
        """What iterating over a value gives: its items, or `Many` when their number is unknown."""
        return self.world.iterate(value)

    def sizes(self, value: Value) -> tuple[Dim | None, ...] | None:
        """A size argument: one integer or a sequence of them; an element that is no
        integer known even as a symbol is None. The whole is None when the length is unknown."""
        items = self.items(value)
        if items is not None:
            return tuple(self.dim(item) for item in items)
        if isinstance(value, Opaque | Expr | Union | Many | Ref | ShapeSeq | Tensor):
            return None
        single = self.dim(value)
        return None if single is None else (single,)

    def var_sizes(self, args: Sequence[Value]) -> tuple[Dim | None, ...] | None:
        """Sizes given either as several integers or as one sequence: `view(2, 3)`, `view((2, 3))`."""
        if len(args) == 1:
            return self.sizes(args[0])
        return tuple(self.dim(arg) for arg in args)

    def per_axis(self, value: Value, count: int) -> tuple[Dim | None, ...] | None:
        """A per-axis parameter such as `kernel_size`: one integer for all, or `count` of them."""
        items = self.items(value)
        if items is not None:
            if len(items) == 1:
                items = items * count
            return tuple(self.dim(i) for i in items) if len(items) == count else None
        if isinstance(value, Opaque | Expr | Union | Many | Ref | ShapeSeq):
            # It may be a tuple: then the axes may differ.
            return None
        single = self.dim(value)
        return None if single is None else (single,) * count

    def axis(self, value: Value, rank: int | None, extra: int = 0) -> int | None:
        """An axis argument, made non-negative; None when it or the rank is unknown.

        `extra` is 1 for ops that make a new axis (stack, unsqueeze). Fails with
        SHP202 when it is out of range. For an unknown rank see `Facts.axis`.
        """
        number = self.const(value, int)
        if number is UNKNOWN or rank is None:
            return None
        bound = rank + extra
        # A scalar accepts the axes 0 and -1.
        if not -max(bound, 1) <= number < max(bound, 1):
            self.fail(
                "SHP202",
                f"{self.text}: axis {number} is out of range for {_axes(rank)}"
                + (f" (allowed: {-bound} to {bound - 1})" if bound else ""),
            )
        return number % bound if bound else 0

    def axes(self, value: Value, rank: int | None) -> tuple[int, ...] | None:
        """One axis or several, each as `axis` gives it; None when any is unknown."""
        items = self.items(value)
        found = [self.axis(item, rank) for item in ((value,) if items is None else items)]
        if any(axis is None for axis in found):
            return None
        return tuple(axis for axis in found if axis is not None)

    # --- reading tensors ------------------------------------------------------------

    def shape(self, value: Value) -> Shape:
        """The shape of an array-like; a new unknown one for a value nothing is known of."""
        return shape_of(self, value)

    def dtype(self, value: Value) -> str | None:
        """ "float", "int", "bool", "complex" or None."""
        if isinstance(value, Tensor):
            return value.dtype
        if isinstance(value, Const) and type(value.value) in (bool, int, float, complex):
            return type(value.value).__name__
        return "int" if isinstance(value, Num) else None

    def of_rank(self, shape: Shape, *ranks: int, what: str = "the input") -> Shape:
        """The shape, required to have one of `ranks` axes (SHP301).

        With a single rank, an unknown rank becomes that rank.
        """
        shape = self.facts.shape(shape)
        if shape.rank is None:
            if len(ranks) > 1:
                possible = [r for r in ranks if r >= shape.least]
                if not possible:
                    self._rank_error(shape, ranks, what)
                return shape if len(possible) > 1 else self.of_rank(shape, possible[0], what=what)
            learned = self.facts.of_rank(shape, ranks[0])
            if learned is None:
                self._rank_error(shape, ranks, what)
            return learned
        if shape.rank not in ranks:
            self._rank_error(shape, ranks, what)
        return shape

    def _rank_error(self, shape: Shape, ranks: tuple[int, ...], what: str) -> NoReturn:
        wanted = " or ".join(str(r) for r in ranks)
        self.fail(
            "SHP301",
            f"{self.text} needs {what} with {wanted} axes, gets {self.show(shape)}",
            *self.notes(*shape.head, *shape.tail),
        )

    # --- stating requirements -----------------------------------------------------------

    def fail(self, code: str, message: str, *notes: Note, hint: str | None = None) -> NoReturn:
        """The call cannot succeed."""
        raise ShapeError(code, message, notes, hint)

    def warn(self, code: str, message: str, *notes: Note, hint: str | None = None) -> None:
        """The call succeeds and most likely does not do what was meant."""
        self.world.warn(code, message, notes, hint)

    def require_equal(
        self, left: Dim | None, right: Dim | None, code: str, message: str, hint: str | None = None
    ) -> None:
        """Require two dimensions to be equal; learn it where that is not known.

        `message` may say `{left}` and `{right}`. Only for equalities that every
        successful call satisfies: broadcasting, for one, has none. A None is unknown.
        """
        if left is None or right is None:
            return
        left, right = self.facts.dim(left), self.facts.dim(right)
        if not self.equate(left, right, code, message):
            self.fail(code, _filled(message, left=left, right=right), *self.notes(left, right), hint=hint)

    def equate(self, left: Dim, right: Dim, code: str, message: str) -> bool:
        """Learn that two dimensions are equal, for every successful call; False if they cannot be.

        `code` and `message`, as for `require_equal`, say what this would break.
        """
        if left == right:
            return True
        if self.world.watched:
            if self.world.excused(code):
                return True
            self.world.demand(equal(left, right), code, _filled(message, left=left, right=right))
        return self.facts.equate(left, right)

    def state(self, formula: Formula, code: str, text: str) -> None:
        """Tell what every successful call fulfils, for those who want to know; decides nothing."""
        if self.world.watched and not self.world.excused(code):
            self.world.demand(formula, code, text)

    def require_divisible(self, dim: Dim | None, by: Dim | None, code: str, message: str) -> None:
        """Require `dim` to be a multiple of `by`; `message` may say `{dim}` and `{by}`."""
        if dim is None or by is None:
            return
        dim, by = self.facts.dim(dim), self.facts.dim(by)
        if by.constant == 0:
            return
        if self.world.watched:
            self.world.demand(divisible(dim, by), code, _filled(message, dim=dim, by=by))
        if (dim % by).is_nonzero:
            self.fail(code, _filled(message, dim=dim, by=by), *self.notes(dim, by))

    def require_positive(self, dim: Dim, code: str, message: str, least: int = 1) -> None:
        """Require a computed size to be at least `least`; `message` may say `{dim}`."""
        dim = self.facts.dim(dim)
        if self.world.watched:
            self.world.demand(at_least(dim, Dim.of(least)), code, _filled(message, dim=dim))
        below = (-dim).low
        if below is not None and below > -least:
            self.fail(code, _filled(message, dim=dim), *self.notes(dim))

    def broadcast(self, *shapes: Shape, code: str = "SHP102", message: str | None = None) -> Shape:
        """The broadcast shape (NumPy's rule, which is torch's); fails where it has none."""
        result = shapes[0] if shapes else Shape.of()
        for shape in shapes[1:]:
            result = broadcast(self, result, shape, code, message)
        return result

    def notes(self, *dims: Dim) -> list[Note]:
        """Where the given dimensions come from, for `fail`."""
        found: dict[Origin, Note] = {}
        for dim in dims:
            if dim.origin is not None:
                found.setdefault(dim.origin, Note(f"{dim} comes from here", dim.origin))
        return list(found.values())

    def show(self, value: Value | Shape) -> str:
        """A shape as messages show it: `[b, 3, 224]`."""
        return self.facts.shape(value if isinstance(value, Shape) else self.shape(value)).brief()

    # --- building results ------------------------------------------------------------

    def symbol(self, name: str, low: int | None = 0, high: Dim | None = None) -> Dim:
        """A new unknown dimension, such as the number of True in a mask."""
        return self.facts.symbol(name, low, high=high)

    def chosen(self, source: Value | Shape) -> Dim:
        """How many elements of an array its data choose, as a mask does: none of none."""
        size = (source if isinstance(source, Shape) else self.shape(source)).size
        return size if size is not None and size.constant == 0 else self.symbol("count")

    def number(self, dim: Dim) -> Value:
        """A dimension as a Python integer value."""
        value = dim.constant
        return Num(dim) if value is None else Const(value, dim.origin)

    def tensor(
        self,
        shape: Shape | Sequence[Dim | int | None],
        dtype: str | None = None,
        lib: str | None = None,
    ) -> Tensor:
        """A tensor of a shape or of a list of dimensions; None makes an unknown one."""
        if not isinstance(shape, Shape):
            dims = (self.symbol("size") if d is None else self.small(Dim.of(d)) for d in shape)
            shape = Shape(tuple(dims))
        return Tensor(lib or self.lib, shape, dtype)

    def unranked(self, dtype: str | None = None, name: str = "shape") -> Tensor:
        """A tensor of unknown rank."""
        return Tensor(self.lib, self.facts.unknown_shape(name), dtype)

    def unknown(self, name: str | None = None) -> Opaque:
        """A value nothing is known of."""
        return Opaque(name or self.text, self.world.serial())

    def list_of(self, items: Sequence[Value]) -> Ref:
        """A new list."""
        return self.world.allocate(ListRecord(tuple(items)))

    def any_of(self, *values: Value) -> Value:
        """One of several results: an error follows only if all of them fail."""
        return union(values)

    def attrs(self, value: Value) -> dict[str, Value] | None:
        """The attributes of an object, None when it is no known object."""
        record = self.world.record(value) if isinstance(value, Ref) else None
        return record.attrs if isinstance(record, InstanceRecord) else None

    def apply(self, function: Value, *args: Value, kwargs: dict[str, Value] | None = None) -> Value:
        """Call a value."""
        return self.world.apply(function, args, kwargs)


def _filled(message: str, **dims: Dim) -> str:
    """A message with its dimensions put in. Not `format`: the caller's own text may hold braces."""
    for name, dim in dims.items():
        message = message.replace(f"{{{name}}}", str(dim))
    return message


def _axes(rank: int) -> str:
    return "a scalar" if rank == 0 else f"{rank} axis" if rank == 1 else f"{rank} axes"


__all__ = ["FALSE", "MINUS_ONE", "NONE", "ONE", "TRUE", "UNKNOWN", "ZERO", "Call", "Note", "ShapeError", "World"]
