"""No command of distml that only looks at a tree, or rewrites it, runs what the tree or git's environment names."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from distml.cli.main import main
from distml.cli.watch import states
from distml.engine.config import load

from delivery.fake_github import serve
from delivery.pages import ROOT
from delivery.repositories import git
from delivery.traps import HOOKS, Traps
from delivery.workshop import BASE, BRANCH, Workshop

pytestmark = pytest.mark.requires("git", "github_action_toolkit")

FILES = {
    "pyproject.toml": "[tool.distml]\nrespect-gitignore = true\njobs = 0\n",
    ".gitignore": "out/\n",
    ".gitattributes": "* filter=trap diff=trap merge=trap\n",
    ".gitmodules": '[submodule "trap"]\n\tpath = pkg\n\turl = https://github.com/o/r\n\tupdate = checkout\n',
    "net.py": "import torch\n\nsize = torch.zeros(8 / 2)\nb = torch.zeros(2)  # distml: ignore[SHP101]\n",
    "model.py": "import torch\n\n\ndef f(x):\n    if x.dim() > 7:\n        return x\n    return torch.nn.Linear(3, 4)(x)\n",
    "proto.py": (ROOT / "examples" / "choreographies" / "ping_pong.py").read_text("utf-8"),
    "train.py": (ROOT / "examples" / "training" / "torch_loop.py").read_text("utf-8"),
}
COMMANDS = {
    "check": ["check", "."],
    "check --diff": ["check", "--diff"],
    "check --fix": ["check", "--fix"],
    "check, standard input": ["check", "--stdin-filename", "net.py"],
    "check --format github": ["check", "--format", "github"],
    "check --since": ["check", "--since", "HEAD~1"],
    "migrate": ["migrate", "model.py"],
    "migrate --write": ["migrate", "model.py::f", "--write"],
    "branches": ["branches", "model.py"],
    "branches --write": ["branches", "model.py", "--write"],
    "project": ["project", "proto.py", "-o", "parties"],
    "project --diagram": ["project", "proto.py", "--diagram", "-o", "parties"],
    "horovod": ["horovod"],
    "horovod --diff": ["horovod", "--diff", "."],
    "horovod --write": ["horovod", "--write", "train.py"],
    "autofix --dry-run": ["autofix", "--repo", "o/r", "--horovod", ".", "--dry-run"],
    "autofix --compute": ["autofix", "--repo", "o/r", "--compute", "fixes.json"],
}

CLONES = ("check --since", "autofix --dry-run", "autofix --compute")


def watched() -> int:
    """What `check --watch` does between two looks."""
    return int(not states(["."], load(None, ".")))


def acted() -> int:
    from distml.action import run

    return run.main()


RUNS: dict[str, Callable[[], int]] = {
    **{name: lambda arguments=arguments: main(arguments) for name, arguments in COMMANDS.items()},
    "check --watch": watched,
    "the Action": acted,
}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    made = Workshop(tmp_path)
    made.commit(BASE, FILES)
    git(made.clone, "pull", "-q")
    git(made.clone, "branch", "-q", "earlier", "HEAD~1")
    monkeypatch.chdir(made.clone)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FILES["net.py"].encode())))
    for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_REPOSITORY", "GITHUB_API_URL", "GITHUB_EVENT_PATH"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        (tmp_path / name).touch()
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    monkeypatch.setenv("INPUT_FIX", "true")
    return made


@pytest.mark.parametrize("name", RUNS)
def test_a_repository_runs_nothing(name: str, shop: Workshop, tmp_path: Path) -> None:
    traps = Traps(tmp_path / "traps")
    traps.configure(shop.clone / ".git", origin=str(tmp_path))
    assert RUNS[name]() in (0, 1)
    assert traps.sprung == set()


@pytest.mark.parametrize("name", RUNS)
def test_the_environment_of_git_runs_nothing(
    name: str, shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traps = Traps(tmp_path / "traps")
    for variable, value in traps.environment().items():
        monkeypatch.setenv(variable, value)
    assert RUNS[name]() in (0, 1)
    assert traps.sprung == set()
    assert not (tmp_path / "traps" / "traced").exists()


@pytest.mark.parametrize("name", RUNS)
def test_an_embedded_repository_runs_nothing(
    name: str, shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of the tree that git takes for a repository without a working tree, its configuration in the commit."""
    traps = Traps(tmp_path / "traps")
    inner = shop.clone / "pkg"
    git(shop.clone, "init", "-q", "--bare", "--template=", str(inner))
    traps.configure(inner, "[core]\n\tbare = false\n\tworktree = .\n")
    for file, text in FILES.items():
        (inner / file).write_text(text)
    monkeypatch.chdir(inner)
    assert RUNS[name]() in ((2,) if name in CLONES else (0, 1)), "these ask for a clone"
    assert traps.sprung == set()


def test_publishing_runs_nothing(shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    traps = Traps(tmp_path / "traps")
    traps.configure(shop.clone / ".git")
    before = git(shop.bare, "for-each-ref")
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_secret")
    with serve(lambda method, path, body, _headers: shop.forge.handle(method, path, body)) as address:
        assert main(["autofix", "--repo", "o/r", "--api-url", address]) == 0
    assert BRANCH in git(shop.bare, "for-each-ref") and BRANCH not in before
    assert traps.sprung == set()


def test_an_address_that_runs_a_command_is_refused(
    shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    traps = Traps(tmp_path / "traps")
    traps.configure(shop.clone / ".git", origin=str(tmp_path))
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_secret")
    assert main(["autofix", "--repo", "o/r", "--api-url", "https://localhost:1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert traps.sprung == set()


def test_autofix_writes_nothing_into_the_clone(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    def listed() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in shop.clone.rglob("*") if path.is_file()}

    before = listed()
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_secret")
    assert main(["autofix", "--repo", "o/r", "--dry-run"]) == 0
    with serve(lambda method, path, body, _headers: shop.forge.handle(method, path, body)) as address:
        assert main(["autofix", "--repo", "o/r", "--api-url", address]) == 0
    assert listed() == before


def test_the_traps_work(shop: Workshop, tmp_path: Path) -> None:
    """Plain git springs them, so that the tests above could fail."""
    traps = Traps(tmp_path / "traps")
    traps.configure(shop.clone / ".git")
    (shop.clone / "net.py").write_text("x = 1\n")
    easy = "-c filter.trap.process= -c filter.trap.required=false -c core.hooksPath=.git/hooks"
    for command in (
        "status",
        "check-ignore net.py",
        "add net.py",
        f"{easy} diff",
        f"{easy} add net.py",
        f"{easy} -c commit.gpgSign=false commit -q",
        f"{easy} commit -q -m x",
        f"{easy} -c diff.external= -c diff.trap.command= log -p -1",
        "trapped",
        "-c push.gpgSign=false push -q origin main",
        "fetch -q origin",
        "fetch -q trap",
        "ls-remote git://localhost:1/x",
        "ls-remote ssh://localhost:1/x",
        "archive --format=trap HEAD",
        "update-ref refs/heads/x HEAD",
    ):
        subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@b.example", *command.split()],
            cwd=shop.clone,
            input=b"",
            capture_output=True,
            timeout=60,
            check=False,
        )
    expected = {
        "core.fsmonitor",
        "diff.trap.command",
        "alias.trapped",
        "gpg.openpgp.program",
        "remote.origin.uploadpack",
    }
    expected |= {"remote.origin.receivepack", "remote.trap.url", "core.sshCommand", "core.gitProxy", "core.editor"}
    expected |= {"filter.trap.process", "tar.trap.command", "diff.trap.textconv"}
    assert expected - traps.sprung == set()
    assert {each.partition("/")[0] for each in traps.sprung} >= {"hooks", "core.hooksPath"}
    assert len([each for each in traps.sprung if each.partition("/")[2] in HOOKS]) > 3
