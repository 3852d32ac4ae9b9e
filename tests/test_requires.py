"""Tests that need an absent tool are reported by name, and fail where everything is required."""

from __future__ import annotations

from pathlib import Path

import pytest

PROGRAM = """
import pytest

@pytest.mark.requires("no_such_tool", "pytest")
def test_that_needs_it():
    assert False

@pytest.mark.requires("pytest", "python3")
def test_that_has_what_it_needs():
    pass
"""


@pytest.fixture
def inner(pytester: pytest.Pytester) -> pytest.Pytester:
    source = (Path(__file__).parent / "conftest.py").read_text("utf-8")
    pytester.makeconftest(source.replace('pytest_plugins = ["pytester"]', ""))
    pytester.makeini("[pytest]\nmarkers = requires(*tools): needs tools\n")
    pytester.makepyfile(PROGRAM)
    return pytester


def test_not_run_is_listed_by_name(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISTML_REQUIRE", raising=False)
    result = inner.runpytest_subprocess()
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["not run: *::test_that_needs_it: needs no_such_tool"])


def test_required_all_turns_it_into_a_failure(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISTML_REQUIRE", "all")
    result = inner.runpytest_subprocess()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*needs no_such_tool (DISTML_REQUIRE=all)*"])
