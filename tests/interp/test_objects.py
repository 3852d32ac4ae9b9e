"""The state of objects: programs that Hypothesis writes are run for real; one that runs has no finding, neither whole nor
without the lines that use what it defines."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings

from interp.objects import Program, changed, filled, mistaken
from interp.programs import errors_of, run, shown

pytestmark = [pytest.mark.requires("torch"), pytest.mark.filterwarnings("ignore")]
MANY = settings(max_examples=120, suppress_health_check=list(HealthCheck))


def runs(program: Program) -> bool:
    """Whether a program ends without an error."""
    return run(program.whole, {}, lambda value: value) is None


@pytest.mark.parametrize("kind", [filled, changed])
def test_what_runs_has_no_finding(kind: object) -> None:
    counts: Counter[bool] = Counter()

    @MANY
    @given(kind())  # type: ignore[operator]
    def examine(program: Program) -> None:
        good = runs(program)
        counts[good] += 1
        if good:
            for text in (program.whole, program.definitions):
                found = errors_of(text)
                assert not found, f"{shown(found[0])}\n{text}"

    examine()
    assert counts[True] > 0.6 * counts.total()


def test_a_mistake_about_what_a_constructor_fixed_is_found() -> None:
    @MANY
    @given(mistaken())
    def examine(program: Program) -> None:
        lines = program.definitions.splitlines()
        found = errors_of(program.definitions)
        assert [lines[each.span.line - 1].endswith("# here") for each in found] == [True], program.definitions

    examine()
