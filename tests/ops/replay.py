"""Real calls replayed on abstract values, and what became of each.

A valid call must not fail in the op, and the abstract result must contain the
real one; a call that raises for a shape reason should be found. Three ways to make
the arguments abstract: sizes as they are, sizes as symbols, tensors of which
nothing is known. With "numbers" some of the integers among the arguments are symbols too.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from distml.ops import ShapeError, find_op, names
from distml.shapes import Dim, Facts, Shape, Symbol
from distml.values import Const, ListRecord, Many, Num, Opaque, Ref, ShapeSeq, Tensor, Tup, Union, Value

from ops.torch_oracle import op_db
from ops.world import ScratchWorld, lift

NOT_ABOUT_SHAPES = re.compile(
    r"dtype|scalar type|device|Tensor-likes|boolean|floating|complex|integral|integer|requires_grad|layout|memory format"
    r"|overlap|no kernel|not implemented|overflow|int32|int64|Float|Long|Int |Double|nan|sparse|type \w+ ",
)


@dataclass
class Tally:
    """How many calls came out how; `wrong` lists those that must not be."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    vague: list[str] = field(default_factory=list)

    def share(self, *outcomes: str) -> float:
        """The part of all calls that came out as one of `outcomes`."""
        return sum(self.counts[o] for o in outcomes) / max(sum(self.counts.values()), 1)

    def add(self, other: Tally) -> None:
        """Count the calls of another tally too."""
        self.counts += other.counts
        self.wrong += other.wrong
        self.missed += other.missed
        self.vague += other.vague

    def note(self, outcome: str, what: str) -> None:
        self.counts[outcome] += 1
        if outcome in ("wrong", "spurious", "crash"):
            self.wrong.append(f"{outcome}: {what}")
        if outcome == "missed":
            self.missed.append(what)
        if outcome in ("unbound", "unknown", "partial"):
            self.vague.append(f"{outcome}: {what}")


class Abstraction:
    """Makes real arguments abstract; `values` says what each symbol stands for."""

    def __init__(self, world: ScratchWorld, mode: str) -> None:
        self.world = world
        self.mode = mode
        self.values: dict[Symbol, Dim] = {}
        self.numbers = 0

    def __call__(self, value: Any) -> Value:
        if isinstance(value, tuple | list) and type(value).__name__ in ("tuple", "list", "Size"):
            items = tuple(self(v) for v in value)
            return self.world.allocate(ListRecord(items)) if isinstance(value, list) else Tup(items)
        made = lift(self.world, value)
        if self.mode == "numbers" and type(value) is int:
            return self._number(value)
        if not isinstance(made, Tensor) or self.mode == "exact":
            return made
        if self.mode == "opaque":
            return Opaque("x", self.world.serial())
        return Tensor(made.lib, Shape(tuple(self._symbol(d) for d in made.shape.head)), made.dtype)

    def _number(self, value: int) -> Value:
        """Every other integer is a size seen before, or one of which not even the sign is known."""
        self.numbers += 1
        if self.numbers % 2:
            return Const(value)
        seen = next((s for s, d in self.values.items() if d == value), None)
        symbol = seen or Symbol(f"n{len(self.values)}", self.world.serial(), None)
        self.values[symbol] = Dim.of(value)
        return Num(Dim.symbol(symbol))

    def _symbol(self, dim: Dim) -> Dim:
        symbol = Symbol(f"s{len(self.values)}", self.world.serial())
        self.values[symbol] = dim
        return Dim.symbol(symbol)


def outcome(world: ScratchWorld, values: dict[Symbol, Dim], made: Value, real: Any) -> str:
    """ "exact", "partial" (rank or length known), "unknown" or "wrong"."""
    if isinstance(made, Union):
        results = [outcome(world, values, option, real) for option in made.options]
        return min((r for r in results if r != "wrong"), default="wrong", key=_RANKING.index)
    if hasattr(real, "shape") and hasattr(real, "dtype"):
        return _tensor(world, values, made, real) if isinstance(made, Tensor) else _other(made)
    if isinstance(real, tuple | list):
        return _sequence(world, values, made, tuple(real))
    if isinstance(made, Const | Num) and isinstance(real, int):
        dim = world.begin("x").dim(made)
        assert dim is not None
        return _dim(world, values, dim, int(real))
    return "exact" if isinstance(made, Const) and made.value == real else "unknown"


_RANKING = ["wrong", "unknown", "partial", "exact"]


def _other(made: Value) -> str:
    return "unknown" if isinstance(made, Opaque | Ref | ShapeSeq) else "wrong"


def _sequence(world: ScratchWorld, values: dict[Symbol, Dim], made: Value, real: tuple[Any, ...]) -> str:
    if isinstance(made, Many):
        results = [outcome(world, values, made.item, r) for r in real]
        return "wrong" if "wrong" in results else "partial"
    items = world.begin("x").items(made)
    if items is None:
        return _other(made)
    if len(items) != len(real):
        return "wrong"
    results = [outcome(world, values, m, r) for m, r in zip(items, real, strict=True)]
    return min(results, default="exact", key=_RANKING.index)


def _tensor(world: ScratchWorld, values: dict[Symbol, Dim], made: Tensor, real: Any) -> str:
    kind = lift(world, real)
    if made.dtype is not None and isinstance(kind, Tensor) and kind.dtype != made.dtype:
        return "wrong"
    shape, sizes = Facts(world).shape(made.shape), tuple(int(n) for n in real.shape)
    if shape.dims is None:
        ends = [*zip(shape.head, sizes, strict=False), *zip(shape.tail[::-1], sizes[::-1], strict=False)]
        if shape.least > len(sizes):
            return "wrong"
        return "wrong" if "wrong" in (_dim(world, values, d, n) for d, n in ends) else "unknown"
    if len(shape.dims) != len(sizes):
        return "wrong"
    pairs = zip(shape.dims, sizes, strict=True)
    return min((_dim(world, values, d, n) for d, n in pairs), default="exact", key=_RANKING.index)


def _dim(world: ScratchWorld, values: dict[Symbol, Dim], dim: Dim, size: int) -> str:
    number = Facts(world).dim(dim).substitute(values).constant
    if number is None:
        return "partial"
    return "exact" if number == size else "wrong"


def derive(world: ScratchWorld, values: dict[Symbol, Dim]) -> None:
    """Give the symbols an op has made their values, where a fact such as `n = 8*d` tells."""
    for key, size in list(values.items()):
        fact = world.get(key)
        terms = () if fact is None else Facts(world).dim(fact).substitute(values).terms
        if len(terms) == 1 and len(terms[0][0]) == 1 and isinstance(terms[0][0][0][0], Symbol):
            ((atom, power),) = terms[0][0]
            if power == 1 and isinstance(atom, Symbol):
                values[atom] = size // terms[0][1]


def untrue_fact(world: ScratchWorld, values: dict[Symbol, Dim]) -> str | None:
    """A fact the op has learned that the real sizes contradict."""
    for key, fact in world.store.items():
        if isinstance(key, Symbol) and key in values:
            number = Facts(world).dim(fact).substitute(values).constant
            if number is not None and values[key] != number:
                return f"learned {key} = {fact}, it is {values[key]}"
    return None


def replay_valid(tally: Tally, name: str, mode: str, args: tuple[Any, ...], kwargs: dict[str, Any], real: Any) -> None:
    """Replay one call that works and gives `real`."""
    world = ScratchWorld()
    lifted = Abstraction(world, mode)
    what = f"{name} {mode} {shown(args)} {shown(kwargs)} -> {shown(real)}"
    try:
        made = world.call(name, *(lifted(a) for a in args), **{k: lifted(v) for k, v in kwargs.items()})
    except ShapeError as error:
        tally.note("spurious", f"{what}: {error.code} {error.message}")
        return
    except TypeError as error:
        tally.note("unbound" if "argument" in str(error) else "crash", f"{what}: {error}")
        if "argument" not in str(error):
            raise
        return
    derive(world, lifted.values)
    untrue = untrue_fact(world, lifted.values)
    result = "wrong" if untrue else outcome(world, lifted.values, made, real)
    tally.note(result, f"{what}: {untrue or made}")


def replay_failing(tally: Tally, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], why: str) -> None:
    """Replay one call that raises for a shape reason."""
    world = ScratchWorld()
    lifted = Abstraction(world, "exact")
    what = f"{name} {shown(args)} {shown(kwargs)}: {why.splitlines()[0][:90] if why else ''}"
    try:
        world.call(name, *(lifted(a) for a in args), **{k: lifted(v) for k, v in kwargs.items()})
    except ShapeError:
        tally.note("found", what)
    except TypeError:
        tally.note("unbound", what)
    else:
        tally.note("missed", what)


def shown(value: Any) -> str:
    """Arguments with tensors as their shapes."""
    if isinstance(value, tuple | list):
        return f"({', '.join(shown(v) for v in value)})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k}={shown(v)}' for k, v in value.items())}}}"
    return f"T{list(value.shape)}" if hasattr(value, "shape") else repr(value)[:60]


def family(*modules: str) -> frozenset[str]:
    """The operators, by op_db's names, that modules of `distml.ops.torch` rule."""
    inside = {f"distml.ops.torch.{module}" for module in modules}
    return torch_names(name for name in names()[0] if getattr(find_op(name), "__module__", "") in inside)


def torch_names(names: Iterable[str]) -> frozenset[str]:
    """The names of op_db without the library: "linalg.svd" of "torch.linalg.svd"."""
    return frozenset(n.removeprefix("torch.").removeprefix("Tensor.").rstrip("_") for n in names)


def op_db_cases(wanted: frozenset[str], limit: int) -> Iterator[tuple[str, Callable[..., Any], Any]]:
    """(registered name, real function, sample) of torch's own operator samples."""
    import torch

    for info in op_db():
        spellings = {info.name, *(alias.name for alias in info.aliases)}
        if not spellings & wanted or getattr(info.op, "__name__", "") == "<lambda>":
            # Some variants wrap the function into another one.
            continue
        usual = (torch.float32, torch.complex64, torch.int64, torch.bool)
        dtype = next((d for d in usual if d in info.supported_dtypes("cpu")), None)
        if dtype is None:
            continue
        samples = list(itertools.islice(info.sample_inputs("cpu", dtype), limit))
        for spelling in sorted(spellings & wanted):
            for prefix in ("torch.", "torch.Tensor."):
                if find_op(prefix + spelling) is not None and (prefix == "torch." or info.method_variant):
                    yield from ((prefix + spelling, info.op, sample) for sample in samples)


def replay_op_db(wanted: frozenset[str], mode: str, limit: int = 40) -> Tally:
    """All samples of the operators in `wanted`."""
    tally = Tally()
    for name, args, kwargs, real in real_calls(wanted, limit):
        replay_valid(tally, name, mode, args, kwargs, real)
    return tally


@cache
def real_calls(wanted: frozenset[str], limit: int) -> list[tuple[str, tuple[Any, ...], dict[str, Any], Any]]:
    """Registered name, arguments and result of every sample that works; made once."""
    found = []
    for name, function, sample in op_db_cases(wanted, limit):
        args = (sample.input, *sample.args)
        with suppress(RuntimeError, TypeError, ValueError, IndexError):
            found.append((name, args, sample.kwargs, function(*args, **sample.kwargs)))
    return found


def replay_op_db_errors(wanted: frozenset[str]) -> Tally:
    """All error inputs of the operators in `wanted` that are about shapes."""
    tally = Tally()
    for info in op_db():
        spellings = {info.name, *(alias.name for alias in info.aliases)}
        if not spellings & wanted or info.error_inputs_func is None:
            continue
        for case in info.error_inputs("cpu"):
            sample = case.sample_input
            try:
                info.op(sample.input, *sample.args, **sample.kwargs)
            except Exception as error:
                why = str(error)
            else:
                continue
            if NOT_ABOUT_SHAPES.search(why):
                continue
            name = next((f"torch.{s}" for s in sorted(spellings & wanted) if find_op(f"torch.{s}")), None)
            if name is not None:
                replay_failing(tally, name, (sample.input, *sample.args), sample.kwargs, why)
    return tally
