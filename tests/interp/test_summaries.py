"""What is not followed again: calls that a summary answers, iterations that the widening of the first one covers.

A summary answers a call that is a recorded one but for which unknowns it is given: leaving summaries out changes
nothing. What one iteration makes anew the next one makes anew: widening that at once changes no finding, only the number
of iterations.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings

from distml.interp import functions, join, loops
from distml.interp.check import check_file
from distml.interp.correspondence import Correspondence
from distml.shapes import Dim, Shape, Symbol
from distml.source.project import Project
from distml.values import Opaque, Tensor, Tup

from interp import calling

MANY = settings(max_examples=150, suppress_health_check=list(HealthCheck))
NAMED = re.compile(r"[a-z_]+[0-9_]*")


def said(program: str, folder: Path) -> list[str]:
    """Findings and revealed values, names of unknown sizes left out."""
    (folder / "program.py").write_text(program, "utf-8")
    project = Project(str(folder))
    result = check_file(project.open("program.py"), project, None)
    found = [f"{each.span.line}:{each.span.column} {each.code}" for each in result.diagnostics]
    return found + [
        f"{each.span.line} {' | '.join(sorted(set(NAMED.sub('n', each.text).split(' | '))))}"
        for each in result.revealed
    ]


@pytest.mark.requires("interpreted engine")
def test_summaries_change_nothing(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()

    def counted(*given: Any) -> Any:
        found = recall(*given)
        counts["answered" if found is not None else "followed"] += 1
        return found

    recall = functions.recall

    @MANY
    @given(calling.programs())
    def examine(program: str) -> None:
        with mock.patch.object(functions, "recall", counted):
            answered = said(program, tmp_path)
        with mock.patch.object(functions, "recall", lambda *_: None):
            assert said(program, tmp_path) == answered, program
        counts["found"] += any(":" in line.partition(" ")[0] for line in answered)

    examine()
    assert counts["answered"] > counts["followed"] / 10, counts
    assert counts["found"] > 20, counts


@pytest.mark.requires("interpreted engine")
def test_what_an_iteration_makes_anew_is_widened_at_once(tmp_path: Path) -> None:
    rounds, counts = Counter[str](), Counter[str]()
    turn = loops._turn

    @MANY
    @given(calling.loops())
    def examine(program: str) -> None:
        def counted(*given: Any) -> Any:
            rounds[kind] += 1
            return turn(*given)

        with mock.patch.object(loops, "_turn", counted):
            kind = "at once"
            at_once = _findings(program, tmp_path)
            kind = "step by step"
            with (
                mock.patch.object(loops, "repeated", lambda _vm, value, _wild: value),
                mock.patch.object(join, "repeated", lambda _vm, value, _wild: value),
            ):
                assert _findings(program, tmp_path) == at_once, program
        counts["found"] += bool(at_once)

    examine()
    assert rounds["at once"] < 0.8 * rounds["step by step"], rounds
    assert counts["found"] > 5


def _findings(program: str, folder: Path) -> list[str]:
    return [line for line in said(program, folder) if ":" in line.partition(" ")[0]]


@pytest.mark.parametrize(
    ("before", "now", "pairs"),
    [("ab", "cd", True), ("ab", "cc", False), ("aa", "cd", False), ("aa", "cc", True), ("ab", "ba", True)],
)
def test_unknowns_are_paired_one_to_one(before: str, now: str, pairs: bool) -> None:
    for kind in (_opaque, _size, _tensor):
        made = {name: kind(name, serial) for serial, name in enumerate("abcd", 1)}
        left, right = (Tup(tuple(made[name] for name in names)) for names in (before, now))
        assert Correspondence().match(left, right) is pairs


def test_what_is_the_same_object_holds_no_unknown_that_is_another_one_now() -> None:
    x, y = _opaque("x", 1), _opaque("y", 2)
    held = Tup((x,))
    pairs = Correspondence()
    assert pairs.match(Tup((x, held)), Tup((y, held)))
    assert not pairs.holds(lambda value: frozenset({x}) if value is held else frozenset())


def _opaque(name: str, serial: int) -> Opaque:
    return Opaque(name, serial)


def _size(name: str, serial: int) -> Tup:
    return Tup((Tensor("torch", Shape.of(Dim.symbol(Symbol(name, serial)) * 2, 3)),))


def _tensor(name: str, serial: int) -> Tensor:
    return Tensor("torch", Shape.of(Dim.symbol(Symbol(name, serial))), ident=serial)
