"""Data files that a program reads: which file is meant, and when it is not what is there now."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from distml.engine.cache import Cache
from distml.engine.config import Config
from distml.engine.run import run
from distml.interp.check import check_file
from distml.source.folders import default_folder
from distml.source.project import Project

PROGRAM = """import json, os
import torch
from pathlib import Path
{before}
config = json.load(open({path}))
torch.zeros(2, config["width"]) @ torch.zeros(5, 2)
{after}
"""
WIDE, FITTING = '{"width": 4}', '{"width": 5}'


def lines(folder: Path, name: str = "main.py") -> list[int]:
    project = Project(str(folder))
    return [each.span.line for each in check_file(project.open(name), project, None).diagnostics]


def reasons(folder: Path, name: str = "main.py") -> list[str]:
    project = Project(str(folder))
    return [each.reason for each in check_file(project.open(name), project, None).lost]


def write(folder: Path, path: str = '"config.json"', before: str = "", after: str = "", name: str = "main.py") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(PROGRAM.format(path=path, before=before, after=after), "utf-8")


@pytest.mark.parametrize(
    "path",
    [
        '"config.json"',
        '"./config.json"',
        "Path('config.json')",
        "Path(__file__).parent / 'config.json'",
        "Path(__file__).resolve().parent / 'config.json'",
        "Path(__file__).with_name('config.json')",
        "os.path.join(os.path.dirname(__file__), 'config.json')",
        "os.path.join(os.path.dirname(os.path.abspath(__file__)), 'config.json')",
        "os.path.join(os.getcwd(), 'config.json')",
        "f'{os.path.dirname(os.path.realpath(__file__))}/config.json'",
        "Path.cwd() / 'config.json'",
        "str(Path(__file__).absolute().parent.joinpath('config.json'))",
        "'config.json', 'rb'",
        "'config.json', mode='r', encoding='utf-8'",
    ],
)
def test_a_path_that_is_known(path: str, tmp_path: Path) -> None:
    write(tmp_path, path)
    (tmp_path / "config.json").write_text(WIDE)
    assert lines(tmp_path) == [6]
    (tmp_path / "config.json").write_text(FITTING)
    assert lines(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("os.environ['CONFIG']", "", ""),
        ("'config.json'", "json.dump({'width': 5}, open('config.json', 'w'))", ""),
        ("'config.json'", "", "def save():\n    with open('config.json', 'w') as f:\n        json.dump({}, f)"),
        ("NAME", "NAME = 'config.json'", "def save():\n    Path(NAME).write_text('{}')"),
        ("'config.json'", "os.chdir('other')", ""),
        ("'config.json', encoding='utf-16'", "", ""),
        ("'../config.json'", "", ""),
        ("Path(__file__).parents[1] / 'config.json'", "", ""),
        ("Path.home() / 'config.json'", "", ""),
        ("os.path.expanduser('~/config.json')", "", ""),
    ],
)
def test_what_is_not_what_is_there_now(path: str, before: str, after: str, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    write(inner, path, before, after)
    for folder in (inner, tmp_path):
        (folder / "config.json").write_text(WIDE)
    assert lines(inner) == []
    assert reasons(inner)


@pytest.mark.parametrize(
    "call",
    [
        "json.load(f, cls=Other)",
        "json.load(f, object_pairs_hook=list)",
        "json.load(f, **options)",
        "json.loads(f.read(10))",
        "json.loads(unseen)",
        "yaml.load(f, Loader=Own)",
        "yaml.load(f)",
    ],
)
def test_readers_that_may_give_anything(call: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(WIDE)
    (tmp_path / "main.py").write_text(
        "import json, torch, yaml\nfrom unseen import Other, Own, options, unseen\nf = open('config.json')\n"
        f"config = {call}\ntorch.zeros(2, config['width']) @ torch.zeros(5, 2)\n"
    )
    assert lines(tmp_path) == []
    assert reasons(tmp_path)


def test_of_two_files_none_is_read(tmp_path: Path) -> None:
    write(tmp_path, name="scripts/main.py")
    (tmp_path / "config.json").write_text(WIDE)
    assert lines(tmp_path, "scripts/main.py") == [6]
    (tmp_path / "scripts/config.json").write_text(WIDE)
    assert lines(tmp_path, "scripts/main.py") == []
    assert any("there is not one file" in each for each in reasons(tmp_path, "scripts/main.py"))


def _link(folder: Path) -> None:
    (folder.parent / "outside.json").write_text(WIDE)
    (folder / "config.json").symlink_to(folder.parent / "outside.json")


def _linked_folder(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir()
    (folder.parent / "elsewhere/config.json").write_text(WIDE)
    (folder / "config.json").symlink_to("elsewhere/config.json")
    (folder / "elsewhere").symlink_to(folder.parent / "elsewhere")


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "config.json")


@pytest.mark.parametrize(
    "make",
    [
        _link,
        _linked_folder,
        _pipe,
        lambda folder: (folder / "config.json").mkdir(),
        lambda folder: (folder / "config.json").write_bytes(b"\xff\xfe\x00"),
        lambda folder: (folder / "config.json").write_text("[" * 100_000),
        lambda folder: (folder / "config.json").write_text('{"width": 4, "more": [' + "0," * 10_000 + "0]}"),
        lambda folder: (folder / "config.json").write_text(" " * 300_000 + WIDE),
        lambda folder: (folder / "config.json").write_text('{"width": NaN}'),
    ],
)
def test_what_is_not_read(make: Callable[[Path], object], tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    write(inner)
    make(inner)
    assert lines(inner) == []


def test_laughs_are_lost_and_say_so(tmp_path: Path) -> None:
    text = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        text += f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    (tmp_path / "c.yaml").write_text(text)
    (tmp_path / "main.py").write_text(
        "import yaml, torch\nc = yaml.safe_load(open('c.yaml'))\ntorch.zeros(c['a'][0])\n"
    )
    assert lines(tmp_path) == []
    assert any("too large" in each for each in reasons(tmp_path))


def test_an_absolute_path_is_read_in_the_project_only(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    for folder in (tmp_path, inner):
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(WIDE)
    write(inner, repr(str(inner / "config.json")))
    assert lines(inner) == [6]
    write(inner, repr(str(tmp_path / "config.json")))
    assert lines(inner) == []


def test_a_remembered_result_depends_on_the_file(folder: Path) -> None:
    (folder / "settings.py").write_text("import json\nCONFIG = json.load(open('config.json'))\n")
    (folder / "main.py").write_text(
        "import torch\nfrom settings import CONFIG\ntorch.zeros(2, CONFIG['width']) @ torch.zeros(5, 2)\n"
    )

    def check() -> list[int]:
        config = Config(jobs=0)
        report = run(["main.py"], config, cache=Cache(default_folder(), config))
        return [each.span.line for each in report.diagnostics]

    assert check() == []
    (folder / "config.json").write_text(WIDE)
    assert check() == [3] == check()
    (folder / "config.json").write_text(FITTING)
    assert check() == [] == check()
    (folder / "config.json").write_text(WIDE)
    assert check() == [3]
    (folder / "config.json").unlink()
    assert check() == []
