"""The kinds of abstract value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from distml.shapes import Dim, Shape

if TYPE_CHECKING:
    import ast

    from distml.shapes import Origin

MAX_ALTERNATIVES = 4
"""How many alternatives a union keeps before they are joined into one value."""


class Value:
    """Base of all abstract values."""

    __slots__ = ()


class Const(Value):
    """A known Python constant: int, float, complex, bool, str, bytes, None, Ellipsis.

    `Const(1)`, `Const(True)` and `Const(1.0)` are three different values.
    `origin` says where the number was written and is not compared.
    """

    __slots__ = ("origin", "value")

    def __init__(self, value: Any, origin: Origin | None = None) -> None:
        self.value = value
        self.origin = origin

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const) or type(other.value) is not type(self.value):
            return False
        # NaN is itself here: the same constant, not a comparison of floats.
        return bool(self.value == other.value) or (self.value != self.value and other.value != other.value)

    def __hash__(self) -> int:
        # 1, True and 1.0 are seldom keys of one dict; a tuple for each would cost more than they do.
        return hash(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


NONE = Const(None)


@dataclass(slots=True, unsafe_hash=True)
class Num(Value):
    """An integer known as a polynomial that is no plain number (those are `Const`)."""

    dim: Dim


@dataclass(slots=True, unsafe_hash=True)
class Prim(Value):
    """Some value of a primitive type: "int", "float", "bool", "str", "bytes", "complex"."""

    kind: str


@dataclass(slots=True, unsafe_hash=True)
class Ratio(Prim):
    """A float known as the quotient of two integers: `n / 2`, so that `int(n / 2)` is `n // 2`."""

    numerator: Dim
    denominator: Dim


@dataclass(slots=True, unsafe_hash=True)
class Real(Prim):
    """An element of an array of floats, known up to how floats are rounded: between `low` and `high`, which may be equal."""

    low: float
    high: float


@dataclass(slots=True, unsafe_hash=True)
class Condition(Prim):
    """A bool known as a formula over sizes (`distml.solver.formula`); made only where a run is watched."""

    formula: Any


class Opaque(Value):
    """A value nothing is known of but that it is this one; identity is the object's.

    `name` is its source text where it has one (`cfg.hidden`), for messages.
    """

    __slots__ = ("name", "origin", "serial")

    def __init__(self, name: str, serial: int, origin: Origin | None = None) -> None:
        self.name = name
        self.serial = serial
        self.origin = origin

    def __repr__(self) -> str:
        return f"?{self.name}"


@dataclass(slots=True, unsafe_hash=True)
class Expr(Value):
    """Arithmetic on values of unknown type: `x * 2` may be an integer or a tensor."""

    op: str
    left: Value
    right: Value


_objects = count(1)


ANY_OBJECT = 0
"""Among the kin of a tensor: it may be any object."""
MAX_KIN = 64
"""How many objects are told apart that a tensor may be. Each call of a function brings its own, so they can double with
each call around it."""
_ANY = frozenset({ANY_OBJECT})
REMEMBERED = "remembered"
"""Marks a field that says nothing of its own: what was found out about the others, or how they came about."""
OF_ITSELF = {REMEMBERED: True}


Strides = tuple[Dim, ...] | Literal["packed"]
"""How far apart the elements of each axis lie in memory; "packed": as closely as they can, the last axis first."""
PACKED: Literal["packed"] = "packed"


def object_mark() -> int:
    """A number between the tensor objects made before and those to come."""
    return next(_objects)


@dataclass(slots=True, unsafe_hash=True)
class Tensor(Value):
    """An array or tensor.

    `lib` is "numpy", "torch" or "array" (an array of a library that is not
    known); `dtype` is "float", "int", "bool", "complex" or None. `parameter`
    marks what `nn.Parameter` made. `content` holds the numbers of small arrays, flat, when all
    are known (they may become sizes; see `distml.ops.rules.elements`); `largest` is
    a number in an integer array of which not all are kept, none of the others greater.
    `places` says that its numbers are different places in a row of so many: from 0 on, less than that, none twice.
    `strides` say where its elements lie, None where that is not known (`distml.ops.rules.strides`), and `width` is its dtype
    in full, as in "float32" (`distml.ops.rules.widths`).

    An in-place change of shape reaches every name of one object. `ident` is the
    object, and `kin` are others that it may be instead (`x.contiguous()`, the join
    of two tensors); beyond `MAX_KIN` of them it may be any. `met` are the objects
    of which it is one, where paths met and each had its own. None of these takes
    part in comparisons.
    """

    lib: str
    shape: Shape
    dtype: str | None = None
    parameter: bool = False
    content: tuple[Value, ...] | None = None
    largest: int | None = None
    places: Dim | None = None
    strides: Strides | None = None
    width: str | None = None
    ident: int = field(default_factory=_objects.__next__, compare=False, repr=False)
    kin: frozenset[int] = field(default=frozenset(), compare=False, repr=False)
    met: frozenset[int] = field(default=frozenset(), compare=False, repr=False, metadata=OF_ITSELF)

    @property
    def number(self) -> Value | None:
        """The one element, where there is one and it is known."""
        return self.content[0] if self.content is not None and len(self.content) == 1 else None

    @property
    def numbers(self) -> tuple[Value, ...]:
        """Numbers that are in it for certain: where it is used as an index, each must lie inside."""
        return (self.content or ()) if self.largest is None else (Const(self.largest),)

    @property
    def may_hold_numbers(self) -> bool:
        """Whether writing into it may change numbers that are known, its own or those of what it may be a view of."""
        return bool(self.numbers) or self.places is not None or (self.dtype in ("int", "float") and bool(self.kin))

    def agreed(self, *others: Tensor) -> Tensor:
        """This tensor, with the strides and the width that the others have too."""
        strides = self.strides if all(each.strides == self.strides for each in others) else None
        width = self.width if all(each.width == self.width for each in others) else None
        return self if (strides, width) == (self.strides, self.width) else replace(self, strides=strides, width=width)

    def may_be(self, other: Tensor) -> bool:
        """Whether both may be one object."""
        mine, its = self.kin, other.kin
        if ANY_OBJECT in mine or ANY_OBJECT in its:
            return True
        return self.ident == other.ident or self.ident in its or other.ident in mine or not mine.isdisjoint(its)

    def overwritten(self, shape: Shape, moved: bool = False) -> Tensor:
        """This tensor with another shape, or with other elements of which nothing is known; `moved` if they lie elsewhere."""
        strides = None if moved or shape != self.shape else self.strides
        return replace(self, shape=shape, content=None, largest=None, places=None, strides=strides)

    def copied(self, *sources: Tensor) -> Tensor:
        """An equal tensor that is another object, or may be one of `sources`."""
        kin = frozenset(source.ident for source in sources).union(*(source.kin for source in sources))
        few = len(kin) <= MAX_KIN and ANY_OBJECT not in kin
        return replace(self, ident=next(_objects), kin=kin if few else _ANY, met=frozenset())

    def either(self, *others: Tensor) -> Tensor:
        """An equal tensor that is this one or one of `others`: the one of the path that was taken."""
        return replace(self.copied(self, *others), met=objects_of(self, *others))


def objects_of(*tensors: Tensor) -> frozenset[int]:
    """The objects that something is one of which is one of `tensors`; nothing where there are too many to tell."""
    found = frozenset(each.ident for each in tensors).union(*(each.met for each in tensors))
    return found if len(found) <= MAX_KIN else frozenset()


@dataclass(slots=True, eq=False)
class KeyTensor(Tensor):
    """A tensor as a key of a dict: it is the object that counts, as for Python, and not the shape."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyTensor) and other.ident == self.ident

    def __hash__(self) -> int:
        return self.ident


SIZES = "size"
TENSOR_SHAPE = "tensorflow.TensorShape"
SHAPE = "shape"
SHAPE_KINDS = frozenset({SIZES, TENSOR_SHAPE, SHAPE})
"""Kinds of tuples that are shapes, and whose slices and sums are: of PyTorch and NumPy, of TensorFlow, of nobody knows which."""
NO_TUPLES = frozenset({"view", TENSOR_SHAPE, SHAPE})
"""Kinds that are, or may be, no tuples for Python: a `TensorShape` is equal to a list."""


@dataclass(slots=True, unsafe_hash=True)
class Tup(Value):
    """A tuple of known length. `kind` is "tuple", one of `SHAPE_KINDS` or a class name;
    `fields` the names when it is a named tuple."""

    items: tuple[Value, ...]
    kind: str = "tuple"
    fields: tuple[str, ...] = ()
    cls: Value | None = None


@dataclass(slots=True, unsafe_hash=True)
class ShapeSeq(Value):
    """`x.shape` of a tensor whose rank is not known."""

    shape: Shape
    lib: str = "array"

    @property
    def kind(self) -> str:
        """The kind of the tuple that it is where its sizes are known."""
        return {"tensorflow": TENSOR_SHAPE, "array": SHAPE}.get(self.lib, SIZES)


class Last(NamedTuple):
    """The last of many items, which is unlike those before it: what it is, what each before it is, how they differ, and what
    to do about it."""

    item: Value
    before: Value
    note: str
    hint: str


@dataclass(slots=True, unsafe_hash=True)
class Many(Value):
    """An iterable of unknown length whose every item is like `item`.

    `length` is the number of items when it is known as a dimension; the kind
    "endless" says that there is no end. With `same` every item is `item` itself.
    `last`, where it is given, is also like `item`, and more is known of it; there is more than one item then.
    """

    item: Value
    kind: str = "iterable"
    length: Dim | None = None
    same: bool = False
    last: Last | None = None


@dataclass(slots=True, unsafe_hash=True)
class Range(Value):
    """`range(start, stop, step)`."""

    start: Value
    stop: Value
    step: Value


@dataclass(slots=True, unsafe_hash=True)
class Slice(Value):
    """`start:stop:step` inside an index."""

    start: Value = NONE
    stop: Value = NONE
    step: Value = NONE


@dataclass(slots=True, unsafe_hash=True)
class Ref(Value):
    """A reference to the record at `address` on the heap."""

    address: int


@dataclass(slots=True, unsafe_hash=True)
class Lib(Value):
    """A module, class, function or constant of a third-party library, by its name."""

    name: str


@dataclass(slots=True, unsafe_hash=True)
class LibMethod(Value):
    """A library's method taken from a receiver: `x.view`, `items.append`."""

    name: str
    receiver: Value


@dataclass(slots=True, unsafe_hash=True)
class Module(Value):
    """A module of the checked project, by its dotted name."""

    name: str


@dataclass(slots=True, unsafe_hash=True)
class Imported(Value):
    """A name imported from a module of the project, looked up when it is first used.

    What a file imports and does not use need not be run, and modules that import
    each other need not be run in one order.
    """

    location: str
    name: str


@dataclass(slots=True)
class Function(Value):
    """A function written in the checked project.

    `frame` is the frame it was defined in (its enclosing scope). `defaults` and
    `kw_defaults` were evaluated at the definition. `owner` is the class whose
    body defines it (for zero-argument `super`). `kept` is the address of the dict of results that a cache keeps.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: str
    frame: int
    name: str
    defaults: tuple[Value, ...] = ()
    kw_defaults: tuple[Value | None, ...] = ()
    owner: int | None = None
    kind: str = "function"
    kept: int | None = None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Function)
            and self.node is other.node
            and self.frame == other.frame
            and self.kind == other.kind
            and self.owner == other.owner
            and self.kept == other.kept
            and self.defaults == other.defaults
            and self.kw_defaults == other.kw_defaults
        )

    def __hash__(self) -> int:
        return hash((id(self.node), self.frame, self.kind))


@dataclass(slots=True, unsafe_hash=True)
class Bound(Value):
    """A function with its first argument: `self.forward`."""

    function: Value
    receiver: Value


@dataclass(slots=True, unsafe_hash=True)
class Class(Value):
    """A class written in the checked project, its record at `address`."""

    address: int
    name: str


@dataclass(slots=True, unsafe_hash=True)
class Partial(Value):
    """`functools.partial(function, *args, **kwargs)`."""

    function: Value
    args: tuple[Value, ...] = ()
    kwargs: tuple[tuple[str, Value], ...] = ()


@dataclass(slots=True)
class Union(Value):
    """One of several values. Make it with `union`, which keeps it flat."""

    options: tuple[Value, ...] = field(default=())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Union) and set(self.options) == set(other.options)

    def __hash__(self) -> int:
        return hash(frozenset(self.options))


def alternatives(value: Value) -> tuple[Value, ...]:
    """The values a value may be: a union's options, or just itself."""
    return value.options if isinstance(value, Union) else (value,)


def as_bool(known: bool | None) -> Value:
    """The bool that a question gives, as far as it is known."""
    return Prim("bool") if known is None else Const(known)


def blended(left: Value, right: Value) -> Value:
    """One of two equal values: the tensors in it may be those of either."""
    if isinstance(left, Tensor) and isinstance(right, Tensor) and left.ident != right.ident:
        return left.either(right)
    if isinstance(left, Tup) and isinstance(right, Tup) and left is not right:
        return replace(left, items=tuple(blended(a, b) for a, b in zip(left.items, right.items, strict=True)))
    return left


def union(values: list[Value] | tuple[Value, ...]) -> Value:
    """One of `values`, flat and without repetition, in order; never empty."""
    flat: dict[Value, Value] = {}
    for value in values:
        for option in alternatives(value):
            known = flat.setdefault(option, option)
            if known is not option:
                flat[option] = blended(known, option)
    options = tuple(flat.values())
    return options[0] if len(options) == 1 else Union(options)
