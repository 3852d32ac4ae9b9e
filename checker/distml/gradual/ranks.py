"""Which numbers of axes the inputs of a target may have: those that go through it, and those that reach a test in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.gradual.trial import MAX_RANK, MORE, Bench, Plan

if TYPE_CHECKING:
    from collections.abc import Sequence


def possible_ranks(bench: Bench, dynamic: bool = False) -> dict[str, list[int]]:
    """For each input the ranks with which a run goes through, the ranks of the others being open.

    With `dynamic` every dimension is Dyn, so that only what ranks contradict counts.
    """
    names = [given.name for given in bench.inputs if given.is_tensor]
    return {name: _of_input(bench, name, names, dynamic) for name in names}


def reaching_ranks(bench: Bench) -> dict[str, list[int]]:
    """For each input the ranks with which some branch is reached, the ranks of the others being open.

    A run that fails later counts as well: its input has come by. `MORE` stands for that rank and all above.
    """
    names = [given.name for given in bench.inputs if given.is_tensor]
    return {name: [rank for rank in range(MORE + 1) if bench.follow(Plan(((name, rank),))).reaches] for name in names}


def _of_input(bench: Bench, name: str, names: Sequence[str], dynamic: bool) -> list[int]:
    candidates = range(MAX_RANK + 1) if dynamic or len(names) == 1 else _candidates(bench, name)
    return [rank for rank in candidates if bench.run(_plan(name, rank, names, dynamic)).passed]


def _candidates(bench: Bench, name: str) -> Sequence[int]:
    """The ranks that a run with open ranks leaves possible.

    It pays where several inputs share it: a run with a rank that is wrong mostly ends early.
    """
    first = bench.run(Plan())
    if not first.passed:
        return range(MAX_RANK + 1)
    shape = first.shapes[name]
    return range(shape.least, MAX_RANK + 1) if shape.rank is None else (shape.rank,)


def _plan(name: str, rank: int, names: Sequence[str], dynamic: bool) -> Plan:
    if not dynamic:
        return Plan(((name, rank),))
    axes = frozenset((name, axis) for axis in range(rank))
    return Plan(((name, rank),), axes, frozenset(names) - {name})
