"""Programs that would never end, or eat all memory, if they were run: checking them ends, and hides nothing elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from distml.engine.config import Config
from distml.engine.limits import LAST_GRACE
from distml.engine.run import run

pytestmark = pytest.mark.requires("distml.interp.check")

LIMIT = 3.0
HEAD = "import torch\n"
PROGRAMS = {
    "endless": "while True:\n    pass\n",
    "growing-shape": "x = torch.zeros(1)\nwhile True:\n    x = torch.cat([x, x])\n",
    "growing-number": "n = 2\nwhile n:\n    n = n * n\n",
    "growing-list": "items = [0]\nwhile items:\n    items += items\n",
    "growing-text": "s = 'x'\nfor _ in range(100):\n    s = s + s\n",
    "power": "n = 9 ** 9 ** 9 ** 9\nm = 1 << (1 << 60)\n",
    "literal": f"n = 0x{'f' * 5000}\nm = torch.zeros(n, 0b{'1' * 20_000})\nprint(n, -n, n + m.shape[0], f'{{n}}', str(n))\n",
    "repeated": "a = [0] * 10 ** 12\nb = 'x' * 10 ** 12\nc = (0,) * 10 ** 12\nd = range(10 ** 12)\n",
    "materialized": "a = list(range(10 ** 12))\nb = [x for x in range(10 ** 12)]\nc = sum(range(10 ** 12))\n",
    "recursion": "def f(n):\n    return f(n + 1) + f(n - 1)\nf(0)\n",
    "mutual": "def f(n):\n    return g(n + 1)\ndef g(n):\n    return f(n * 2)\nf(1)\n",
    "exponential": "def f(n):\n    return f(n - 1) + f(n - 2) if n > 1 else 1\nx = torch.zeros(f(300))\n",
    "tower": "".join(f"def f{n}(x):\n    return f{n + 1}(x + 1) + f{n + 1}(x + 2)\n" for n in range(60))
    + "def f60(x): return x\nf0(0)\n",
    "branches": "def f(a, *flags):\n"
    + "".join(f"    if flags[{n}]: a = a.view(-1, {n + 2})\n" for n in range(60))
    + "    return a\n",
    "nested-loops": "".join(f"{'  ' * n}for i{n} in range(1000):\n" for n in range(15))
    + f"{'  ' * 15}x = torch.zeros(3)\n",
    "own-base": "class A: pass\nA.__bases__ = (A,)\nclass B(B): pass\nB()\n",
    "self-containing": "a = []\na.append(a)\nb = {}\nb['b'] = b\nprint(a == a, b)\ntorch.tensor(a)\n",
    "generator": "def g():\n    while True:\n        yield from g()\nfor x in g():\n    pass\n",
    "long-call-chain": "x = torch.zeros(3)\ny = x" + ".add(1)" * 2000 + "\n",
    "long-sum": "n = " + " + ".join(["1"] * 2000) + "\nx = torch.zeros(n)\n",
    "deep-nesting": "x = " + "(" * 150 + "1" + ")" * 150 + "\n",
    "deep-blocks": "".join(f"{' ' * n}if x:\n" for n in range(95)) + f"{' ' * 95}pass\n",
    "polynomials": "def f("
    + ", ".join(f"a{n}" for n in range(40))
    + "):\n"
    + "    return torch.zeros("
    + " * ".join(f"(a{n} + {n} + a{n - 1})" for n in range(1, 40))
    + ")\n",
    "many-names": "".join(f"x{n} = torch.zeros({n})\n" for n in range(5000)),
    "getattr": "class A:\n    def __getattr__(self, name):\n        return getattr(self, name + 'x')\nA().y\n",
    "descriptor": "class A:\n    @property\n    def x(self):\n        return self.x\nA().x\n",
    "exit": "import sys, os\nsys.exit(3)\nos._exit(4)\nraise SystemExit\n",
    "surrogates": "x = '\\ud800'\nprint(x, f'{x!r}')\ntorch.zeros(3)[x]\n",
    "shadowed-built-ins": "def len(x):\n    return len(x)\nrange = len\nfor i in range(3):\n    pass\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_checking_ends_without_a_crash_of_ours(name: str, folder: Path) -> None:
    (folder / "a_hostile.py").write_text(HEAD + PROGRAMS[name])
    (folder / "good.py").write_text(HEAD + "torch.zeros(2, 3) @ torch.zeros(4, 5)\n")
    used = os.times()
    report = run(["."], Config(jobs=1, time_limit=LIMIT, memory_limit=1024))
    found = [(each.span.path, each.code) for each in report.diagnostics]
    assert ("good.py", "SHP101") in found
    ours = [each.message for each in report.diagnostics if each.code in ("SRC201", "SRC106")]
    assert ours == []
    now = os.times()
    assert now.children_user + now.children_system - used.children_user - used.children_system < LIMIT + LAST_GRACE + 6


def test_import_cycles(folder: Path) -> None:
    for number in range(6):
        other = (number + 1) % 6
        (folder / f"m{number}.py").write_text(
            f"import torch\nfrom m{other} import x{other}, w\nimport m{other} as n\nx{number} = n.x{other}\n"
        )
    (folder / "w.py").write_text("from m0 import *\nimport torch\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\n")
    (folder / "self_import.py").write_text(
        "import torch, self_import\nfrom self_import import *\nself_import.self_import.x\n"
    )
    (folder / "loop").symlink_to(".")
    report = run(["."], Config(jobs=2, time_limit=LIMIT))
    assert [(each.span.path, each.code) for each in report.diagnostics] == [("w.py", "SHP101")]
