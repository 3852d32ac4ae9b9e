"""Laws: what joining and widening cover and that they end; what must not matter to the findings."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.engine.config import Config
from distml.engine.run import run
from distml.interp import functions
from distml.interp.check import CheckResult, check_file
from distml.interp.join import Wild, join_values, widen_values
from distml.interp.language import LANGUAGE
from distml.interp.machine import Machine
from distml.interp.reveal import describe
from distml.interp.session import Session
from distml.source.project import Project
from distml.values import ListRecord, Tensor, Tup, Value

from interp.real import Match, match
from interp.test_language import PROGRAMS
from ops.world import lift

ROOT = Path(__file__).parents[2]
PAIRS = sorted((ROOT / "benchmarks" / "pairs").glob("*/bad.py"))[::5]
SCALARS = st.one_of(st.integers(-3, 9), st.floats(-2, 2), st.text("ab", max_size=2), st.booleans(), st.none())


class Shaped:
    """Stands for an array of a shape."""

    dtype = "float32"

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def __repr__(self) -> str:
        return f"array{list(self.shape)}"


SHAPES = st.builds(Shaped, st.lists(st.integers(0, 4), max_size=3).map(tuple))
REAL = st.recursive(
    SCALARS | SHAPES, lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple), max_leaves=5
)


@pytest.fixture(scope="module")
def vm(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(LANGUAGE, Project(str(tmp_path_factory.mktemp("project"))), None, Session())


def made(vm: Machine, real: Any) -> Value:
    """The abstract value of a real one."""
    if isinstance(real, list):
        return vm.allocate(ListRecord(tuple(made(vm, item) for item in real)))
    if isinstance(real, tuple):
        return Tup(tuple(made(vm, item) for item in real))
    return lift(vm, real)  # type: ignore[arg-type]


def options(vm: Machine, value: Value) -> list[str]:
    """What a value may be, in words, in no order."""
    return sorted(describe(vm, value).split(" | "))


@settings(max_examples=300)
@given(st.lists(REAL, min_size=2, max_size=6))
def test_a_join_covers_what_is_joined(vm: Machine, reals: list[Any]) -> None:
    values = [made(vm, real) for real in reals]
    joined = values[0]
    for value in values[1:]:
        joined = join_values(vm, joined, value)
    assert all(match(vm, joined, real) is not Match.NO for real in reals), describe(vm, joined)


@settings(max_examples=200)
@given(REAL, REAL)
def test_a_join_has_no_sides(vm: Machine, one: Any, other: Any) -> None:
    left, right = made(vm, one), made(vm, other)
    assert options(vm, join_values(vm, left, right)) == options(vm, join_values(vm, right, left))
    assert join_values(vm, left, left) == left


@settings(max_examples=200)
@given(st.lists(REAL, min_size=2, max_size=5))
def test_widening_covers_and_ends(vm: Machine, reals: list[Any]) -> None:
    values = [made(vm, real) for real in reals]
    wild = Wild()
    wide, changes = values[0], 0
    for value in [*values[1:], *values, *values]:
        before, wide = wide, widen_values(vm, wide, value, wild)
        changes += wide != before
        assert match(vm, wide, reals[values.index(value)]) is not Match.NO
    assert changes <= 6, describe(vm, wide)
    assert all(widen_values(vm, wide, value, wild) == wide for value in values)


def test_widening_shapes_ends_for_any_sequence(vm: Machine) -> None:
    shapes = [made(vm, Shaped(shape)) for shape in product((1, 2, 3), repeat=2)]
    wild = Wild()
    wide = shapes[0]
    for shape in shapes * 2:
        wide = widen_values(vm, wide, shape, wild)
    assert isinstance(wide, Tensor)
    assert wide.shape.rank == 2
    wide = widen_values(vm, wide, made(vm, Shaped((1,))), wild)
    assert isinstance(wide, Tensor)
    assert wide.shape.rank is None
    assert widen_values(vm, wide, made(vm, Shaped((4, 4, 4))), wild) == wide


def checked(program: str, folder: Path, project: Project | None = None) -> CheckResult:
    """What is found in a program, in a fresh project or one that was used before."""
    (folder / "program.py").write_text(program, "utf-8")
    project = project or Project(str(folder))
    return check_file(project.open("program.py"), project, None)


def said(result: CheckResult) -> list[str]:
    """Findings and revealed values, names of unknown sizes left out."""
    findings = [f"{each.span.line}:{each.span.column} {each.code}" for each in result.diagnostics]
    return findings + [f"{each.span.line} {re.sub(r'[a-z_]+[0-9]*', 'n', each.text)}" for each in result.revealed]


CORPUS = [
    *(pytest.param(path.read_text("utf-8"), id=path.parent.name) for path in PAIRS),
    *(pytest.param(*each.values, id=each.id) for each in PROGRAMS[::3]),
]


@pytest.mark.parametrize("program", CORPUS)
def test_checking_again_says_the_same(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(str(tmp_path))
    first = said(checked(program, tmp_path, project))
    assert said(checked(program, tmp_path, project)) == first
    assert said(checked(program, tmp_path)) == first
    with monkeypatch.context() as patch:
        patch.setattr(functions, "recall", lambda vm, function, bound: None)
        assert said(checked(program, tmp_path)) == first


def test_neither_order_nor_jobs_matter(tmp_path: Path) -> None:
    for path in PAIRS:
        (tmp_path / f"{path.parent.name}.py").write_bytes(path.read_bytes())
    names = sorted(map(str, tmp_path.glob("*.py")))
    found = [
        sorted((d.span.path, d.span.line, d.code, d.message) for d in run(paths, Config(jobs=jobs)).diagnostics)
        for paths, jobs in ((names, 0), (names[::-1], 0), (names, 2))
    ]
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > len(names) / 2
