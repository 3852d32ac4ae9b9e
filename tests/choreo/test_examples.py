"""The choreographies in examples/: accepted, projected to programs that mypy accepts, and run to the right result."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from choreo.plays import PLAYS, Play, product, sorting
from choreo.runtime.certificates import identities
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.choreo.project import project_source
from distml.choreo.runtime import run_parties
from distml.cli.main import main

EXAMPLES = sorted(Path(__file__).parents[2].joinpath("examples/choreographies").glob("*.py"))
ROLES = sorted({role for play in PLAYS.values() for role in play.parties})


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with every projection, `<example>_<role>.py`, from which they can be imported."""
    folder = tmp_path_factory.mktemp("projected")
    for path in EXAMPLES:
        for role, text in project_source(path.read_text("utf-8"), path.name).files.items():
            (folder / f"{path.stem}_{role.lower()}.py").write_text(text, "utf-8")
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder
    for name in {each.stem for each in folder.glob("*.py")} & set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return identities(tmp_path_factory.mktemp("certificates"), ROLES)


def perform(play: Play, **options: Any) -> dict[str, Any]:
    """The results of a play by role, each party with its own program."""
    modules: Mapping[str, Any] = {role: import_module(f"{play.example}_{role.lower()}") for role in play.parties}
    parties = {role: partial(party, modules[role]) for role, party in play.parties.items()}
    wire = {role: getattr(module, "WIRE", ()) for role, module in modules.items()}
    return run_parties(parties, wire=wire, timeout=20, **options)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_nothing_is_found(path: Path) -> None:
    found = project_source(path.read_text("utf-8"), path.name)
    assert found.findings == ()
    assert found.files


def test_distml_check_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither choreographies nor anything else that distml knows: `make demo` shows mistakes in other examples only."""
    assert main(["check", str(EXAMPLES[0].parent), "--no-cache"]) == 0
    assert f"{len(EXAMPLES)} files checked" in capsys.readouterr().out


def test_every_example_is_played() -> None:
    assert {play.example for play in PLAYS.values()} == {path.stem for path in EXAMPLES}


@pytest.mark.requires("mypy")
def test_mypy_accepts_examples_and_projections(programs: Path, request: pytest.FixtureRequest) -> None:
    from mypy import api

    cache = request.config.cache.mkdir("choreographies")
    options = ["--strict", "--config-file=", f"--cache-dir={cache}"]
    files = [str(path) for path in (*EXAMPLES, *sorted(programs.glob("*.py")))]
    output, errors, status = api.run([*options, *files])
    assert (status, errors) == (0, ""), output


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("name", PLAYS)
def test_over_threads(name: str) -> None:
    assert perform(PLAYS[name]) == PLAYS[name].expected


@pytest.mark.usefixtures("programs")
@pytest.mark.requires("openssl")
@pytest.mark.parametrize("name", PLAYS)
def test_over_tcp_with_tls(name: str, tls: Any) -> None:
    assert perform(PLAYS[name], transport="tcp", tls=tls) == PLAYS[name].expected


@pytest.mark.usefixtures("programs")
@settings(max_examples=30)
@given(st.lists(st.integers(-20, 20), max_size=10))
def test_any_list_is_sorted(items: list[int]) -> None:
    for play in (sorting("merge_sort", "MergeSort", items), sorting("quick_sort", "QuickSort", items)):
        assert perform(play) == play.expected


@pytest.mark.usefixtures("programs")
@settings(max_examples=30)
@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_any_numbers_are_multiplied(left: int, right: int) -> None:
    play = product(left, right)
    assert perform(play) == play.expected
