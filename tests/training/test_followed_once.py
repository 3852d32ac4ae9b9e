"""A function whose reads have not grown is not followed again: what is found is what following it each time finds."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from distml.source.project import Project
from distml.training.program import Program, followed
from distml.training.store import Store

CASES = sorted(Path(__file__).parents[1].glob("horovod/*/*.md"))
_BLOCK = re.compile(r"^```py(?! rewritten)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
NET = "torch.nn.Linear(1, 1)"
LATE = {
    "a variable that is set below": "def f():\n    return kept\n\n\nkept = NET\nfound = f()\n",
    "a base that is known later": (
        "def f():\n    return Part().given()\n\n\ndef g(base=None):\n    class Inner(base): pass\n    return Inner\n\n\n"
        "class Whole:\n    def given(self): return NET\n\n\nPart = g(Whole)\nfound = f()\n"
    ),
    "an attribute of an object": (
        "class A:\n    def get(self): return self.net\n    def put(self, net): self.net = net\n\n\n"
        "a = A()\nfound = a.get()\na.put(NET)\n"
    ),
    "an attribute of an object of a library": (
        "def f():\n    return args.net\n\n\nargs = lib.Args()\nfound = f()\nargs.net = NET\n"
    ),
    "an item": "def f():\n    return parts['net']\n\n\nparts = {}\nfound = f()\nparts['net'] = NET\n",
    "a key of an item": (
        "def f():\n    return [each for each in parts.values()]\n\n\nparts = {}\nfound = f()\nparts['net'] = NET\n"
    ),
    "what a function gives": (
        "def f():\n    return g()\n\n\ndef g():\n    return h()\n\n\ndef h():\n    return NET\n\n\nfound = f()\n"
    ),
    "functions that call each other": (
        "def f(n):\n    return g(n) if n else NET\n\n\ndef g(n):\n    return f(n - 1)\n\n\nfound = g(3)\n"
    ),
    "a module that a function imports": "def f():\n    import beside\n    return beside.net()\n\n\nfound = f()\n",
    "a module's module": "def f():\n    from package import inner\n    return inner.net()\n\n\nfound = f()\n",
    "a star import": "def f():\n    return net()\n\n\nfrom beside import *\nfound = f()\n",
    "an annotation": (
        "def f(net: torch.nn.Linear):\n    return net\n\n\ndef g():\n    return f(unknown)\n\n\nfound = g()\n"
    ),
    "a closure": "def f():\n    def g():\n        return kept\n    kept = NET\n    return g\n\n\nfound = f()()\n",
    "a property": (
        "class A:\n    @property\n    def net(self): return made()\n    def get(self): return self.net\n\n\n"
        "found = A().get()\n\n\ndef made():\n    return NET\n"
    ),
    "a function that is handed on": "def f(g):\n    return g()\n\n\ndef h():\n    return NET\n\n\nfound = f(h)\n",
    "what a generator yields": (
        "def f():\n    for each in g():\n        return each\n\n\ndef g():\n    yield NET\n\n\nfound = f()\n"
    ),
    "a decorated function": (
        "def f(g):\n    def inner(*a): return g(*a)\n    return inner\n\n\n@f\ndef h(): return NET\n\n\nfound = h()\n"
    ),
}
STEPS = {
    "variables": "def f{n}():\n    global v{m}\n    v{m} = v{n}\n",
    "attributes of an object": "def f{n}():\n    own.v{m} = own.v{n}\n",
    "attributes of an object of a library": "def f{n}():\n    other.v{m} = other.v{n}\n",
    "items": "def f{n}():\n    parts['v{m}'] = parts['v{n}']\n",
    "items of any key": "def f{n}():\n    for each in list{n}.values():\n        list{m}['a'] = each\n",
    "results": "def g{m}():\n    return g{n}()\n",
    "arguments": "def f{n}(x):\n    f{m}(x)\n    global v{m}\n    v{m} = x\n",
    "bases": (
        "def f{n}():\n    class Made(c{n}): pass\n    global c{m}\n    c{m} = Made\n\n\n"
        "def h{n}():\n    global v{m}\n    v{m} = c{m}().net()\n"
    ),
}
"""How something goes from the place `n` to the next, `m`."""
ENDS = {"attributes of an object": "own.v5", "attributes of an object of a library": "other.v5", "items": "parts['v5']"}
ENDS |= {"items of any key": "list5['a']", "results": "g5()"}
BESIDE = {
    "beside.py": "import torch\n\n\ndef net():\n    from later import made\n    return made()\n",
    "later.py": "import torch\n\n\ndef made():\n    return torch.nn.Linear(1, 1)\n",
    "package/__init__.py": "",
    "package/inner.py": "from beside import *\n",
}


def known(files: Mapping[str, str], anew: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[Program, dict[str, object]]:
    """What a program is and what its expressions can stand for; `anew`: each function is followed each time."""
    overlay = {f"/nowhere/{name}": text.encode() for name, text in files.items()}
    with monkeypatch.context() as patch:
        if anew:
            patch.setattr(Store, "grown", lambda *given: True)
        project = Project("/nowhere", overlay=overlay)
        program = followed([project.open("/nowhere/script.py")], project)
    found: dict[str, object] = {}
    for location, unit in program.units.items():
        for number, node in enumerate(ast.walk(unit.tree)):
            if isinstance(node, ast.expr):
                values = (re.sub(r" object at 0x\w+", "", _shown(value)) for value in program.of(node))
                found[f"{location}:{number}"] = sorted(values)
    return program, found


def _shown(value: object) -> str:
    node = getattr(value, "node", None) or getattr(getattr(value, "type", None), "node", None)
    return f"{type(value).__name__} {getattr(value, 'name', getattr(value, 'value', ''))} {getattr(node, 'lineno', 0)}"


@pytest.mark.parametrize("what", LATE)
def test_what_is_known_late_reaches_what_was_followed_before(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"script.py": f"import torch\nimport lib\n\n{LATE[what].replace('NET', NET)}", **BESIDE}
    program, found = known(files, False, monkeypatch)
    assert found == known(files, True, monkeypatch)[1]
    place = [each for each in ast.walk(program.roots[0].tree) if isinstance(each, ast.Name) and each.id == "found"][-1]
    held = program.of(place)
    boxed = {inner for each in held if type(each).__name__ == "Box" for inner in program.store.item(each)}  # type: ignore[arg-type]
    assert any("torch.nn.Linear" in _shown(value) for value in {*held, *boxed})


@pytest.mark.parametrize("what", STEPS)
def test_what_an_annotation_gives_goes_on_against_the_order_of_the_file(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = "import torch\nimport lib\n\n\nclass Own: pass\n\n\nown, other, parts = Own(), lib.Made(), {}\n"
    head += "".join(f"list{n} = {{}}\n" for n in range(6))
    chain = "\n\n".join(STEPS[what].format(n=n, m=n + 1) for n in reversed(range(5)))
    start = """
class Base:
    def net(self): return kept


def start(net: torch.nn.Linear, base: Base):
    global v0, c0, kept
    v0 = own.v0 = other.v0 = parts["v0"] = list0["a"] = kept = net
    c0 = type(base) if base else Base
    f0(net)


def g0():
    return v0
"""
    last = f"\n\ndef end():\n    return {ENDS.get(what, 'v5')}\n"
    files = {"script.py": f"{head}\n\n{last}\n\n{chain}\n\n{start}"}
    program, found = known(files, False, monkeypatch)
    assert found == known(files, True, monkeypatch)[1]
    (place,) = (
        each.value
        for each in ast.walk(program.roots[0].tree)
        if isinstance(each, ast.Return) and ENDS.get(what, "v5") == ast.unparse(each.value or each)
    )
    assert any("torch.nn.Linear" in _shown(value) for value in program.of(place))


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_programs_are_known_alike(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = _BLOCK.findall(path.read_text())
    assert programs
    for text in programs:
        assert known({"script.py": text}, False, monkeypatch)[1] == known({"script.py": text}, True, monkeypatch)[1], (
            text
        )


def test_fewer_expressions_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = "".join(f"def f{n}(x):\n    y = [x, x, x]\n    return f{n + 1}(x)\n\n\n" for n in range(9))
    files = {"script.py": f"{chain}def f9(x):\n    return x\n\n\nfound = f0(open)\n"}
    once, each = (known(files, anew, monkeypatch)[0].steps for anew in (False, True))
    assert once * 2 < each
