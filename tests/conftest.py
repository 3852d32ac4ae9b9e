"""Options of the test run, and tests that need tools.

A test that needs something that may be absent says so, `@pytest.mark.requires("torch", "git")`: modules or programs.
Where one is absent the test is skipped and listed by name at the end as not run. With `DISTML_REQUIRE=all`, as in CI,
every skipped test is a failure instead.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from distml.source.memory import collect_seldom

# Which examples there are depends on the test alone, and how long they take on the load of the machine: neither may fail a
# run. `--hypothesis-profile=explore` looks for new ones.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", settings.get_profile("explore"), derandomize=True, database=None)
settings.load_profile("steady")

pytest_plugins = ["pytester"]

NOT_RUN = "not run: needs "


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("distml")
    group.addoption("--update-cases", action="store_true", help="write the expectations of tests/cases anew")
    group.addoption("--update-docs", action="store_true", help="write docs/rules and docs/ops anew")


def pytest_configure(config: pytest.Config) -> None:
    """Let what mypy learns of the standard library be shared, by this run alone: it takes longer than the tests."""
    collect_seldom()
    folder = TemporaryDirectory(prefix="distml-mypy-")
    config.add_cleanup(folder.cleanup)
    os.environ["MYPY_CACHE_DIR"] = folder.name


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Share out the tests as tests/schedule.py says, unless `--dist` asks for another way."""
    if config.getvalue("dist") != "load":
        return None
    from schedule import Schedule

    return Schedule(config, log)


INTERPRETED = "interpreted engine"
"""What a test needs that puts its own functions in the place of the engine's: compiled ones are called as they are."""


def present(tool: str) -> bool:
    """Whether a module can be imported, or a program is on the path or beside this Python."""
    if tool == INTERPRETED:
        found = find_spec("distml.interp.machine")
        return found is not None and str(found.origin).endswith(".py")
    try:
        if find_spec(tool) is not None:
            return True
    except ModuleNotFoundError:
        pass
    return bool(shutil.which(tool) or shutil.which(tool, path=os.path.dirname(sys.executable)))


def pytest_runtest_setup(item: pytest.Item) -> None:
    wanted = [tool for mark in item.iter_markers("requires") for tool in mark.args]
    absent = [tool for tool in wanted if not present(tool)]
    if absent:
        pytest.skip(NOT_RUN + ", ".join(absent))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if os.environ.get("DISTML_REQUIRE") == "all" and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{reason(report)} (DISTML_REQUIRE=all)"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    report = yield
    if os.environ.get("DISTML_REQUIRE") == "all" and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"{reason(report)} (DISTML_REQUIRE=all)"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped:
        terminalreporter.section("not run")
        for report in skipped:
            terminalreporter.write_line(f"not run: {report.nodeid}: {reason(report).removeprefix('not run: ')}")


def reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test was skipped."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


@pytest.fixture(autouse=True)
def _own_cache(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the cache of whoever runs it, or that of another test."""
    base = request.getfixturevalue("tmp_path_factory").getbasetemp()
    monkeypatch.setenv("DISTML_CACHE_DIR", f"{base}/cache/{abs(hash(request.node.nodeid))}")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder that is a project of its own."""
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path
