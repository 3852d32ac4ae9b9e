"""Every command that writes, in layouts that lead it elsewhere: nothing outside changes, and nothing inside by halves."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from distml.cli.main import main

from delivery.pages import ROOT
from delivery.repositories import git
from writing.layouts import put, state

NET = "import torch\n\nsize = torch.zeros(8 / 2)\n"
MODEL = "import torch\n\n\ndef f(x: torch.Tensor):\n    y = torch.nn.Linear(3, 4)(x)\n    assert y.shape[-1] == 4\n    return y\n"
TRAINING = (ROOT / "examples" / "training" / "torch_loop.py").read_text("utf-8")
PROTOCOL = (ROOT / "examples" / "choreographies" / "ping_pong.py").read_text("utf-8")

REWRITES = {
    "check --fix": (NET, ["check", "--fix", "--no-cache", "--exit-zero"]),
    "check --fix, by name": (NET, ["check", "--fix", "--no-cache", "--exit-zero", "a.py"]),
    "migrate": (MODEL, ["migrate", "a.py::f", "--write"]),
    "branches": (MODEL, ["branches", "a.py", "--write"]),
    "horovod": (TRAINING, ["horovod", "--write", "a.py"]),
}
MAKES = {
    "project": (["project", "proto.py", "-o", "made"], "made/proto_client.py"),
    "project --diagram": (["project", "proto.py", "--diagram", "-o", "made"], "made/proto_ping_pong.mmd"),
    "autofix --compute": (["autofix", "--repo", "o/r", "--compute", "made/fixes.json"], "made/fixes.json"),
    "the Action": ([], "made/out.sarif"),
}
LEADS_ON = ("link", "hard link")
REFUSED = ("link out", "shared out", "dangling", "folder", "fifo", "read-only")


def run(arguments: list[str]) -> int:
    if arguments:
        return main(arguments)
    from distml.action import run as action

    return action.main()


@pytest.fixture
def places(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Path]:
    """The working folder, and one outside."""
    outer = tmp_path_factory.mktemp("outer")
    (folder / "proto.py").write_text(PROTOCOL)
    git(folder, "init", "-q", "-b", "main", "--template=")
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "x")
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        (outer.parent / name).touch()
        monkeypatch.setenv(name, str(outer.parent / name))
    monkeypatch.setenv("RUNNER_TEMP", str(folder))
    monkeypatch.setenv("INPUT_SARIF_FILE", "made/out.sarif")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return folder, outer


def seen(folder: Path) -> dict[str, tuple[object, ...]]:
    return {name: each for name, each in state(folder).items() if not name.startswith(".git")}


@pytest.mark.parametrize("layout", [*LEADS_ON, "link out", "shared out", "read-only", "folder out"])
@pytest.mark.parametrize("command", REWRITES)
def test_rewriting(command: str, layout: str, places: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    here, outer = places
    text, arguments = REWRITES[command]
    if layout == "folder out":
        (outer / "a.py").write_text(text)
        (here / "sub").symlink_to(outer)
        arguments = [each.replace("a.py", "sub/a.py") for each in arguments]
        if "sub/a.py" not in " ".join(arguments):
            arguments = [*arguments, "sub"]
    else:
        (here / "inner").mkdir()
        put(here / "a.py", layout, here / "inner", outer)
        path = here / "a.py"
        mode = path.stat().st_mode
        path.chmod(0o644)
        path.write_text(text)
        path.chmod(mode)
    before, outside = seen(here), state(outer)
    code = run(arguments)
    assert state(outer) == outside
    if layout in LEADS_ON:
        assert code in (0, 1)
        after = seen(here)
        assert after["a.py"] != before["a.py"] or after["inner/other-a.py"] != before["inner/other-a.py"]
        assert (here / "a.py").read_text() == (here / "inner" / "other-a.py").read_text() != text
        assert {name: each[:3] for name, each in after.items()} == {name: each[:3] for name, each in before.items()}
    else:
        assert code == 2
        assert seen(here) == before
        lines = [each for each in capsys.readouterr().err.splitlines() if each.startswith("distml: ")]
        assert len(lines) == 1, lines


def made_before(arguments: list[str], path: Path) -> str:
    """What an earlier run made at a path, and somebody changed since: `project` replaces nothing else."""
    elsewhere = path.parent.with_name("before")
    assert run([str(elsewhere) if each == path.parent.name else each for each in arguments]) == 0
    text = (elsewhere / path.name).read_text()
    for each in elsewhere.iterdir():
        each.unlink()
    elsewhere.rmdir()
    first, _, rest = text.partition("\n")
    return f"{first}\n\n{rest}"


@pytest.mark.requires("git", "github_action_toolkit")
@pytest.mark.parametrize("layout", [*LEADS_ON, *REFUSED, "folder out", "case"])
@pytest.mark.parametrize("command", MAKES)
def test_making(command: str, layout: str, places: tuple[Path, Path], capfd: pytest.CaptureFixture[str]) -> None:
    here, outer = places
    arguments, name = MAKES[command]
    if layout == "folder out":
        (here / "made").symlink_to(outer)
    else:
        (here / "inner").mkdir()
        (here / "made").mkdir()
        if layout == "case":
            (here / Path(name).with_name(Path(name).name.upper())).write_text("there")
        else:
            put(here / name, layout, here / "inner", outer)
        if layout in LEADS_ON and command.startswith("project"):
            (here / name).write_text(made_before(arguments, here / name))
    before, outside = seen(here), state(outer)
    old = (here / name).read_text() if layout in LEADS_ON else ""
    code = run(arguments)
    said = capfd.readouterr()
    assert state(outer) == outside
    if layout in LEADS_ON:
        assert code == 0
        assert (here / name).read_text() == (here / "inner" / f"other-{Path(name).name}").read_text() != old
    else:
        assert code == 2
        assert seen(here) == before
        assert len([each for each in [*said.err.splitlines(), *said.out.splitlines()] if "error" in each]) == 1


def test_roles_that_differ_in_case(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "p.py").write_text(PROTOCOL.replace("Server", "client"))
    assert main(["project", "p.py", "-o", "made"]) == 2
    assert "would be one file with" in capsys.readouterr().err
    assert not (folder / "made").exists()


def test_a_file_that_cannot_be_written_costs_no_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (folder / name).write_text(NET)
    (folder / "b.py").chmod(0o444)
    assert main(["check", "--fix"]) == 2
    assert [(folder / name).read_text() == NET for name in ("a.py", "b.py", "c.py")] == [False, True, False]
    assert capsys.readouterr().err.count("not fixed: b.py: it is read-only") == 1


def test_the_cache_follows_no_link(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    from distml.engine.store import Store

    outer = tmp_path_factory.mktemp("outer")
    (outer / "precious").write_text("precious")
    (folder / "ab").mkdir()
    (folder / "ab" / "cd").symlink_to(outer / "precious")
    (folder / "CACHEDIR.TAG").symlink_to(outer / "precious")
    store = Store(str(folder))
    store.write("abcd", b"result")
    store.write("efgh", b"result")
    assert (store.read("abcd"), store.read("efgh")) == (b"result", b"result")
    assert (outer / "precious").read_text() == "precious"
