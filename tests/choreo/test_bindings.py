"""Every definition that names roles is checked or reported, whatever its names are called and wherever it stands."""

from __future__ import annotations

from itertools import product
from textwrap import indent
from typing import Any

import pytest

from distml.choreo.check import check_source
from distml.choreo.project import project_source
from distml.choreo.runtime import run_parties
from distml.source.file import SourceFile

IMPORTS = {
    "plain": ("from distml.choreo import At, Ch2, Channel, Role\n", "{}"),
    "star": ("from distml.choreo import *\n", "{}"),
    "aliases": ("from distml.choreo import At as X, Ch2 as Y, Channel as Z, Role as R\n", "alias"),
    "module": ("import distml.choreo\n", "distml.choreo.{}"),
    "another module": ("import distml.choreo as dc\n", "dc.{}"),
    "its home": ("from distml.choreo.language import At as X, Ch2 as Y, Channel as Z, Role as R\n", "alias"),
}
ALIAS = {"At": "X", "Ch2": "Y", "Channel": "Z", "Role": "R"}
BODIES = {
    "function": "def run(ch: {Channel}[int, A, B], n: {At}[int, A]) -> {At}[int, B]:\n    return {value}\n",
    "quoted": "def run(ch: '{Channel}[int, A, B]', n: '{At}[int, A]') -> '{At}[int, B]':\n    return {value}\n",
    "class": "class Run({Ch2}[A, B]):\n    def __init__(self, ch: {Channel}[int, A, B]) -> None:\n        self.ch = ch\n"
    "    def run(self, n: {At}[int, A]) -> {At}[int, B]:\n        return {value}\n",
    "alias of a type": "Line = {Channel}[int, A, B]\nOnA = {At}[int, A]\n"
    "def run(ch: Line, n: OnA) -> {At}[int, B]:\n    return {value}\n",
    "alias of an alias": "Line = {Channel}[int, A, B]\nWire = Line\n"
    "def run(ch: Wire, n: {At}[int, A]) -> {At}[int, B]:\n    return {value}\n",
    "annotated alias": "from typing import TypeAlias\nLine: TypeAlias = {Channel}[int, A, B]\n"
    "def run(ch: Line, n: {At}[int, A]) -> {At}[int, B]:\n    return {value}\n",
    "alias of a word": "Wire = {Channel}\ndef run(ch: Wire[int, A, B], n: {At}[int, A]) -> {At}[int, B]:\n    return {value}\n",
}


def program(imports: str, body: str, value: str) -> str:
    head, form = IMPORTS[imports]
    words = {word: ALIAS[word] if form == "alias" else form.format(word) for word in ALIAS}
    channel = "self.ch.com(n)" if body == "class" else "ch.com(n)"
    text = BODIES[body].format(value=channel if value == "right" else "n", **words)
    return f"{head}class A({words['Role']}): ...\nclass B({words['Role']}): ...\n{text}"


def codes(text: str) -> list[str]:
    found = check_source(SourceFile("absent/p.py", "absent/p.py", text.encode(), module="", is_package=False))
    return [each.code for each in found]


@pytest.mark.parametrize(("imports", "body"), list(product(IMPORTS, BODIES)))
def test_names_are_what_they_are_bound_to(imports: str, body: str) -> None:
    assert codes(program(imports, body, "wrong")) == ["CHO103"]
    assert codes(program(imports, body, "right")) == []
    files = project_source(program(imports, body, "right"), "p.py").files
    spaces: dict[str, Any] = {}
    for role, text in files.items():
        spaces[role] = {}
        exec(text, spaces[role])

    def party(role: str, *given: Any) -> Any:
        def act(ends: Any) -> Any:
            end = ends["B" if role == "A" else "A"]
            return (
                spaces[role][f"Run_{role}"](end).run(*given)
                if body == "class"
                else spaces[role][f"run_{role}"](end, *given)
            )

        return act

    assert run_parties({"A": party("A", 7), "B": party("B")}) == {"A": None, "B": 7}


HEAD = "from distml.choreo import *\nclass A(Role): ...\nclass B(Role): ...\n"
RUN = "def run(ch: Channel[int, A, B], n: At[int, A]) -> At[int, B]:\n    return n\n"
CLASS = "class Run(Ch2[A, B]):\n    def __init__(self, ch: Channel[int, A, B]) -> None:\n        self.ch = ch\n"
PLACES = {
    "a function": "def make():\n{}",
    "a coroutine": "async def make():\n{}",
    "a branch": "if True:\n{}",
    "another branch": "if True:\n    pass\nelse:\n{}",
    "a try": "try:\n{}except OSError:\n    pass\n",
    "a loop": "for _ in range(1):\n{}",
    "a with": "with open('x'):\n{}",
    "a match": "match 1:\n    case 1:\n{}",
    "a plain class": "class Plain:\n{}",
    "a class in a class": "class Plain:\n    class Inner:\n{}",
    "a choreography": "def outer(ch: Channel[int, A, B], n: At[int, A]) -> None:\n    ch.com(n)\n{}",
    "a class of choreographies": "class Outer(Ch2[A, B]):\n    def run(self, n: At[int, A]) -> None:\n        print(n)\n{}",
}


@pytest.mark.parametrize(("place", "what"), list(product(PLACES, (RUN, CLASS, f"async {RUN}"))))
def test_what_is_not_followed_is_reported_by_name(place: str, what: str) -> None:
    depth = "        " if place in ("a match", "a class in a class") else "    "
    text = HEAD + PLACES[place].format(indent(what, depth))
    if place == "a class of choreographies" and what == RUN:
        what = RUN.replace("(ch", "(self, ch")
        text = HEAD + PLACES[place].format(indent(what, depth)).replace(
            "n: At[int, A]) -> None", "m: At[int, A]) -> None", 1
        )
        text = text.replace("print(n)", "print(m)").replace("def run(self, m", "def other(self, m")
        assert codes(text) == ["CHO103"]  # a method: followed
    else:
        assert "CHO402" in codes(text)


@pytest.mark.parametrize(
    "text",
    [
        f"async {RUN}",
        "@roles(A, B)\nasync def run(ch): ...\n",
        "def make():\n    @roles(A, B)\n    def run(ch): ...\n",
        "class Plain:\n    n: At[int, A]\n",
        "from lines import Line\ndef run(ch: Line, n: At[int, A]) -> None:\n    ch.com(n)\n",
        "def run(ch, n: At[int, A]) -> None:\n    ch.com(n)\n",
        "class Run(Ch2):\n    def run(self, ch: Channel[int, A, B], n: At[int, A]) -> At[int, B]:\n        return n\n",
    ],
)
def test_what_cannot_be_followed_is_reported(text: str) -> None:
    assert "CHO402" in codes(HEAD + text)


def test_types_in_comments_are_not_passed_in_silence() -> None:
    body = "    # type: (Channel[int, A, B], At[int, A]) -> None\n    if n:\n        ch.com(n)\n"
    assert codes(f"{HEAD}def f(ch, n):\n{body}") == ["CHO402"]
    assert codes(f"{HEAD}def f(ch, n):\n    return ch.con(n)\n") == []


def test_roles_follow_from_all_arguments() -> None:
    give = "def give(ch: Channel[int, A, B], n: At[int, A]) -> At[int, B]:\n    return ch.com(n)\n"
    use = "def use(ch: Channel[int, A, B], n: At[int, B]) -> At[int, A]:\n    return give(ch, n)\n"
    assert codes(HEAD + give + use) == []
    assert codes(HEAD + give + use.replace("give(ch, n)", "give(n=n, ch=ch)")) == []
    files = project_source(HEAD + give + use, "p.py").files
    spaces: dict[str, Any] = {role: {} for role in files}
    for role, text in files.items():
        exec(text, spaces[role])
    found = run_parties({"A": lambda e: spaces["A"]["use_A"](e["B"]), "B": lambda e: spaces["B"]["use_B"](e["A"], 5)})
    assert found == {"A": 5, "B": None}


@pytest.mark.requires("mypy")
def test_roles_are_no_types_of_data() -> None:
    text = HEAD + (
        "from typing import Generic, TypeVar\nL = TypeVar('L')\nR = TypeVar('R')\n"
        "class Pair(Ch2[A, B], Generic[L, R]):\n"
        "    def __init__(self, left: At[L, A], right: At[R, B]) -> None:\n"
        "        self.left = left\n        self.right = right\n"
        "def make(n: At[int, A], t: At[str, B]) -> At[int, A]:\n"
        "    pair = Pair[A, B](n, t)\n    return pair.left\n"
    )
    assert codes(text) == []
    assert codes(text.replace("-> At[int, A]:\n    pair", "-> At[str, A]:\n    pair")) == ["CHO501"]
