"""Batches that a program makes itself are dealt out wherever the step stands; what else a loop goes through stays whole.

The order in which they are made is the same on all ranks: whatever draws it is seeded alike, and not by the rank.
"""

from __future__ import annotations

import re

import pytest
from horovod.torch.programs import outcome, rewritten

HEAD = """
import random
import numpy as np
import torch
from torch import nn

xs, ys = torch.randn(96, 4), torch.randn(96, 1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def batches(a, b, size=8):
    for i in range(0, len(a), size):
        yield a[i : i + size], b[i : i + size]


class Batches:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def shuffle(self):
        order = np.random.permutation(len(self.a))
        self.a, self.b = self.a[order], self.b[order]

    def get(self):
        def inner():
            for i in range(0, len(self.a), 8):
                yield self.a[i : i + 8], self.b[i : i + 8]

        return inner()


def shuffled(*arrays):
    order = np.arange(len(arrays[0]))
    np.random.shuffle(order)
    return tuple(each[order] for each in arrays)


def step(a, b):
    loss = nn.functional.mse_loss(model(a), b)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


class Engine:
    def __init__(self, model, rate):
        self.model, self.optimizer = model, torch.optim.Adam(model.parameters(), lr=rate)

    def train(self, a, b):
        loss = self.loss(a, b)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def loss(self, a, b):
        return nn.functional.mse_loss(self.model(a), b)


engine = Engine(model, 0.05)
held = Batches(xs, ys)
"""
GIVEN = {
    "a generator": "batches(xs, ys)",
    "a generator of a method": "held.get()",
    "counted": "enumerate(batches(xs, ys))",
    "a list": "[(xs[i : i + 8], ys[i : i + 8]) for i in range(0, 96, 8)]",
}
STEPS = {
    "a function": "step(a, b)",
    "a method": "engine.train(a, b)",
    "parts of a batch": "for part in range(2):\n            engine.train(a[part::2], b[part::2])",
    "moved first": "a, b = a.float(), b.float()\n        step(a, b)",
}
SHARE = "zip(*[iter("


def program(given: str, stepping: str, before: str = "pass") -> str:
    target = "i, (a, b)" if given.startswith("enumerate") else "a, b"
    return f"{HEAD}\nfor epoch in range(3):\n    {before}\n    for {target} in {given}:\n        {stepping}\n"


@pytest.mark.parametrize("stepping", STEPS)
@pytest.mark.parametrize("given", GIVEN)
def test_batches_are_dealt_out(given: str, stepping: str) -> None:
    found = outcome(program(GIVEN[given], STEPS[stepping]))
    (text,) = (each.source for each in found.files.values())
    assert SHARE in text
    assert {each.code for each in found.plan.warnings} <= {"HVD302", "HVD304", "HVD309"}  # no loop keeps its iterations


OTHERS = {
    "settings": "for rate in [0.1, 0.2]:\n    step(xs * rate, ys)",
    "models": "for each in [Engine(model, 0.1), Engine(model, 0.2)]:\n    each.train(xs, ys)",
    "numbers": "for epoch in range(8):\n    step(xs, ys)",
    "parts with epochs of their own": (
        "def fit(part):\n    for epoch in range(4):\n        step(xs[part], ys[part])\n\n\n"
        "for part in torch.load('folds.pt'):\n    fit(part)"
    ),
    "what is only told": "for name in open('names.txt'):\n    print(name)\n    step(xs, ys)",
}


@pytest.mark.parametrize("loop", OTHERS)
def test_what_is_no_data_stays_whole(loop: str) -> None:
    assert SHARE not in rewritten(f"{HEAD}\n{OTHERS[loop]}\n")


ORDERS = {
    "by a method beside": ("held.shuffle()", "held.get()", "np.random"),
    "by a function": ("a, b = shuffled(xs, ys)", "batches(a, b)", "np.random"),
    "by a permutation": ("order = torch.randperm(96)", "batches(xs[order], ys[order])", "torch"),
    "in place": ("random.shuffle(pairs)", "pairs", "random"),
}


@pytest.mark.parametrize("stepping", ["a function", "a method"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seeded", [False, True])
def test_their_order_is_that_of_all_ranks(order: str, stepping: str, *, seeded: bool) -> None:
    before, given, kind = ORDERS[order]
    seed = {"np.random": "np.random.seed(3)", "torch": "torch.manual_seed(3)", "random": "random.seed(3)"}[kind]
    text = program(given, STEPS[stepping], before).replace("held =", "pairs = [*batches(xs, ys)]\nheld =")
    text = rewritten(text.replace("xs, ys =", f"{seed if seeded else ''}\nxs, ys =", 1))
    assert SHARE in text
    call = "manual_seed" if kind == "torch" else "seed"
    seeds = re.findall(rf"{re.escape(kind)}\.{call}\((.*)\)", text)
    assert seeds
    assert not any("+ hvd.rank()" in each for each in seeds)


ONE_BY_ONE = (
    HEAD
    + """

class Trainer:
    def train(self, data):
        total, n = 0.0, 0
        order = torch.randperm(len(data))
        for k in range(len(data)):
            a, b = data[order[k]]
            loss = nn.functional.mse_loss(model(a), b)
            loss.backward()
            total += loss.item()
            n += 1
            if {test}:
                optimizer.step()
                optimizer.zero_grad()
        return total / len(data)


trainer = Trainer()
first, second = torch.utils.data.TensorDataset(xs, ys), torch.utils.data.TensorDataset(ys, ys)
print(trainer.train(first), trainer.train(second))
"""
)


def test_samples_that_are_taken_one_by_one_are_dealt_out() -> None:
    text = rewritten(ONE_BY_ONE.replace("{test}", "n % 8 == 0"))
    assert "for k in (part[hvd.rank()] for part in zip(*[iter(range(len(data)))] * hvd.size())):" in text
    assert "return total / (len(data) // hvd.size())" in text


def test_not_if_their_number_says_more() -> None:
    text = rewritten(ONE_BY_ONE.replace("{test}", "(k + 1) % 8 == 0"))
    assert "for k in range(len(data)):" in text


COUNTED = """
def read():
    return torch.load("pairs.pt")


def epoch():
    pairs = read()
    a, b = pairs[:, :4], pairs[:, 4:]
    count = len(a) // 8 + 1
    total, taken = 0.0, []
    for one, other in batches(a, b):
        total += step(one, other)
        taken.append(one)
    {after}
    return total / count


for number in range(3):
    print(epoch())
"""


@pytest.mark.parametrize("after", ["pass", "count = len(taken)"])
def test_a_count_that_is_known_in_front_of_the_loop_counts_all(after: str) -> None:
    text = rewritten(HEAD + COUNTED.replace("{after}", after), "ddp")
    assert ("total = sum_of_ranks(total)" in text) == (after == "pass")


RUNNING = """
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(xs, ys), batch_size=8, shuffle=True)
for number in range(3):
    kept = None
    for a, b in loader:
        loss = step(a, b)
        if kept is None:
            kept = loss
        else:
            {update}
    print(kept)
"""
UPDATES = ("kept = 0.9 * kept + 0.1 * loss", "kept = kept * 0.9 + (1 - 0.9) * loss", "kept = kept + loss")


@pytest.mark.parametrize("update", UPDATES)
def test_a_running_mean_that_begins_with_nothing_is_none_of_all_ranks_before_it_is_told(update: str) -> None:
    found = outcome(HEAD + RUNNING.replace("{update}", update), "ddp")
    assert not found.plan.refusals
    (text,) = (each.source for each in found.files.values())
    assert (
        "kept = mean_of_ranks(kept)"
        not in text.partition("else:\n")[2].partition("print(kept)")[0].partition("\n    ")[0]
    )


PICKED = (
    HEAD
    + """
class Table:
    def __getitem__(self, i):
        return xs[8 * i : 8 * i + 8], ys[8 * i : 8 * i + 8]


def judge(table):
    {judged}


def train(table, start, length):
    for i in range(start, start + length):
        step(*table[i])


table = Table()
for epoch in range(2):
    train(table, 0, 12)
    judge(table)
"""
)
JUDGED = {
    "without gradients": "with torch.no_grad():\n        for i in random.sample(range(12), 3):\n"
    "            print(model(table[i][0]))",
    "a picture": "rows = np.random.choice(96, 1)\n    print(xs[rows[0]])",
    "a mean": "rows = torch.randint(0, 96, (8,))\n    print(float(ys[rows].mean()))",
}


@pytest.mark.parametrize("judged", JUDGED.values(), ids=JUDGED)
def test_samples_that_are_only_looked_at_divide_no_data(judged: str) -> None:
    found = outcome(PICKED.format(judged=judged), "ddp")
    assert "HVD302" in [each.code for each in found.plan.warnings]
    assert all(
        "get_world_size" not in line
        for file in found.files.values()
        for line in file.source.splitlines()
        if "lr=" in line
    )
