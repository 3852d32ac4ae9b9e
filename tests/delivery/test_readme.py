"""README.md does what it says: its commands are run on a project that has the files they name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from delivery.pages import MODEL, ROOT, fenced, shell

README = (ROOT / "README.md").read_text("utf-8")
COMMANDS = [
    line
    for block in [body for info, body in fenced("README.md") if not info]
    for line in block.splitlines()
    if re.match(r"(\$ )?distml ", line)
]
ELSEWHERE = ("distml smoke",)
"""What the test of another page runs."""
PROTOCOL = """\
from distml.choreo import At, Channel, Role


class Client(Role): ...
class Server(Role): ...


def doubled(ch: Channel[object, Client, Server], n: At[int, Client]) -> At[int, Client]:
    asked: At[int, Server] = ch.com(n)
    answer: At[int, Server] = asked * 2
    return ch.com(answer)
"""


@pytest.fixture
def project(folder: Path) -> Iterator[Path]:
    (folder / "src").mkdir()
    (folder / "src" / "good.py").write_text("import torch\n\nx = torch.zeros(2, 3)\n")
    (folder / "train.py").write_text((ROOT / "examples" / "training" / "torch_loop.py").read_text())
    (folder / "model.py").write_text(MODEL)
    (folder / "protocol.py").write_text(PROTOCOL)
    yield folder


@pytest.mark.parametrize("command", [each.removeprefix("$ ") for each in COMMANDS if ELSEWHERE[0] not in each])
def test_commands(command: str, project: Path) -> None:
    done = shell(command, project)
    expected = 1 if "--diff" in shlex.split(command, comments=True) else 0
    assert done.returncode == expected, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_an_unsaved_buffer(project: Path) -> None:
    (command,) = re.findall(r"`(distml check --stdin-filename [^`]*)`", README)
    (project / "buffer").write_text("import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(4, 5)\n")
    done = shell(command, project)
    assert done.returncode == 1
    assert '"path": "model.py"' in done.stdout


def test_every_link_leads_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in [*pages, ROOT / "benchmarks" / "README.md", ROOT / "examples" / "README.md"]
        for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", re.sub(r"`[^`]*`", "", page.read_text("utf-8")))
        if not (page.parent / link).exists()
    ]
    assert broken == []
