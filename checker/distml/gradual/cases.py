"""When a branch is taken, said over the ranks and sizes of the inputs, ready for `--where`."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from distml.gradual.trial import MORE
from distml.solver.formula import symbols

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from distml.gradual.trial import Ranks, Trial
    from distml.shapes import Shape, Symbol
    from distml.solver.formula import Formula


class Reading:
    """Says a symbol as what it is of an input: `x.shape[0]`, `len(x.shape)`."""

    def __init__(self, shapes: Mapping[str, Shape], counts: Mapping[Symbol, str]) -> None:
        self._texts: dict[Symbol, str] = dict(counts)
        for name, shape in shapes.items():
            tail = shape.tail if shape.middle is not None else ()
            for axis, dim in [*enumerate(shape.head), *enumerate(tail, -len(tail))]:
                symbol = dim.lone
                if symbol is not None:
                    self._texts.setdefault(symbol, f"{name}.shape[{axis}]")

    def __call__(self, symbol: Symbol) -> str:
        """The text of a symbol."""
        return self._texts[symbol]

    def knows(self, formula: Formula) -> bool:
        """Whether a formula speaks of nothing but sizes of inputs."""
        return all(symbol in self._texts for symbol in symbols(formula))


def by_cases(texts: Sequence[tuple[Trial, str]], trials: Sequence[Trial]) -> str:
    """A condition from what it is for each combination of ranks; an empty text is one that always holds."""
    groups: dict[str, list[Ranks]] = {}
    for trial, text in texts:
        groups.setdefault(text, []).append(trial.plan.ranks)
    every = [trial.plan.ranks for trial in trials]
    parts = [_joined(_ranks_text(ranks, every), text, len(groups) > 1) for text, ranks in groups.items()]
    return " or ".join(part for group in parts for part in group)


def _joined(ranks: list[str], text: str, several: bool) -> list[str]:
    """Each way the ranks may be, with the condition on sizes there."""
    found = []
    for rank in ranks or [""]:
        both = [part for part in (rank, text) if part]
        bracketed = [f"({part})" if " or " in part and (several or len(both) > 1) else part for part in both]
        found.append(" and ".join(bracketed))
    return found


def _ranks_text(ranks: Sequence[Ranks], every: Sequence[Ranks]) -> list[str]:
    """Which ranks these are, in one phrase where they are all combinations of some for each input."""
    sets, all_sets = _by_input(ranks), _by_input(every)
    if prod(len(found) for found in sets.values()) != len(set(ranks)):
        return [_phrase(_by_input([one]), all_sets) for one in dict.fromkeys(ranks)]
    phrase = _phrase(sets, all_sets)
    return [phrase] if phrase else []


def _phrase(sets: Mapping[str, list[int]], every: Mapping[str, list[int]]) -> str:
    parts = []
    for name, found in sets.items():
        if found == every[name]:
            continue
        parts.append(_ranks_of(f"len({name}.shape)", found, every[name]))
    return " and ".join(parts)


def _ranks_of(count: str, found: Sequence[int], every: Sequence[int]) -> str:
    """Which ranks these are, of all that come by; `MORE` has no upper end."""
    others = [rank for rank in every if rank not in found]
    if len(found) == 1 and found[0] != MORE:
        return f"{count} == {found[0]}"
    if len(others) == 1 and others[0] != MORE:
        return f"{count} != {others[0]}"
    if found[-1] == MORE and len(found) == MORE - found[0] + 1:
        return f"{count} >= {found[0]}"
    if found[-1] == MORE:
        return f"({_ranks_of(count, found[:-1], every)} or {count} >= {MORE})"
    return f"{count} in ({', '.join(map(str, found))})"


def _by_input(ranks: Iterable[Ranks]) -> dict[str, list[int]]:
    found: dict[str, set[int]] = {}
    for combination in ranks:
        for name, rank in combination:
            found.setdefault(name, set()).add(rank)
    return {name: sorted(each) for name, each in found.items()}
