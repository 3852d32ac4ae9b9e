"""Programs whose numbers come from command lines and files, in two versions each: a bug is found at the line that raises, and
its good twin is silent.

A file of `configured/` holds `<<good|bad>>` where the twins differ, further files behind `#--- name`, the line that raises
behind `#--- raises`, and `# run: words` first where the real run needs words on its command line.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from distml.engine.config import Config
from distml.engine.one import check_one
from distml.source.project import Project

TEXTS = {path.stem: path.read_text("utf-8") for path in sorted((Path(__file__).parent / "configured").glob("*.txt"))}
SILENT = {
    path.stem: path.read_text("utf-8") for path in sorted((Path(__file__).parent / "configured/silent").glob("*"))
}
"""Programs that fail on some command lines only, or behind what ends them."""
ABSENT = ("hydra", "lightning")
"""Libraries that the test environment lacks: what raises was recorded with hydra-core 1.3.8 and lightning 2.6.6."""
_DIFFERENCE = re.compile(r"<<(.*?)\|(.*?)>>", re.DOTALL)
RUNS = """
import json, os, runpy, sys, traceback
import absl.flags, click, fire, numpy, omegaconf, torch, typer, yaml

torch.set_num_threads(1)
for words in json.loads(sys.stdin.read()):
    sys.stdout.flush()
    if os.fork() == 0:
        os.chdir(os.path.dirname(words[0]))
        sys.argv = words
        sys.path.insert(0, os.path.dirname(words[0]))
        out, sys.stdout, sys.stderr = sys.stdout, open(os.devnull, "w"), open(os.devnull, "w")
        lines = []
        try:
            runpy.run_path(words[0], run_name="__main__")
        except SystemExit as error:
            lines = [0] if error.code else []
        except Exception as error:
            lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == words[0]]
        print(json.dumps([words[0], lines]), file=out, flush=True)
        os._exit(0)
    os.wait()
"""


def made(name: str, kind: str, folder: Path) -> Path:
    """The program of one twin with its files, in a folder of its own."""
    text = _DIFFERENCE.sub(lambda each: each[1 if kind == "good" else 2], TEXTS[name])
    first, *rest = re.split(r"^#--- (\S+)\n", text, flags=re.MULTILINE)
    for path, content in [("main.py", first), *zip(rest[::2], rest[1::2], strict=True)]:
        file = folder / name / kind / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
    return folder / name / kind / "main.py"


def line_of(name: str) -> int:
    """The line that raises in the bad twin."""
    return int(TEXTS[name].rpartition("#--- raises\n")[2])


def found(program: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Where the findings on a program are."""
    monkeypatch.chdir(program.parent)
    result = check_one("main.py", Project(str(program.parent)), Config())
    return [(each.span.path, each.span.line) for each in result.diagnostics]


@pytest.mark.parametrize("name", TEXTS)
def test_the_bug_is_found_and_its_twin_is_silent(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(made(name, "good", tmp_path), monkeypatch) == []
    assert ("main.py", line_of(name)) in found(made(name, "bad", tmp_path), monkeypatch)


@pytest.mark.parametrize("name", SILENT)
def test_what_another_command_line_changes_is_no_bug(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "main.py"
    program.write_text(SILENT[name], "utf-8")
    assert found(program, monkeypatch) == []


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[int]]:
    """The lines through which each program leaves with an exception, by its path."""
    folder = tmp_path_factory.mktemp("configured")
    names = [name for name in TEXTS if not name.startswith(ABSENT)]
    words = []
    for name in names:
        said = re.match(r"# run: (.*)", TEXTS[name])
        words += [[str(made(name, kind, folder)), *(said[1].split() if said else ())] for kind in ("good", "bad")]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUNS],
        input=json.dumps(words),
        capture_output=True,
        text=True,
        check=True,
    )
    return {"/".join(Path(path).parts[-3:-1]): lines for path, lines in map(json.loads, done.stdout.splitlines())}


@pytest.mark.requires("torch", "absl", "click", "fire", "omegaconf", "typer", "yaml")
@pytest.mark.parametrize("name", [name for name in TEXTS if not name.startswith(ABSENT)])
def test_the_twins_run_as_they_say(name: str, ends: Mapping[str, list[int]]) -> None:
    assert ends[f"{name}/good"] == []
    assert ends[f"{name}/bad"][-1] == line_of(name)
