"""A variable of another file is agreed where that file shows a constant; elsewhere it is each party's own, as defaults are."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from distml.choreo.check import check_source
from distml.choreo.origins import origins_of
from distml.source.project import Project

HEAD = "from distml.choreo import At, Channel, Role\nclass A(Role): ...\nclass B(Role): ...\n"
IMPORTS = {
    "from settings import N\n": "N",
    "from settings import N as LIMIT\n": "LIMIT",
    "import settings\n": "settings.N",
    "import settings as s\n": "s.N",
    "from settings import *\n": "N",
    "from through import N\n": "N",
    "from package import inner\n": "inner.N",
    "import package.inner\n": "package.inner.N",
    "from settings import N\nK = N + 1\n": "K",
    "from settings import N\nclass K:\n    top = N\n": "K.top",
    "from settings import N\ndef k() -> int:\n    return N\n": "k()",
}
USES = {
    "a condition": "def f(ch: Channel[int, A, B], n: At[int, A]) -> None:\n    if {n} > 3:\n        ch.com(n)\n",
    "a number of turns": "def f(ch: Channel[int, A, B], n: At[int, A]) -> None:\n    for _ in range({n}):\n        ch.com(n)\n",
    "a variable": "def f(ch: Channel[int, A, B], n: At[int, A]) -> None:\n    m: At[int, A, B] = {n}\n"
    "    if m > 3:\n        ch.com(n)\n",
    "a default": "def f(ch: Channel[int, A, B], n: At[int, A], k: At[int, A, B] = {n}) -> None:\n"
    "    if k > 3:\n        ch.com(n)\n",
    "a default of all": "def f(ch: Channel[int, A, B], n: At[int, A], k: int = {n}) -> None:\n"
    "    if k > 3:\n        ch.com(n)\n",
}
CONSTANT = ("N = 3\n", "N: int = -3\n")
OWN = (
    "import os\nN = int(os.environ['N'])\n",
    "import random\nN = random.randint(0, 9)\n",
    "N = 3\nif N:\n    N = 4\n",
    "N = 3\ndef change():\n    global N\n    N = 4\n",
    "N = len(open('x').read())\n",
    "from absent import N\n",
    "from settings import N\n",
    "for N in range(3):\n    pass\n",
    "",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "through.py").write_text("from settings import N\n")
    return tmp_path


def codes(folder: Path, settings: str, text: str) -> set[str]:
    (folder / "settings.py").write_text(settings)
    (folder / "package" / "inner.py").write_text(settings)
    (folder / "p.py").write_text(HEAD + text)
    project = Project(str(folder))
    source = project.open(str(folder / "p.py"))
    return {each.code for each in check_source(source, origins_of(source, project))} - {"CHO501"}


@pytest.mark.parametrize(("imported", "use"), list(product(IMPORTS, USES)))
def test_what_another_file_sets_is_agreed_if_it_is_a_constant(folder: Path, imported: str, use: str) -> None:
    text = imported + USES[use].format(n=IMPORTS[imported])
    for settings in CONSTANT:
        assert codes(folder, settings, text) == set(), settings
    for settings in OWN if use == "a condition" else OWN[:2]:
        assert codes(folder, settings, text), settings


@pytest.mark.parametrize("default", ["os.getpid()", "len(os.environ)", "PID", "random.random()"])
@pytest.mark.parametrize("place", ["int", "At[int, A, B]"])
def test_a_default_that_each_party_computes_is_refused(folder: Path, default: str, place: str) -> None:
    head = "import os\nimport random\nPID = os.getpid()\n"
    use = USES["a default"].replace("At[int, A, B]", place)
    assert "CHO110" in codes(folder, "", head + use.format(n=default))
    assert codes(
        folder, "", head + use.replace(place + " =", "At[int, A] =").replace("k > 3", "n > 3").format(n=default)
    )


@pytest.mark.parametrize(
    "text",
    [
        (
            "from labels import Vote\ndef f(ch: Channel[object, A, B], n: At[int, A]) -> None:\n    if n > 3:\n"
            "        ch.select(Vote.YES @ A())\n        ch.com(n)\n    else:\n        ch.select(Vote.NO @ A())\n"
        ),
        (
            "from absent import Vote\ndef f(ch: Channel[object, A, B], n: At[int, A]) -> None:\n    if n > 3:\n"
            "        ch.select(Vote.YES @ A())\n        ch.com(n)\n    else:\n        ch.select(Vote.NO @ A())\n"
        ),
        (
            "from labels import Vote\ndef f(ch: Channel[Vote, A, B], v: At[Vote, A]) -> None:\n"
            "    w: At[Vote, A, B] = ch.com(v)\n    match w:\n        case Vote.YES:\n            ch.com(v)\n"
            "        case _:\n            pass\n"
        ),
        (
            "import absent as np\ndef f(ch: Channel[object, A, B], v: At[float, A]) -> At[float, B]:\n"
            "    m: At[float, B] = ch.com(v * np.pi)\n    return np.mean(m)\n"
        ),
        (
            "def f(ch: Channel[int, A, B], n: At[int, A], k: int = 3, m: At[tuple[int, ...], A, B] = (1, 2)) -> None:\n"
            "    if k > 3:\n        ch.com(n)\n"
        ),
    ],
)
def test_what_one_party_takes_from_another_file_is_its_own_affair(folder: Path, text: str) -> None:
    (folder / "labels.py").write_text("import enum\nclass Vote(enum.Enum):\n    YES = 1\n    NO = 2\n")
    assert codes(folder, "", text) == set()
