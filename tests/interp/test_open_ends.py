"""A loop or recursion whose end no test decides is followed a few times, not until a budget ends; one that counts to its end
is followed there.
"""

from __future__ import annotations

import pytest

from distml.interp.machine import Machine

from interp.programs import errors_of

LEAVING = {
    "break": "if after is None:\n            break",
    "break of data": "if x.sum() > 1:\n            break",
    "either way": "if after is None:\n            break\n        elif after.last:\n            break",
    "in try": "try:\n            after.use()\n        except KeyError:\n            break",
    "deep": "if x.ready:\n            if after is None:\n                break",
}
HEADS = ["while True:", "while 1:", "while count < 200:"]
LOOP = (
    "import torch\n\n\ndef f(node, x):\n    count = 0\n    {head}\n        count += 1\n        after = node.next\n"
    "        {leaving}\n        node.previous = after\n        after.items = [x]\n        node = after\n    return node\n"
)
DEEPER = {
    "one way": "if len(self.rows(x)) > 0:\n            self.left = Node(depth)\n            self.left.build(x, {next}, most)",
    "two ways": "if len(self.rows(x)) > 0:\n            self.left = Node(depth)\n            self.left.build(x, {next}, most)\n"
    "            self.right = Node(depth)\n            self.right.build(x, {next}, most)",
    "in both arms": "self.left = Node(depth)\n        if len(self.rows(x)) > 0:\n"
    "            self.left.build(x[1:], {next}, most)\n        else:\n            self.left.build(x, {next}, most)\n"
    "        self.right = Node(depth)\n        if most.done:\n            self.right.build(x[1:], {next}, most)",
}
RECURSION = (
    "import torch\n\n\nclass Node:\n    def __init__(self, depth):\n"
    "        self.depth, self.left, self.right = depth, None, None\n\n"
    "    def rows(self, x):\n        return unseen(x)\n\n    def build(self, x, depth, most):\n        {deeper}\n\n\n"
    "def f(x, most):\n    Node(0).build(x, 0, most)\n"
)


def made(program: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many values, objects and frames following a program makes."""
    numbers: list[int] = []
    original = Machine.serial
    monkeypatch.setattr(Machine, "serial", lambda vm: numbers.append(1) or original(vm))  # type: ignore[func-returns-value]
    assert errors_of(program) == []
    monkeypatch.undo()
    return len(numbers)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("leaving", LEAVING.values(), ids=list(LEAVING))
def test_a_loop_that_nothing_ends_is_followed_a_few_times(
    head: str, leaving: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert made(LOOP.format(head=head, leaving=leaving), monkeypatch) < 400


@pytest.mark.parametrize("following", ["depth + 1", "depth - 1", "2 * depth + 1"])
@pytest.mark.parametrize("deeper", DEEPER.values(), ids=list(DEEPER))
def test_a_recursion_that_nothing_ends_is_followed_a_few_times(
    deeper: str, following: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert made(RECURSION.format(deeper=deeper.format(next=following)), monkeypatch) < 3000


def test_a_loop_that_counts_to_its_end_is_followed_there() -> None:
    text = "import torch\ncount = 0\nwhile count < 9:\n    count += 1\ntorch.ones(2, count) @ torch.ones(8, 2)\n"
    assert [each.code for each in errors_of(text)] == ["SHP101"]


def test_a_recursion_that_counts_to_its_end_is_followed_there() -> None:
    text = (
        "import torch\n\n\ndef f(x, depth):\n    if depth == 0:\n        return x @ torch.ones(8, 2)\n"
        "    return f(torch.cat([x, x[:, :1]], 1), depth - 1)\n\n\nf(torch.ones(2, 3), 6)\n"
    )
    assert [each.code for each in errors_of(text)] == ["SHP101"]


def test_the_second_iteration_of_a_loop_that_data_end_is_one_that_happens() -> None:
    text = (
        "import torch\nfrom torch import nn\n\nlayer = nn.Linear(8, 4)\nx = torch.randn(2, 8)\nwhile True:\n"
        "    x = layer(x)\n    if x.sum() > 1:\n        break\n"
    )
    assert [each.code for each in errors_of(text)] == ["SHP401"]
