"""What a loop does every so many turns comes as often in an epoch as in one process; what trains is left as it is.

The rewritten programs are run in this process as rank 0 of two.
"""

from __future__ import annotations

import ast

import pytest
from horovod.torch.programs import printed_as, rewritten

pytestmark = pytest.mark.requires("torch")

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(128, 4), torch.randn(128, 1))
loader = DataLoader(data, batch_size=8, shuffle=True)
held = DataLoader(data, batch_size=64)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
every = 4


def step(x, y):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()


def evaluate():
    print("now")
    return sum(nn.functional.mse_loss(model(x), y).item() for x, y in held)


def save(path="/dev/null"):
    print("now")
    torch.save(model.state_dict(), path)


@torch.no_grad()
def judge():
    print("now")
    return [nn.functional.mse_loss(model(x), y) for x, y in [drawn() for _ in range(2)]]


def drawn():
    rows = torch.randint(0, 128, (8,))
    return data.tensors[0][rows], data.tensors[1][rows]


def forever():
    while True:
        yield from loader


"""
TRAINER = """
class Trainer:
    def __init__(self, loader, every):
        self.loader, self.every, self.steps = loader, every, 0

    def run(self):
        for x, y in self.loader:
            step(x, y)
            self.steps += 1
            if self.steps % self.every == 0:
                evaluate()


Trainer(loader, 4).run()
"""
LOOP = "for epoch in range(2):\n    for i, (x, y) in enumerate(loader):\n        step(x, y)\n"
COUNTED = "done = 0\nfor epoch in range(2):\n    for x, y in loader:\n        step(x, y)\n        done += 1\n"
AS_OFTEN = {
    "a number": LOOP + "        if i % 4 == 0:\n            evaluate()\n",
    "a variable": LOOP + "        if (i + 1) % every == 0:\n            evaluate()\n",
    "the last of each": LOOP + "        if i % every == every - 1:\n            evaluate()\n",
    "the last of each, written out": LOOP + "        if i % 4 == 3:\n            evaluate()\n",
    "one in the middle": LOOP + "        if i % 4 == 1:\n            evaluate()\n",
    "not a remainder": LOOP + "        if not (i + 1) % 4:\n            evaluate()\n",
    "with another condition": LOOP + "        if i > 0 and i % every == 0:\n            evaluate()\n",
    "a counter of its own": COUNTED + "        if done % every == 0:\n            evaluate()\n",
    "all batches so far": LOOP
    + "        done = epoch * len(loader) + i\n        if done % 8 == 0:\n            evaluate()\n",
    "saving": LOOP + "        if (i + 1) % 8 == 0:\n            save()\n",
    "saving there": LOOP
    + "        if i % 8 == 0:\n            print('now')\n            torch.save(model, '/dev/null')\n",
    "in a method": TRAINER,
    "in two loops": LOOP
    + "        if i % every == 0:\n            for a, b in held:\n                model(a)\n            print('now')\n",
    "how many there were": COUNTED
    + "        if done % 4 == 0:\n            evaluate()\n            print('nr', done // 4)\n",
}
BACK = "        (nn.functional.mse_loss(model(x), y) / 2).backward()\n"
STEPPED = "            optimizer.step()\n            optimizer.zero_grad()\n            done += 1\n"
SOMETIMES = "done = 0\n" + LOOP.replace("        step(x, y)\n", BACK)
AS_OFTEN |= {
    "steps of two batches each": SOMETIMES
    + "        if (i + 1) % 2 == 0:\n"
    + STEPPED
    + "            if done % 2 == 0:\n                evaluate()\n",
    "steps of two batches, asked behind": SOMETIMES
    + "        if i % 2:\n"
    + STEPPED
    + "        if i % 2 and done % every == 0:\n            evaluate()\n",
    "steps of two batches, asked again": SOMETIMES
    + "        if (i + 1) % 2 == 0:\n"
    + STEPPED
    + "        if (i + 1) % 2 == 0 and done % 4 == 0:\n            evaluate()\n",
    "steps of as many as are set": "many = 2\n"
    + SOMETIMES
    + "        if (i + 1) % many == 0:\n"
    + STEPPED
    + "            if every > 0 and done % every == 0:\n                save()\n",
    "steps by a counter": "many = seen = 0\n"
    + SOMETIMES
    + "        seen += 1\n        if seen % 2 == 0:\n"
    + STEPPED
    + "            if not done % every:\n                save()\n",
    "steps in a with": "import contextlib\ndone = 0\n"
    + LOOP
    + "        with contextlib.suppress(ZeroDivisionError):\n            done += 1\n"
    + "        if done % 4 == 0:\n            save()\n",
    "each batch, by a remainder": SOMETIMES
    + "        if (i + 1) % 1 == 0:\n"
    + STEPPED
    + "            if done % 4 == 0:\n                evaluate()\n",
}
DRAWN = "source = forever()\n"
AS_OFTEN |= {
    "turns of a range": DRAWN
    + "for i in range(32):\n    if i % every == 0:\n        evaluate()\n    step(*next(source))\n",
    "places in steps of a batch": "n = 0\nfor place in range(0, 256, 8):\n    if n % every == 0:\n        judge()\n"
    "    step(*drawn())\n    n += 1\n",
    "turns of drawn batches": "for i in range(32):\n    if i % every == 0:\n        judge()\n    step(*drawn())\n",
    "turns of a while loop": DRAWN
    + "done = 0\nwhile done < 32:\n    step(*next(source))\n    done += 1\n    if done % 4 == 0:\n        save()\n",
    "an endless loop": DRAWN
    + "done = 0\nwhile True:\n    step(*next(source))\n    done += 1\n    if done % 4 == 0:\n        save()\n"
    "    if done >= 32:\n        break\n",
    "a count without end": "from itertools import count\n"
    + DRAWN
    + "for done in count(1):\n    step(*next(source))\n    if done % 4 == 0:\n        save()\n"
    "    if done == 32:\n        break\n",
    "a cycle": "from itertools import cycle\nsource = cycle(loader)\ndone = 0\nwhile True:\n"
    "    step(*next(source))\n    done += 1\n"
    "    if done % 4 == 0:\n        save()\n    if done == 32:\n        break\n",
}
LOOKED_UP = """
class Options:
    every = 4


class Trainer:
    def __init__(self, options):
        self.options, self.step, self.held = options, 0, 0

    def due(self):
        return self.step % self.options.every == 0

    def now_and_then(self):
        if self.step % self.options.every == 0:
            evaluate()

    def run(self):
        for i, (x, y) in enumerate(loader):
            step(x, y)
            self.step += 1
            {ask}


trainer = Trainer(Options())
trainer.run()
"""
AS_OFTEN |= {
    name: LOOKED_UP.format(ask=ask.replace("\n", "\n            "))
    for name, ask in {
        "in an object of settings": "if self.step % self.options.every == 0:\n    evaluate()",
        "by a method that looks it up": "if self.due():\n    evaluate()",
        "by a method that looks it up, with more": "if i > 0 and self.due():\n    evaluate()",
        "in a method that judges": "self.now_and_then()",
        "under a name": "due = self.step % self.options.every == 0\nif due:\n    evaluate()",
        "under two names": "early = i % 4 == 0 and i < 0\nlate = self.step % 4 == 0\nif early or late:\n    evaluate()",
    }.items()
}
LEFT = {
    "another object's counter": LOOKED_UP.format(ask="if other.due():\n                evaluate()").replace(
        "trainer = ", "other = Trainer(Options())\ntrainer = "
    ),
    "gradients of several turns": (
        "for i, (x, y) in enumerate(loader):\n    (nn.functional.mse_loss(model(x), y) / 4).backward()\n"
        "    if (i + 1) % 4 == 0:\n        optimizer.step()\n        optimizer.zero_grad()\n"
    ),
    "only told": LOOP + "        if i % 4 == 0:\n            print(i)\n",
    "epochs": LOOP + "    if epoch % 2 == 0:\n        evaluate()\n",
    "a part of the rank's own batches": LOOP + "        if i % (len(loader) // 2) == 0:\n            evaluate()\n",
}


@pytest.mark.parametrize("body", AS_OFTEN)
def test_it_comes_as_often(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = HEAD + AS_OFTEN[body]
    alone = printed_as(1, source, monkeypatch)
    assert printed_as(2, rewritten(source), monkeypatch) == alone


class Respelled(ast.NodeTransformer):
    """Writes remainders otherwise."""

    def __init__(self, spelled: str) -> None:
        self.spelled = spelled

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Mod):
            return node
        text = self.spelled.format(ast.unparse(node.left), ast.unparse(node.right))
        return ast.parse(text, mode="eval").body


@pytest.mark.parametrize("spelled", ["np.mod({}, {})", "divmod({}, {})[1]"])
@pytest.mark.parametrize("body", AS_OFTEN)
def test_however_a_remainder_is_spelled(body: str, spelled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = f"import numpy as np\n{HEAD}"
    source += ast.unparse(Respelled(spelled).visit(ast.parse(AS_OFTEN[body])))
    alone = printed_as(1, source, monkeypatch)
    assert printed_as(2, rewritten(source), monkeypatch) == alone


@pytest.mark.parametrize("body", LEFT)
def test_what_trains_or_tells_and_what_counts_epochs_stays(body: str) -> None:
    assert "max(1, " not in rewritten(HEAD + LEFT[body])


ASKED = (
    "often > 0",
    "often != 0",
    "0 < often",
    "often",
    "often > 0 and i > -1",
    "not often == 0",
    "often is not None and often",
)


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("often", [0, 4])
def test_no_interval_stays_none(asked: str, often: int, monkeypatch: pytest.MonkeyPatch) -> None:
    test = f"        if {asked}:\n            if i % often == 0:\n                evaluate()\n"
    both = f"        if ({asked}) and i % often == 0:\n            evaluate()\n"
    for source in (f"{HEAD}often = {often}\n{LOOP}{each}" for each in (test, both)):
        alone = printed_as(1, source, monkeypatch)
        assert printed_as(2, rewritten(source), monkeypatch) == alone and bool(alone) == bool(often)
