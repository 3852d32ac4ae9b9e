"""docs/action.md, autofix.md and nightly.md do what they say: each command is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from delivery.fake_github import serve
from delivery.pages import ROOT, blocks, shell
from delivery.repositories import git
from delivery.workshop import BASE, Workshop

pytestmark = pytest.mark.requires("bash", "git", "yaml")
TRAINING = (ROOT / "examples" / "training" / "torch_loop.py").read_text("utf-8")


@pytest.mark.parametrize("commands", blocks("action.md", "sh"))
def test_commands_of_the_action(commands: str, folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src" / "broken.py").write_text("import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(4, 5)\n")
    (folder / "train.py").write_text(TRAINING)
    done = shell(commands, folder)
    assert done.returncode == 0, done.stderr
    assert "error SHP101 matmul-mismatch" in done.stdout
    assert "::error file=src/broken.py" in done.stdout
    assert "SHP101" in (folder / "distml.sarif").read_text()


def test_commands_of_adoption(folder: Path) -> None:
    """As printed, in order, in a project with an old finding and then a new one."""
    broken = "import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(4, 5)\n"
    (folder / "old.py").write_text(broken)
    git(folder, "init", "-q", "-b", "main")
    write, check, shrink = blocks("adoption.md", "sh baseline")
    (since,) = blocks("adoption.md", "sh since")
    for commands in (write, check, shrink):
        done = shell(commands, folder)
        assert done.returncode == 0, done.stdout + done.stderr
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    git(folder, "commit", "-q", "--allow-empty", "-m", "second")
    assert shell(since, folder).returncode == 0
    (folder / "new.py").write_text(broken)
    hooks = re.findall(r"args: \[(.*)\]", blocks("pre-commit.md", "yaml old")[0])
    assert len(hooks) == 2
    given = [f"distml check {' '.join(each.split(', '))} old.py new.py" for each in hooks]
    for commands in (check, *since.splitlines(), *given):
        done = shell(commands, folder)
        assert done.returncode == 1, done.stderr
        assert "new.py:3" in done.stdout
        assert "old.py" not in done.stdout


@pytest.mark.requires("distml.interp.check")
def test_commands_that_fix(folder: Path) -> None:
    train = folder / "train.py"
    train.write_text("import torch  # distml: ignore[SHP101]\n\nx = torch.zeros(6 / 2)\n")
    (commands,) = blocks("usage.md", "sh")
    show, write = commands.splitlines()
    done = shell(show, folder)
    assert (done.returncode, done.stderr) == (1, "")
    assert "+x = torch.zeros(6 // 2)\n" in done.stdout
    assert shell(write, folder).returncode == 0
    assert train.read_text() == "import torch\n\nx = torch.zeros(6 // 2)\n"


def test_the_table_of_inputs_is_that_of_the_action() -> None:
    described = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    page = (ROOT / "docs" / "action.md").read_text("utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    assert [row[1].strip().strip("`") for row in rows] == list(described)
    shown = {row[1].strip().strip("`"): row[2].strip().strip("`") for row in rows}
    assert all(
        shown[name] == each["default"] for name, each in described.items() if each["default"] in ("false", "error")
    )


def test_commands_of_autofix(tmp_path: Path) -> None:
    """In the order of the page: what one writes the next publishes."""
    shop = Workshop(tmp_path)
    shop.commit(BASE, {"train.py": TRAINING})
    git(shop.clone, "pull", "-q")
    for commands in [*blocks("autofix.md", "sh"), *blocks("autofix.md", "sh token")]:
        with serve(lambda method, path, body, _headers: shop.forge.handle(method, path, body)) as address:
            token = {"GITHUB_TOKEN": "t", "GITHUB_API_URL": address} if "--apply" in commands else {}
            done = shell(commands.replace("OWNER/NAME", "o/r").replace("LOGIN", "ann"), shop.clone, **token)
        assert done.returncode == 0, (commands, done.stderr)


def test_commands_of_autofix_from_a_fork(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, fork="p")
    git(shop.clone, "remote", "remove", "fork")
    (commands,) = blocks("autofix.md", "sh fork")
    here = commands.replace("https://github.com/ME/NAME.git", str(shop.home))
    compute = "distml autofix --repo o/r --base main --compute fixes.json\n"
    with serve(lambda method, path, body, _headers: shop.forge.handle(method, path, body)) as address:
        asked = compute + here.replace("OWNER/NAME", "o/r").replace("ME/NAME", "p/r")
        done = shell(asked, shop.clone, GITHUB_TOKEN="t", GITHUB_API_URL=address)
    assert done.returncode == 0, done.stderr
    assert [pull["head"] for pull in shop.forge.open] == ["p:distml/autofix"]


def test_the_table_of_options_is_that_of_autofix() -> None:
    page = (ROOT / "docs" / "autofix.md").read_text("utf-8")
    shown = shell("distml autofix --help", ROOT).stdout
    listed = {word for word in shown.replace("[", " ").replace("]", " ").split() if word.startswith("--")} - {"--help"}
    assert {word.rstrip(",:;") for word in listed} - {"--help"} <= set(page.replace("`", " ").replace(",", " ").split())


@pytest.mark.requires("torch")
def test_commands_of_the_nightly_run(tmp_path: Path) -> None:
    smoke, sweep = blocks("nightly.md", "sh")
    with left_over() as process:
        swept = shell(sweep, ROOT)
        assert swept.returncode == 0, swept.stderr
        assert process.wait(timeout=10) == -9
    summary = tmp_path / "summary.md"
    done = shell(smoke.replace("--out smoke", f"--out {tmp_path}"), ROOT, GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| `torch_loop.py` | 2 | passed |" in summary.read_text()
    assert sorted(path.name for path in tmp_path.glob("torch_loop-2.*")) == ["torch_loop-2.json", "torch_loop-2.md"]


@pytest.mark.requires("torch")
def test_the_nightly_run_says_what_is_wrong_with_gpus(tmp_path: Path) -> None:
    command = [
        sys.executable,
        str(ROOT / ".ci" / "nightly"),
        "--torch",
        sys.executable,
        "--launcher",
        "torchrun",
        "1000",
    ]
    environment = {**os.environ, "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("preflight: ")
    assert "Nothing ran" in (tmp_path / "summary.md").read_text()


@contextmanager
def left_over() -> Iterator[subprocess.Popen[bytes]]:
    """A process such as a run that was cut off leaves behind."""
    environment = {**os.environ, "DISTML_NIGHTLY": "earlier"}
    process = subprocess.Popen(["sleep", "300"], env=environment, start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
