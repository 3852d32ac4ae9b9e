"""Every op of NumPy against NumPy: calls as they are, with sizes as symbols, with arrays unknown."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from distml.ops import ShapeError, names
from distml.shapes import Dim, Symbol
from distml.values import ListRecord, Num, Opaque, Tup, Value

from ops.replay import Tally, outcome, replay_failing, replay_valid, shown, untrue_fact
from ops.world import ScratchWorld, lift

np = pytest.importorskip("numpy")

CALLS = Path(__file__).with_name("numpy_calls")
WORKS, AS_USUAL, FAILS = ((CALLS / f"{name}.txt").read_text("utf-8") for name in ("works", "as_usual", "fails"))


class Recorded:
    """A name of NumPy; calling it gives the name and the arguments."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattribute__(self, name: str) -> Any:
        # Also for names that every object has, such as `__eq__`.
        own = object.__getattribute__(self, "name")
        return own if name == "name" else Recorded(f"{own}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        return self.name, args, kwargs


class Functions:
    """`F.sum` is NumPy's own function."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def counted(*shape: int) -> Any:
    return np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7


MAKERS = {
    "A": lambda *shape: counted(*shape).astype(float),
    "I": counted,
    "B": lambda *shape: counted(*shape) % 2 == 0,
    "C": lambda *shape: counted(*shape) + 1j,
    "U": lambda *shape: counted(*shape).astype("uint8"),
    "E": lambda n: np.eye(n) + 0.01 * np.arange(n),
    "S": slice,
    "F": Functions(),
    "G": np.random.default_rng(0),
    "Ellipsis": Ellipsis,
    "True": True,
    "None": None,
    "float": float,
    "int": int,
    "bool": bool,
    "object": object,
}


class Names(Mapping[str, Any]):
    """The names of a call: the makers, and whatever else is NumPy's."""

    def __getitem__(self, name: str) -> Any:
        return MAKERS[name] if name in MAKERS else Recorded(name)

    def __iter__(self) -> Iterator[str]:
        return iter(MAKERS)

    def __len__(self) -> int:
        return len(MAKERS)


def calls(text: str) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    for line in filter(None, text.splitlines()):
        yield eval(line, {"__builtins__": {}}, Names())


def run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    function: Any = np
    for part in name.split("."):
        function = getattr(function, part)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def replayed(mode: str) -> Tally:
    tally = Tally()
    for name, args, kwargs in calls(WORKS + AS_USUAL if mode == "exact" else WORKS):
        real = run(name, args, kwargs)
        args = tuple(abstract(a) for a in args)
        replay_valid(tally, f"numpy.{name}", mode, args, {k: abstract(v) for k, v in kwargs.items()}, real)
    return tally


def abstract(value: Any) -> Any:
    """Types as the names that programs write for them."""
    if value in (float, int, bool) if isinstance(value, type) else False:
        return value.__name__
    return value


@pytest.mark.parametrize(
    ("mode", "exact", "known"), [("exact", 0.85, 0.95), ("symbolic", 0.7, 0.9), ("opaque", 0.27, 0.37)]
)
def test_calls_that_work(mode: str, exact: float, known: float) -> None:
    tally = replayed(mode)
    assert not tally.wrong, "\n".join(tally.wrong)
    assert tally.counts["unbound"] == 0, tally.counts
    assert tally.share("exact") >= exact, tally.counts
    assert tally.share("exact", "partial") >= known, tally.counts


class Blur:
    """The arguments as they are, but for one: that is unknown, or its integers are symbols."""

    def __init__(self, place: int | str, symbols: bool) -> None:
        self.world = ScratchWorld()
        self.values: dict[Symbol, Dim] = {}
        self.place = place
        self.symbols = symbols

    def __call__(self, place: int | str, value: Any) -> Value:
        if place != self.place:
            return lift(self.world, abstract(value))
        return self.symbolic(value) if self.symbols else Opaque("x", self.world.serial())

    def symbolic(self, value: Any) -> Value:
        if isinstance(value, tuple | list):
            items = tuple(self.symbolic(v) for v in value)
            return self.world.allocate(ListRecord(items)) if isinstance(value, list) else Tup(items)
        if type(value) is not int:
            return lift(self.world, abstract(value))
        symbol = Symbol(f"n{len(self.values)}", self.world.serial(), None)
        self.values[symbol] = Dim.of(value)
        return Num(Dim.symbol(symbol))


@pytest.mark.parametrize("symbols", [False, True])
def test_an_argument_that_is_not_known(symbols: bool) -> None:
    tally = Tally()
    for name, args, kwargs in calls(WORKS):
        real = run(name, args, kwargs)
        for place in (*range(len(args)), *kwargs):
            blur = Blur(place, symbols)
            what = f"{name} {shown(args)} {shown(kwargs)} without {place} -> {shown(real)}"
            try:
                given = [blur(i, a) for i, a in enumerate(args)]
                made = blur.world.call(f"numpy.{name}", *given, **{k: blur(k, v) for k, v in kwargs.items()})
            except ShapeError as error:
                tally.note("spurious", f"{what}: {error.message}")
                continue
            untrue = untrue_fact(blur.world, blur.values)
            tally.note("wrong" if untrue else outcome(blur.world, blur.values, made, real), f"{what}: {untrue or made}")
    assert not tally.wrong, "\n".join(tally.wrong)


def test_calls_that_fail_are_found() -> None:
    tally = Tally()
    for name, args, kwargs in calls(FAILS):
        with pytest.raises((ValueError, TypeError, IndexError)) as caught:
            run(name, args, kwargs)
        replay_failing(tally, f"numpy.{name}", args, kwargs, str(caught.value))
    assert tally.counts["unbound"] == 0
    assert tally.share("found") >= 0.95, tally.missed


def test_nothing_public_is_left_out() -> None:
    ops = set(names()[0])
    functions = {n for n in dir(np) if not n.startswith("_") and callable(getattr(np, n))}
    public = {n for n in functions if not isinstance(getattr(np, n), type)}
    without_shapes = {"asmatrix", "bmat", "datetime_data", "show_runtime", "test", "set_string_function"}
    assert {n for n in public if f"numpy.{n}" not in ops} <= without_shapes
    called = {name for name, _, _ in calls(WORKS)} & public
    assert len(called) >= 300
