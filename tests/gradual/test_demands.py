"""What ops demand, against the real ops: torch's samples with every size a symbol, replayed with other sizes.

A call that succeeds must satisfy every demand. One that fails should violate one: how often
that is so is counted.
"""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from distml.ops import ShapeError, names
from distml.shapes import Dim, Symbol
from distml.solver.decide import Constraint, Contradiction, satisfy
from distml.solver.formula import equal
from distml.values import Value

from ops.replay import NOT_ABOUT_SHAPES, Abstraction, real_calls, shown, torch_names
from ops.world import ScratchWorld

pytestmark = pytest.mark.requires("torch")
LIMIT = 2
"""Samples of each op."""
CHANGES = 3
"""Other sizes for each sample."""
EXCEPTIONS = (RuntimeError, ValueError, TypeError, IndexError, AssertionError, NotImplementedError)


class Replayed(NamedTuple):
    """One call with other sizes: whether it succeeded, and whether the demands say so."""

    name: str
    what: str
    succeeded: bool
    allowed: bool


class Sizes(Abstraction):
    """Makes every size a symbol that is at least 1, as those of inputs are."""

    def _symbol(self, dim: Dim) -> Dim:
        symbol = Symbol(f"s{len(self.values)}", self.world.serial(), 1)
        self.values[symbol] = dim
        return Dim.symbol(symbol)


class Demanding:
    """One sample with every size of its tensors a symbol, and what the op demands of them."""

    def __init__(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        world = ScratchWorld()
        world.demands = []
        lifted = Sizes(world, "symbolic")
        given: list[Value] = [lifted(a) for a in args]
        named = {k: lifted(v) for k, v in kwargs.items()}
        self.possible = True
        self.symbols = list(lifted.values)
        try:
            world.call(name, *given, **named)
        except ShapeError:
            self.possible = False
        learned = [equal(Dim.symbol(s), d) for s, d in world.store.items() if isinstance(s, Symbol)]
        self.demands = [Constraint(f) for f in (*world.demands, *learned)]

    def allows(self, sizes: list[int]) -> bool:
        """Whether the demands can hold for these sizes, whatever those that the op has made are."""
        fixed = [Constraint(equal(Dim.symbol(s), n)) for s, n in zip(self.symbols, sizes, strict=True)]
        return self.possible and not isinstance(satisfy([*fixed, *self.demands], 1.0, 0), Contradiction)


def tensors_in(value: Any) -> Iterator[Any]:
    """The tensors among arguments, in the order in which they are made abstract."""
    if isinstance(value, tuple | list):
        for item in value:
            yield from tensors_in(item)
    elif hasattr(value, "shape") and hasattr(value, "dtype"):
        yield value


def with_sizes(value: Any, sizes: Iterator[int]) -> Any:
    """The arguments with tensors of other sizes, all zeros."""
    import torch

    if isinstance(value, tuple | list) and type(value).__name__ in ("tuple", "list"):
        return type(value)(with_sizes(item, sizes) for item in value)
    if isinstance(value, torch.Tensor):
        shape = [next(sizes) for _ in value.shape]
        return torch.zeros(shape, dtype=value.dtype)
    return value


def changed(sizes: list[int], chance: random.Random) -> list[int]:
    """Other sizes: one size changed alone, or all that were equal changed alike."""
    place = chance.randrange(len(sizes))
    old = sizes[place]
    new = chance.choice([1, old + 1, max(old - 1, 1), old * 2, 7])
    if chance.random() < 0.5:
        return [new if size == old else size for size in sizes]
    return [new if index == place else size for index, size in enumerate(sizes)]


def replays(wanted: frozenset[str]) -> Iterator[Replayed]:
    chance = random.Random(0)
    for name, args, kwargs, _ in real_calls(wanted, LIMIT):
        found = [*tensors_in(args), *tensors_in(list(kwargs.values()))]
        sizes = [int(n) for tensor in found for n in tensor.shape]
        if not sizes or 0 in sizes or _on_data(name):
            continue
        demanding = Demanding(name, args, kwargs)
        for attempt in [sizes, *(changed(sizes, chance) for _ in range(CHANGES))]:
            outcome = succeeds(name, args, kwargs, attempt)
            if outcome is not None:
                what = f"{name} {shown(args)} {shown(kwargs)} with {attempt}"
                yield Replayed(name, what, outcome, demanding.allows(attempt))


DATA = (
    *("sparse", "nonzero", "masked_select", "unique", "item", "linalg", "bincount", "cholesky", "lu_", "inverse"),
    *(
        "orgqr",
        "ormqr",
        "matrix_power",
        "as_strided",
        "histogram",
        "unpool",
        "distance_loss",
        "tensor_split",
        "ctc_loss",
    ),
    "repeat_interleave",
)
"""Ops whose success depends on the numbers in their tensors, which are all zeros here."""


def _on_data(name: str) -> bool:
    return any(part in name for part in DATA)


def succeeds(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], sizes: list[int]) -> bool | None:
    """Whether the real op takes tensors of these sizes; None where it fails for another reason."""
    function = _function(name)
    remaining = iter(sizes)
    given = with_sizes(args, remaining)
    named = {k: with_sizes(v, remaining) for k, v in kwargs.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*given, **named)
    except EXCEPTIONS as error:
        return None if NOT_ABOUT_SHAPES.search(str(error)) else False
    return True


def _function(name: str) -> Any:
    import torch

    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


@pytest.fixture(scope="module")
def replayed() -> list[Replayed]:
    wanted = torch_names(n for n in names()[0] if n.startswith("torch."))
    return list(replays(wanted))


def test_what_succeeds_satisfies_every_demand(replayed: list[Replayed]) -> None:
    assert len(replayed) > 3000
    assert [r.what for r in replayed if r.succeeded and not r.allowed] == []


def test_most_failures_violate_a_demand(replayed: list[Replayed]) -> None:
    failures = [r for r in replayed if not r.succeeded]
    missed = Counter(r.name for r in failures if r.allowed)
    assert len(failures) > 300
    assert sum(missed.values()) < 0.2 * len(failures), missed.most_common(30)
