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


SENT = "def f(ch: {channel}, n: {value}) -> {result}:\n    return {body}\n"
GIVEN = {"channel": "Channel[int, A, B]", "value": "At[int, A]", "result": "At[int, B]", "body": "n"}
MAKERS = {
    "a dict": ("T = {'a': At, 'c': Channel}\n", "T['a']", "T['c']"),
    "a dict of keywords": ("T = dict(a=At, c=Channel)\n", "T['a']", "T['c']"),
    "a list": ("T = [At, Channel]\n", "T[0]", "T[1]"),
    "a class": ("class T:\n    a = At\n    c = Channel\n", "T.a", "T.c"),
    "an enum": ("import enum\nclass T(enum.Enum):\n    a = At\n    c = Channel\n", "T.a.value", "T.c.value"),
    "an object": ("from types import SimpleNamespace\nT = SimpleNamespace(a=At, c=Channel)\n", "T.a", "T.c"),
    "a loop": ("for T, C in ((At, Channel),):\n    pass\n", "T", "C"),
    "a with": ("from contextlib import nullcontext as n\nwith n(At) as T, n(Channel) as C:\n    pass\n", "T", "C"),
    "a call": ("T, C = next(iter([(At, Channel)]))\n", "T", "C"),
    "a global": ("", "globals()['At']", "globals()['Channel']"),
    "getattr": ("import distml.choreo as dc\n", "getattr(dc, 'At')", "getattr(dc, 'Channel')"),
    "vars": ("import distml.choreo as dc\n", "vars(dc)['At']", "vars(dc)['Channel']"),
    "another name for getattr": (
        "import distml.choreo as dc\nT, C = map(getattr, (dc, dc), ('At', 'Channel'))\n",
        "T",
        "C",
    ),
    "a walrus": ("", "(T := At)", "(C := Channel)"),
    "a function": ("def t(*k):\n    return At[k]\ndef c(*k):\n    return Channel[k]\n", "t{}", "c{}"),
    "a lambda": ("t = lambda *k: At[k]\nc = lambda *k: Channel[k]\n", "t{}", "c{}"),
    "its method": ("", "At.__class_getitem__({})", "Channel.__class_getitem__({})"),
}


@pytest.mark.parametrize(("maker", "places"), list(product(MAKERS, ("value", "channel", "result", "both", "all"))))
def test_a_type_that_is_computed_is_refused_by_name(maker: str, places: str) -> None:
    """A type of the language is read where it is a name; whatever comes to one when the program runs is refused."""
    head, value, channel = MAKERS[maker]
    whole = {
        "value": (value, "int, A"),
        "result": (value, "int, B"),
        "channel": (channel, "int, A, B"),
    }
    wanted = {"both": ("value", "channel"), "all": tuple(whole)}.get(places, (places,))
    written = {
        name: word.format(f"({parts})") if "{}" in word else f"{word}[{parts}]"
        for name, (word, parts) in whole.items()
        if name in wanted
    }
    assert "CHO402" in codes(HEAD + head + SENT.format(**{**GIVEN, **written}))
    assert "CHO402" in codes(HEAD + head + SENT.format(**{**GIVEN, **written, "body": "ch.com(n)"}))


COMPUTED = {
    "a joined text": ("", "'At[int,' + ' A]'"),
    "a formatted text": ("", "f'At[int, A]'"),
    "a text that is none": ("", "'At[int, A'"),
    "one of two": ("", "At[int, A] if A else At[int, B]"),
    "a role that is called": ("def r():\n    return A\n", "At[int, r()]"),
    "a role that is picked": ("R = (A, B)\n", "At[int, R[0]]"),
    "roles that are unpacked": ("R = (A, B)\n", "At[int, *R]"),
    "a new type": ("from typing import NewType\nT = NewType('T', At[int, A])\n", "T"),
    "a type variable": ("from typing import TypeVar\nT = TypeVar('T', bound=At[int, A])\n", "T"),
    "a container of it": ("", "list[At[int, A]]"),
    "roles in another type": ("", "dict[A, int]"),
}


@pytest.mark.parametrize("form", COMPUTED)
def test_a_type_of_no_form_that_is_read_is_refused_by_name(form: str) -> None:
    head, value = COMPUTED[form]
    assert "CHO402" in codes(HEAD + head + SENT.format(**{**GIVEN, "value": value}))


@pytest.mark.parametrize(
    "head",
    [
        "f.__annotations__ = {'n': At[int, A]}\n",
        "def places(**k):\n    return lambda g: g\n@places(n=At[int, A])\ndef g(n):\n    return n\n",
        "D = {'r': roles}\n@D['r'](A, B)\ndef g(n):\n    return n\n",
        "C = type('C', (Role,), {})\n",
        "T = {'b': Ch2}\nclass R(T['b'][A, B]):\n    x = 1\n",
        "def base():\n    return Ch2[A, B]\nclass R(base()):\n    x = 1\n",
    ],
)
def test_words_of_the_language_that_are_handed_on_are_refused(head: str) -> None:
    good = SENT.format(**{**GIVEN, "body": "ch.com(n)"})
    assert "CHO402" in codes(HEAD + good + head)


@pytest.mark.parametrize(
    "local",
    [
        "T = {'a': int}\ndef g(n):\n    return T[n]\n",
        "import numpy as np\ndef g(n: np.ndarray, m: 'list[int]', *k: int) -> dict[str, int]:\n    return {}\n",
        "from jaxtyping import Float\ndef g(n: Float['a b'], m: {'a': 1}['a'], o: f'x') -> (1 + 2):\n    return n\n",
        "assert issubclass(A, Role) and isinstance(A(), Role) and Channel is not At\n",
        "from typing import cast\nONE = cast('int', 1)\n",
        "from typing import Union\nNumber = Union[int, float]\ndef g(n: Number | None = None) -> 'Number': ...\n",
    ],
)
def test_local_code_is_left_alone(local: str) -> None:
    good = SENT.format(**{**GIVEN, "body": "ch.com(n)"})
    assert [each for each in codes(HEAD + local + good) if each != "CHO501"] == []
