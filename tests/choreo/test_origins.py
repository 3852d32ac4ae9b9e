"""A choreography is looked at wherever its words and parts come from, or refused by name; nothing is passed in silence."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from distml.engine.config import Config
from distml.engine.one import check_one
from distml.engine.results import FileResult, Report
from distml.engine.run import run
from distml.source.project import Project

TRAINING = {
    "p.py": "import torch\nfrom near import Base, step\nclass Net(Base):\n"
    "    def forward(self, x: torch.Tensor) -> torch.Tensor:\n        return step(x)\n",
    "near.py": "import far\nfrom base import Base\ndef step(x):\n    return x\n",
    "base.py": "import torch\nimport far\nclass Base(torch.nn.Module): ...\n",
    "far.py": "import further\n",
    "further.py": "import furthest\n",
    "furthest.py": "",
}
LANGUAGE = "from distml.choreo import At, Ch2, Channel, Role\nclass A(Role): ...\nclass B(Role): ...\n"
WORDS = {
    "a name": ("from {lib} import At, Channel, Ch2, A, B\n", "{}"),
    "another name": ("from {lib} import At as X1, Channel as X2, Ch2 as X3, A, B\n", "alias"),
    "a star": ("from {lib} import *\n", "{}"),
    "a branch": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {lib} import At, Channel, Ch2, A, B\n",
        "{}",
    ),
    "a try": ("try:\n    from {lib} import At, Channel, Ch2, A, B\nexcept ImportError:\n    raise\n", "{}"),
}
MODULES = {"a module": "import {lib}\n", "a module by another name": "import {lib} as m\n"}
ALIAS = {"At": "X1", "Channel": "X2", "Ch2": "X3"}
LIBRARIES = {
    "the file beside it": {"lib.py": LANGUAGE},
    "renamed twice": {
        "lib.py": "from low import Y1 as At, Y2 as Channel, Y3 as Ch2, A, B\n",
        "low.py": LANGUAGE + "Y1 = At\nY2 = Channel\nY3 = Ch2\n",
    },
    "the star of a star": {"lib.py": "from low import *\n", "low.py": LANGUAGE},
    "a package": {"lib/__init__.py": "from .low import At, Channel, Ch2, A, B\n", "lib/low.py": LANGUAGE},
    "each other": {"lib.py": "import p\n" + LANGUAGE},
}
BODIES = {
    "a function": "def run(ch: {Channel}[int, {A}, {B}], n: {At}[int, {A}]) -> {At}[int, {B}]:\n    return {value}\n",
    "a class": "class Run({Ch2}[{A}, {B}]):\n"
    "    def __init__(self, ch: {Channel}[int, {A}, {B}]) -> None:\n        self.ch = ch\n"
    "    def run(self, n: {At}[int, {A}]) -> {At}[int, {B}]:\n        return {value}\n",
    "quotes": "def run(ch: '{Channel}[int, {A}, {B}]', n: '{At}[int, {A}]') -> '{At}[int, {B}]':\n    return {value}\n",
    "a type by name": "Line = {Channel}[int, {A}, {B}]\nOnA = {At}[int, {A}]\n"
    "def run(ch: Line, n: OnA) -> {At}[int, {B}]:\n    return {value}\n",
}


def checked(folder: Path, **files: str) -> Report:
    for name, text in {"pyproject.toml": "", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return run(["p.py"], Config(jobs=0))


def codes(report: Report) -> list[str]:
    return sorted({each.code for each in report.diagnostics})


def written(body: str, form: str, value: str) -> str:
    names = {word: ALIAS.get(word, word) if form == "alias" else form.format(word) for word in ("At", "Channel", "Ch2")}
    roles = {role: role if form == "alias" else form.format(role) for role in "AB"}
    right = "self.ch.com(n)" if body == "a class" else "ch.com(n)"
    return BODIES[body].format(value=right if value == "right" else "n", **names, **roles)


@pytest.mark.parametrize(("library", "words", "body"), list(product(LIBRARIES, WORDS, BODIES)))
def test_words_are_followed_through_files(folder: Path, library: str, words: str, body: str) -> None:
    head, form = WORDS[words]
    head = head.format(lib="lib")
    assert codes(checked(folder, **LIBRARIES[library], **{"p.py": head + written(body, form, "wrong")})) == ["CHO103"]
    assert codes(checked(folder, **{"p.py": head + written(body, form, "right")})) == []


@pytest.mark.parametrize(("library", "words"), list(product(LIBRARIES, MODULES)))
def test_words_are_followed_through_modules(folder: Path, library: str, words: str) -> None:
    form = "m.{}" if "another" in words else "lib.{}"
    text = MODULES[words].format(lib="lib") + written("a function", form, "wrong")
    assert codes(checked(folder, **LIBRARIES[library], **{"p.py": text})) == ["CHO103"]


@pytest.mark.parametrize(
    "imported", ["from .lib import At, Channel, A, B", "from . import lib", "from ..p.lib import *"]
)
def test_relative_imports_are_followed(folder: Path, imported: str) -> None:
    text = imported + "\n" + written("a function", "lib.{}" if imported == "from . import lib" else "{}", "wrong")
    found = checked(folder, **{"p/__init__.py": "", "p/lib.py": LANGUAGE, "p/p.py": text, "p.py": ""})
    assert found.diagnostics == ()
    assert codes(run(["p/p.py"], Config(jobs=0))) == ["CHO103"]


PARTS = LANGUAGE + (
    "Line = Channel[int, A, B]\nOnA = At[int, A]\n"
    "def give(ch: Channel[int, A, B], n: At[int, A]) -> At[int, B]:\n    return ch.com(n)\n"
    "class Base(Ch2[A, B]):\n    def __init__(self, ch: Channel[int, A, B]) -> None:\n        self.ch = ch\n"
    "    def run(self, n: At[int, A]) -> At[int, B]:\n        return self.ch.com(n)\n"
)
HEIRS = "from parts import Base\nclass Middle(Base):\n    pass\n"
OUTSIDE = {
    "a type": "from {} import Line\ndef run(ch: Line, n):\n    return n\n",
    "a type beside others": "from {} import Line, A, B\nfrom distml.choreo import At\n"
    "def run(ch: Line, n: At[int, A]) -> At[int, B]:\n    return ch.com(n)\n",
    "a type in quotes": "from {} import Line as L\ndef run(ch: 'L', n: 'int'):\n    return n\n",
    "a function": "from {} import give, A, B\nfrom distml.choreo import At, Channel\n"
    "def run(ch: Channel[int, A, B], n: At[int, A]) -> At[int, B]:\n    return give(ch, n)\n",
    "a function of a module": "import {0}\nfrom {0} import A, B\nfrom distml.choreo import At, Channel\n"
    "def run(ch: Channel[int, A, B], n: At[int, A]) -> None:\n    {0}.give(ch, n)\n",
    "a class": "from {} import Base, A, B\nfrom distml.choreo import At, Channel\n"
    "def run(ch: Channel[int, A, B], n: At[int, A]) -> At[int, B]:\n    return Base[A, B](ch).run(n)\n",
    "an object": "from {} import Base\ndef run(base: Base, n):\n    return base.run(n)\n",
    "a base": "from {} import Base\nclass Sub(Base):\n    def run(self, n):\n        return n\n",
    "a base with roles": "from {} import Base, A, B\nclass Sub(Base[A, B]):\n    def more(self, n):\n        return n\n",
    "a base of a module": "import {0}\nclass Sub({0}.Base):\n    def run(self, n):\n        return n\n",
}


@pytest.mark.parametrize("home", ["parts", "again", "heirs"])
@pytest.mark.parametrize("what", list(OUTSIDE))
def test_parts_of_other_files_are_refused_by_name(folder: Path, home: str, what: str) -> None:
    text = OUTSIDE[what].format(home)
    if home == "heirs":
        text = text.replace("import Base", "import Middle as Base").replace(".Base", ".Middle")
    files = {"parts.py": PARTS, "again.py": "from parts import *\n", "heirs.py": f"{HEIRS}from parts import *\n"}
    found = checked(folder, **files, **{"p.py": text})
    refused = [each for each in found.diagnostics if each.code == "CHO402"]
    assert any("another file" in each.message for each in refused)
    assert "CHO104" not in codes(found)


@pytest.mark.parametrize(
    "text",
    [
        "from parts import Base, give, Line\n__all__ = ['Base', 'give', 'Line']\n",
        "from parts import give\ndef main(n: int) -> int:\n    return n\n",
        "from parts import A, B\nclass Mine:\n    first: A\n",
        "from gone import Line\ndef run(line: Line) -> None: ...\n",
        "from p import run\ndef run(line: run) -> None: ...\n",
        "from broken import Line\ndef run(line: Line) -> None: ...\n",
    ],
)
def test_what_only_hands_on_is_no_choreography(folder: Path, text: str) -> None:
    assert codes(checked(folder, **{"parts.py": PARTS, "broken.py": "def (", "p.py": text})) == []


@pytest.mark.requires("mypy")
def test_names_of_a_star_are_unknown_to_the_check_of_types(folder: Path) -> None:
    text = LANGUAGE + "from more import *\ndef run(ch: Channel[int, A, B], n: At[int, A]) -> At[int, B]:\n"
    files = {"more.py": "Data = int\ndef twice(n: int) -> int:\n    return 2 * n\n"}
    assert (
        codes(checked(folder, **files, **{"p.py": text + "    m: At[Data, A] = n\n    return ch.com(twice(m))\n"}))
        == []
    )
    assert codes(checked(folder, **{"p.py": text + "    m: At[str, A] = n\n    return ch.com(n)\n"})) == ["CHO501"]


UNREAD = {
    "inside": "def run(ch: Channel[int, A, B], n: {}) -> None:\n    print(n)\n",
    "returned": "def run(ch: Channel[int, A, B], n: At[int, A]) -> {}:\n    return n\n",
    "a field": "class Run(Ch2[A, B]):\n    n: {}\n",
    "a variable": "def run(ch: Channel[int, A, B], n: At[int, A]) -> None:\n    m: {} = n\n",
}
WITHIN = [
    "At[int, A] | None",
    "list[At[int, A]]",
    "'Optional[At[int, A]]'",
    "Annotated[Channel[int, A, B], 1]",
    "At[At[int, A], B]",
]


@pytest.mark.parametrize(("place", "kind"), list(product(UNREAD, WITHIN)))
def test_types_within_types_are_refused(folder: Path, place: str, kind: str) -> None:
    assert "CHO402" in codes(checked(folder, **{"p.py": LANGUAGE + UNREAD[place].format(kind)}))


@pytest.mark.parametrize(
    "text",
    [
        "def run(*n: At[int, A]) -> None: ...\n",
        "def run(**n: At[int, A]) -> None: ...\n",
        "if A:\n    X = At\ndef run(n: X[int, A]) -> X[int, B]:\n    return n\n",
        "X, Y = At, Channel\ndef run(n: X[int, A]) -> X[int, B]:\n    return n\n",
        "X = Y = At\ndef run(n: X[int, A]) -> X[int, B]:\n    return n\n",
        "X = At if A else Channel\ndef run(n: X[int, A]) -> X[int, B]:\n    return n\n",
        "class Run(Ch2[A, B]):\n    async def run(self, n):\n        return n\n",
        "class Run(Ch2[A, B]):\n    if A:\n        def run(self, n):\n            return n\n",
        "class Run(Ch2[A, B]):\n    run = lambda self, n: self.ch.com(n)\n",
        "def give(n: At[int, A]) -> At[int, A]:\n    return n\nclass Run(Ch2[A, B]):\n    run = give\n",
        "def give(n: At[int, A]) -> At[int, A]:\n    return n\nother = give\n",
    ],
)
def test_what_is_not_read_is_refused(folder: Path, text: str) -> None:
    assert "CHO402" in codes(checked(folder, **{"p.py": LANGUAGE + text}))


@pytest.mark.parametrize(
    "text",
    [
        "from network import Channel\n\ndef f(x: list[Channel], *y: Channel[int, str]) -> dict[str, Channel]: ...\n",
        "import network\n\nroutes: list[network.Channel] = []\nPipe = (network.Channel, 1)\n",
        "from distml.choreo.runtime.parties import Channel\n\ndef f(x: list[Channel]) -> None: ...\n",
        "class At: ...\nclass Channel: ...\nOther = (At, Channel)\ndef f(x: 'list[Channel]') -> None: ...\n",
        "from somewhere import At, Channel\nclass K:\n    At = Channel\n    x: set[At]\n",
    ],
)
def test_a_name_that_is_spelled_like_a_word_is_none(folder: Path, text: str) -> None:
    """Only what leads to the language is a word of it: other libraries have channels too."""
    files = {"network.py": "class Channel: ...\n", "p.py": f"# choreo\n{text}"}
    assert codes(checked(folder, **files)) == []


def test_only_files_that_annotations_and_bases_lead_to_are_looked_at(folder: Path) -> None:
    for name, text in {"pyproject.toml": "", **TRAINING}.items():
        (folder / name).write_text(text)
    project = Project()
    assert check_one("p.py", project, Config()) == FileResult(consulted=())
    read = {name for name in TRAINING if project.shown_as(name) is not None}
    assert read == {"p.py", "near.py", "base.py", "far.py"}  # `import far` names the file, and runs nothing of it
