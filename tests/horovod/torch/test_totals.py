"""A sum over the data of training is of all the data, or it is divided by a count of the same part of it.

Programs add up losses and hits and tell the sums themselves, or divide them by any number of ways to count samples, batches or
turns, where they stand or where a function gave them back. Two processes tell what one process does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from horovod.torch.programs import told_alone, told_by_first
from horovod.torch.test_means import HEAD, LOADERS, STEP

pytestmark = pytest.mark.requires("torch")

SAMPLES = {
    "a constant": "64",
    "a length": "len(data)",
    "a length in a variable": "amount",
    "a setting": "settings.amount",
    "of the loader": "len(loader.dataset)",
    "counted": "seen",
    "counted as a float": "float(seen)",
}
BATCHES = {
    "a constant": "8",
    "whole batches": "(len(data) // 8)",
    "rounded": "int(amount / loader.batch_size)",
    "batches in a variable": "batches",
    "of the loader": "len(loader)",
    "turns": "(i + 1)",
    "counted": "turns",
}
BEFORE = """
amount = len(data)
batches = amount // 8


class settings:
    amount = 64

"""
WAYS = {
    "divided": ("total / {batches}", "losses / {samples}", "100.0 * hits / {samples}"),
    "told": ("total", "hits", "losses / {samples}"),
    "told with what it is of": ("hits", "hits / {samples}", "total"),
    "divided by both": ("losses / {samples}", "losses / 64", "total / {batches}"),
}
BODY = """\
{0}total, losses, hits = 0.0, 0.0, 0
{0}seen = turns = 0
{0}for i, (a, b) in enumerate(loader):
{step}{0}    total += loss.item()
{0}    losses += loss.item() * len(a)
{0}    hits += ((out > 0) == (b > 0)).sum().item()
{0}    seen += len(a)
{0}    turns += 1
"""
FORMS = {
    "in a script": "for epoch in range(2):\n{script}    print({numbers})\n",
    "in a function": "def epoch(loader):\n{function}    print({numbers})\n\n\nfor _ in range(2):\n    epoch(loader)\n",
    "given back": "def epoch(loader):\n{function}    return {numbers}\n\n\nfor _ in range(2):\n"
    "    one, two, three = epoch(loader)\n    print(one, two, three)\n",
    "divided elsewhere": "def epoch(loader):\n{function}    return total, hits\n\n\nfor _ in range(2):\n"
    "    one, two = epoch(loader)\n    print(one / {elsewhere}, two / 64)\n",
    "one number": "def epoch(loader):\n{function}    return total\n\n\nfor _ in range(2):\n"
    "    print(epoch(loader) / {elsewhere})\n    found = epoch(loader)\n    print(found)\n",
}
BOTH = """
def epoch(loader, amount, trains):
    total, hits = 0.0, 0
    for a, b in loader:
        out = model(a)
        loss = nn.functional.mse_loss(out, b)
        if trains:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item() * len(a)
        hits += ((out > 0) == (b > 0)).sum().item()
    return total / amount, hits / amount


held = DataLoader(TensorDataset(x[:24], y[:24]), batch_size=8)
for _ in range(2):
    print(*epoch(loader, 64, True))
    print(*epoch(held, 24, False))
"""
INSIDE = """
for _ in range(2):
    one = two = three = 0.0
    for i, (a, b) in enumerate(loader):
{step}        one += loss.item() / len(loader)
        two += loss.item() / len(data) * len(a)
        three += loss.item() / 8
    print(one, two, three)
"""
OTHERWISE = """
for _ in range(2):
    total, hits, seen = 0.0, 0, 0
    for i, (a, b) in enumerate(loader):
{step}        total = total + loss.item() * len(a)
        for one, other in zip(out[:, 0].tolist(), b[:, 0].tolist()):
            if (one > 0) == (other > 0):
                hits += 1
        seen, last = seen + len(a), i
    print(total / len(data), hits / len(data), hits, total / seen)
"""
KEPT = {
    "compared": "if total + 0.1 < best:\n        best = total\n    print(best, total)",
    "compared with a factor": "if total < 0.9 * best:\n        best = total\n    print(best)\n    print(total)",
    "compared by name": "better = total < 0.9 * best\n    if better:\n        best = total\n    print(better, total)",
    "the smaller": "best = min(best, total)\n    print(best, total)",
    "the smaller, behind": "print(total)\n    best = min(total, best)",
    "asserted": "assert total >= 0, total\n    print(total)",
    "asked": "if math.isnan(total):\n        break\n    print(total)",
    "asked with others": "if not math.isfinite(total) or total > 1e9:\n        raise ValueError(total)\n    print(total)",
    "in a list": "history.append(total)\n    print(history[0], history[-1])",
    "in a dict": "log['loss'] = total\n    print(log['loss'])",
    "in a dict of lists": "logs['loss'].append(total)\n    print(total, *logs['loss'])",
    "written out": "record = {'epoch': epoch, 'loss': total}\n    print(record['loss'])",
    "until it is small": "print(total)\n    if total < 1e-9:\n        break",
    "a difference": "print(best - 2 * total)\n    best = total",
    "a change": "print(total, abs(best + total))\n    best = total",
    "rounded": "kept = round(total, 5)\n    print(kept, max(kept, 0.0))",
}
KEEPS = """
best, history, log, logs = 1e9, [], {{}}, defaultdict(list)
for epoch in range(2):
    total = 0.0
    for a, b in loader:
{step}        total += loss.item()
    {end}
"""
LOOSE = """
total = 0.0
losses = []
for _ in range(2):
    running = 0.0
    for i, (a, b) in enumerate(loader):
{step}        running += loss.item()
        total += loss.item()
        losses.append(loss.item())
    print(running / 8, running / len(loader))
print(total / 2 / len(loader))
"""


def programs() -> Iterator[tuple[str, str]]:
    """Each with the words that tell it apart."""
    counts = list(zip(SAMPLES.items(), BATCHES.items(), strict=True))
    for number, ((way, told), (form, text)) in enumerate(product(WAYS.items(), FORMS.items())):
        for at in range(number % 3 == 0, 1 + (number % 3 == 0)):
            (of_samples, samples), (of_batches, batches) = counts[(2 * number + at) % len(counts)]
            elsewhere = batches if batches not in ("(i + 1)", "turns") else "8"
            parts = {
                "script": BODY.format("    ", step=STEP.format(" " * 8)),
                "function": BODY.format("    ", step=STEP.format(" " * 8)),
                "numbers": ", ".join(told).format(samples=samples, batches=batches),
                "elsewhere": elsewhere,
            }
            where = list(LOADERS)[0 if ".dataset" in parts["numbers"] else number % 3]
            head = HEAD.format(loader=LOADERS[where]) + BEFORE
            if "batch_sampler" in head:  # its loader has no batch size
                text = text.replace("{elsewhere}", "8")
            yield f"{way}, {of_samples}, {of_batches}, {form}, {where}", head + text.format(**parts)
    for where, made in LOADERS.items():
        head = HEAD.format(loader=made) + BEFORE
        yield f"inside, {where}", head + INSIDE.format(step=STEP.format(" " * 8))
        yield f"otherwise, {where}", head + OTHERWISE.format(step=STEP.format(" " * 8))
        yield f"kept, {where}", head + LOOSE.format(step=STEP.format(" " * 8))
    for number, (way, end) in enumerate(KEPT.items()):
        where = list(LOADERS)[number % 3]
        text = KEEPS.format(step=STEP.format(" " * 8), end=end)
        yield f"kept, {way}, {where}", HEAD.format(loader=LOADERS[where]) + text
    for where in list(LOADERS)[:2]:
        yield f"both, {where}", HEAD.format(loader=LOADERS[where]) + BEFORE + BOTH


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """The numbers that rank 0 of two prints in each program."""
    return told_by_first(programs(), tmp_path_factory.mktemp("totals"))


@pytest.mark.parametrize(("name", "text"), [pytest.param(*each, id=each[0]) for each in programs()])
def test_what_is_told_is_of_all_the_data(
    name: str, text: str, printed: dict[str, list[float]], capsys: pytest.CaptureFixture[str]
) -> None:
    alone = told_alone(text, capsys)
    assert len(alone) >= 2
    assert printed[name] == pytest.approx(alone, rel=1e-4)


SHARES = (
    HEAD
    + """
import numpy as np


def shares(through):
    counts = np.zeros(4)
    for a, b in through:
        counts += np.bincount((b.flatten().numpy() > 0).astype(int), minlength=4)
    {made}
    return {told}


found = shares(loader)
for a, b in loader:
{step}print(*[float(each) for each in found])
"""
)
OF_COUNTS = {
    "of itself": ("pass", "counts / counts.sum()"),
    "in a variable": ("counts = counts.astype(np.float32)", "counts / counts.sum()"),
    "of a tensor made of it": ("kept = torch.tensor(counts)", "kept / kept.sum()"),
    "of its sum in a variable": ("kept = torch.tensor(counts)\n    whole = kept.sum()", "kept / whole"),
}


def test_what_is_divided_by_its_own_sum_needs_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    programs = {
        name: SHARES.format(made=made, told=told, step=STEP.format("    "), loader=LOADERS["in order"])
        for name, (made, told) in OF_COUNTS.items()
    }
    told = told_by_first(programs.items(), tmp_path)
    for name, text in programs.items():
        assert told[name] == pytest.approx(told_alone(text, capsys)), name
