"""What a generator hands out depends on what it was sent (`send`). All programs run for real."""

from __future__ import annotations

from collections import Counter

import pytest

from interp.programs import environments, errors_of, judge_running, run, runs

HEAD = """import os
import numpy as np
flag0 = "flag0" in os.environ
turns0 = int(os.environ["turns0"])
"""
BODIES = {
    "sums": "total = np.zeros(3)\nx = yield total\nwhile True:\n    total = total + x.mean(0)\n    x = yield total",
    "while it is not None": "x = yield np.zeros(1)\nwhile x is not None:\n    x = yield x.T",
    "keeps the first": "first = yield\nx = yield first\nwhile True:\n    x = yield np.concatenate([first, x])",
    "grows": "kept = np.zeros((0, 3))\nwhile True:\n    x = yield kept\n    kept = np.concatenate([kept, x])",
    "three": "a = yield np.zeros(1)\nb = yield a\nc = yield np.concatenate([a, b])\nyield c",
    "by a flag": "x = yield\nif flag0:\n    y = yield x\nelse:\n    y = yield x.T\nyield np.zeros((len(x), len(y)))",
    "in a loop": "x = yield\nfor _ in range(turns0):\n    x = yield x[:1]\nwhile True:\n    x = yield x",
    "pairs": "a, b = yield\nwhile True:\n    a, b = yield a @ b.T",
    "a list": "kept = []\nwhile True:\n    x = yield kept\n    kept.append(x)",
    "closes over": "x = yield\nwhile True:\n    x = yield x[:n]",
    "ends": "x = yield\nx = yield x",
}
USES = {
    "once": "next(g)\nr = g.send(A)",
    "twice": "g.send(None)\ng.send(A)\nr = g.send(B)",
    "the first": "next(g)\nr = g.send(A)\nlast = g.send(B)",
    "many": "next(g)\nfor _ in range(9):\n    r = g.send(B)",
    "turns": "r = next(g)\nfor _ in range(turns0):\n    r = g.send(A)",
    "by a flag": "next(g)\nif flag0:\n    g.send(B)\nr = g.send(A)",
    "next between": "next(g)\ng.send(A)\nr = next(g)",
    "in a function": "def use(g, x):\n    return g.send(x)\nnext(g)\nuse(g, A)\nr = use(g, A)",
    "in an object": "class Held:\n    def __init__(self):\n        self.g = body()\n        next(self.g)\n"
    "    def use(self, x):\n        return self.g.send(x)\nHeld().use(B)\nheld = Held()\nfor _ in range(3):\n    r = held.use(A)",
    "two of them": "h = body()\nnext(g)\nnext(h)\ng.send(A)\nr = h.send(B)",
    "walked": "next(g)\nfor item in g:\n    r = item\n    break\ns = g.send(A)",
    "changed outside": "next(g)\ng.send(A)\nn = 1\nr = g.send(A)",
}
GIVEN = {"A": "np.ones((2, 3))", "B": "np.ones((4, 3))"}


def _program(body: str, use: str) -> str:
    lines = "\n".join(f"    {line}" for line in BODIES[body].splitlines())
    code = USES[use]
    for name, value in GIVEN.items():
        pair = f"({value}, {value})" if body == "pairs" else value
        code = code.replace(f"({name})", f"({pair})").replace(f", {name})", f", {pair})")
    return f"{HEAD}n = 2\ndef body():\n{lines}\ng = body()\n{code}\n"


def test_what_is_handed_out_is_as_it_runs() -> None:
    kinds: Counter[str] = Counter()
    for body in BODIES:
        for use in USES:
            program = _program(body, use)
            if any(run(program, each, lambda value: value) for each in environments(program)):
                continue
            verdict = judge_running(program, ("r",))
            assert verdict.kind in ("exact", "vague"), (body, use, verdict)
            kinds[verdict.kind] += 1
    assert kinds["exact"] >= 30, kinds


FAILING = {
    "what is sent": ("while True:\n    x = yield\n    x @ np.zeros((3, 2))", "next(g)\ng.send(np.ones((2, {})))", 3, 4),
    "what comes back": (
        "x = yield\nwhile True:\n    x = yield x.T",
        "next(g)\ng.send(np.ones((2, 3))) @ np.ones(({}, 4))",
        2,
        3,
    ),
    "the second": (
        "a = yield\nb = yield\nyield a @ b",
        "next(g)\ng.send(np.ones((2, 3)))\ng.send(np.ones(({}, 5)))",
        3,
        2,
    ),
    "behind a loop": (
        "x = yield\nwhile True:\n    x = yield x.mean(0)",
        "next(g)\nfor _ in range(7):\n    r = g.send(np.ones((2, 3)))\nr - np.ones({})",
        3,
        2,
    ),
    "in a method": (
        "x = yield\nwhile True:\n    x = yield x.mean(0)",
        (
            "class Held:\n    g = body()\n    def use(self, x):\n        return x - self.g.send(x)\n"
            "next(Held.g)\nHeld().use(np.ones((2, 3))) @ np.ones(({}, 4))"
        ),
        3,
        2,
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_wrong_size_is_found_behind_it(name: str) -> None:
    body, use, right, wrong = FAILING[name]
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    good, bad = (
        f"import numpy as np\ndef body():\n{lines}\ng = body()\n{use.format(size)}\n" for size in (right, wrong)
    )
    assert runs(good)
    assert not runs(bad)
    assert errors_of(good) == []
    assert len(errors_of(bad)) == 1
