"""The tutorial: its choreographies are accepted, projected and run, and what it calls refused is refused."""

from __future__ import annotations

import re
import subprocess
import sys
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import pytest

from distml.choreo.project import project_source
from distml.choreo.runtime import run_parties
from distml.cli.main import main

from cases.expectations import Said, compare, expectations

PAGE = Path(__file__).parents[2] / "docs" / "choreographies.md"
BLOCKS = re.findall(r"^```py(?: (\S+))?\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
NAMED = {name: program for name, program in BLOCKS if name}
SCRIPTS = sorted(name for name in NAMED if name.startswith("run_"))
PROJECTED = ["ping_pong_server.py"]
CHOREOGRAPHIES = sorted(set(NAMED) - set(SCRIPTS) - set(PROJECTED))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the choreographies and the scripts of the page are, with every projection."""
    folder = tmp_path_factory.mktemp("tutorial")
    for name in CHOREOGRAPHIES:
        (folder / name).write_text(NAMED[name], "utf-8")
        assert main(["project", str(folder / name), "-o", str(folder)]) == 0
    return folder


def said(program: str) -> list[Said]:
    """What is found in a program."""
    found = project_source(program, "tutorial.py").findings
    return [Said(each.span.line, "error", each.code, each.message.splitlines()[0]) for each in found]


@pytest.mark.parametrize("program", [program for name, program in BLOCKS if not name or name in CHOREOGRAPHIES])
def test_what_is_said_of_a_program(program: str) -> None:
    assert compare(expectations(program), said(program)) == []


def test_the_page_has_what_this_file_looks_for() -> None:
    assert len(CHOREOGRAPHIES) == 4
    assert len(SCRIPTS) == 2
    assert sum(1 for name, _ in BLOCKS if not name) == 2


@pytest.mark.parametrize("name", PROJECTED)
def test_projections_are_as_shown(name: str, folder: Path) -> None:
    assert NAMED[name] == (folder / name).read_text("utf-8")


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_run(name: str, folder: Path) -> None:
    (folder / name).write_text(NAMED[name], "utf-8")
    done = subprocess.run([sys.executable, name], cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("password", "token"), [("right", "t-ann"), ("wrong", None)])
def test_authentication_gives_both_the_token_or_neither(
    password: str, token: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    client, service, provider = (import_module(f"dist_auth_{role}") for role in ("client", "service", "ip"))
    known = {"ann": sha256(b"right").hexdigest()}
    results = run_parties(
        {
            "Client": lambda ends: client.DistAuth_Client(ends["IP"]).auth("ann", password).left,
            "Service": lambda ends: service.DistAuth_Service(ends["IP"]).auth().right,
            "IP": lambda ends: provider.DistAuth_IP(ends["Client"], ends["Service"]).auth(known),
        },
        wire={"Client": client.WIRE, "Service": service.WIRE, "IP": provider.WIRE},
        timeout=20,
    )
    assert [results[role] and results[role].text for role in ("Client", "Service")] == [token, token]
