"""What a program prints of its losses is of all the data, on however many ranks: the numbers are those of one process.

The rates are so small that weights stay what they were: then a mean over an epoch does not depend on the order of samples. All
programs of the table run in two processes that are started once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import pytest
from horovod.torch.programs import told_alone, told_by_first

pytestmark = pytest.mark.requires("torch")

HEAD = """\
import math
from collections import defaultdict

import numpy as np
import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

torch.manual_seed(3)
x = torch.randn(64, 4)
y = torch.arange(64.0).reshape(64, 1) / 16 - 2
data = TensorDataset(x, y)
loader = {loader}
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-12)


class Meter:
    def __init__(self):
        self.total, self.count, self.average = 0.0, 0, 0.0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n
        self.average = self.total / self.count

    @property
    def mean(self):
        return self.total / self.count


class Listed:
    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(value)

    def mean(self):
        return sum(self.values) / len(self.values)

"""
STEP = """\
{0}optimizer.zero_grad()
{0}out = model(a)
{0}loss = nn.functional.mse_loss(out, b)
{0}loss.backward()
{0}optimizer.step()
"""
LOADERS = {
    "shuffled": "DataLoader(data, batch_size=8, shuffle=True)",
    "in order": "DataLoader(data, batch_size=8)",
    "batches of a sampler": "DataLoader(data, batch_sampler=BatchSampler(RandomSampler(data), 8, True))",
}
SUMS = {
    "by batches": ("total = 0", "total += loss.item()", "print(total / len(loader))"),
    "by turns": ("total, i = 0.0, 0", "i += 1; total += float(loss.detach())", "print(total / i)"),
    "by samples": (
        "total = seen = 0.0",
        "total += loss.item() * a.size(0); seen += a.size(0)",
        "print(f'{total / seen:.6f}')",
    ),
    "of the data": ("total = 0.0", "total += loss.item() * len(a)", "print(total / len(loader.dataset))"),
    "of hits": (
        "right, seen = 0, 0",
        "right += ((out > 0) == (b > 0)).sum().item(); seen += b.shape[0]",
        "print('accuracy', 100.0 * right / seen)",
    ),
    "of hits so far": (
        "right, seen = 0, 0",
        "right += ((out > 0) == (b > 0)).sum().item(); seen += b.shape[0]; share = 100.0 * right / seen",
        "print('accuracy', share)",
    ),
    "of turns so far": (
        "total, n = 0.0, 0",
        "n += 1; total += loss.item(); so_far = total / n",
        "best = min(9.0, so_far)\n    if best < 9:\n        print(best)",
    ),
    "a tensor": ("total = torch.zeros(1)", "total += loss.detach()", "print((total / len(loader)).item())"),
    "with a graph": ("total = 0.0", "total += loss", "print(total.item() / len(loader))"),
    "a list": ("losses = []", "losses.append(loss.item())", "print(sum(losses) / len(losses), np.mean(losses))"),
    "a list and turns": ("losses = []", "losses.append(loss.item())", "print(sum(losses) / len(loader))"),
    "tensors in a list": ("losses = []", "losses.append(loss.detach())", "print(torch.stack(losses).mean().item())"),
    "by name": (
        "value, total = 0.0, 0.0",
        "value = loss.item(); total += value",
        "print(math.exp(total / 9 / len(loader)))",
    ),
    "in a dict": ("stats = defaultdict(float)", "stats['loss'] += loss.item()", "print(stats['loss'] / len(loader))"),
    "in another dict": (
        "stats = {'n': 0, 'loss': 0.0}",
        "stats['loss'] += loss.item()",
        "print(stats['loss'] / len(loader))",
    ),
    "a meter": ("meter = Meter()", "meter.update(loss.item(), len(a))", "print(meter.mean)"),
    "a meter that divides": ("meter = Meter()", "meter.update(loss.item(), len(a))", "print(meter.average)"),
    "a meter with a list": ("meter = Listed()", "meter.add(loss.item())", "print(meter.mean())"),
    "meters in a dict": (
        "meters = {'loss': Meter()}",
        "meters['loss'].update(loss.item(), a.size(0))",
        "print(meters['loss'].mean)",
    ),
    "decided": (
        "total = 0.0",
        "total += loss.item()",
        "best = min(9.0, total / len(loader))\n    if best < 9:\n        print(best)",
    ),
}
FORMS = {
    "in a script": "for epoch in range(2):\n    {begin}\n    for a, b in loader:\n{step}        {turn}\n    {end}\n",
    "in a function": "def train(loader):\n    {begin}\n    for a, b in loader:\n{step}        {turn}\n    {end}\n\n"
    "for epoch in range(2):\n    train(loader)\n",
    "counted": "for epoch in range(2):\n    {begin}\n    for i, (a, b) in enumerate(loader, 1):\n{step}"
    "        {turn}\n    {end}\n",
}
OTHERS = {
    "of a trainer": """
class Trainer:
    def __init__(self):
        self.total = 0.0

    def epoch(self):
        self.total = 0.0
        for a, b in loader:
{step}            self.total += loss.item()
        return self.total / len(loader)

trainer = Trainer()
for epoch in range(2):
    print(trainer.epoch())
    print(trainer.total / len(loader))
""",
    "of a function for both": """
def run(batches, train):
    total, n = 0.0, 0
    for a, b in batches:
        loss = nn.functional.mse_loss(model(a), b)
        if train:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item() * len(a)
        n += len(a)
    return total / n

held = DataLoader(TensorDataset(x[:24], y[:24]), batch_size=8)
for epoch in range(2):
    one = run(loader, True)
    other = run(held, False)
    print(one, other)
""",
    "kept over the epochs": """
history = []
for epoch in range(2):
    for a, b in loader:
{step}        history.append(loss.item())
print(sum(history) / len(history))
""",
    "over all epochs": """
total = 0.0
for epoch in range(2):
    for a, b in loader:
{step}        total += loss.item()
    print(total / (epoch + 1) / len(loader))
""",
}
PHASES = """
sets = {{"train": data, "val": TensorDataset(x[:24], y[:24])}}
sizes = {{name: len(part) for name, part in sets.items()}}
{loaders}

def run(phase, batches):
    {named}
    model.train({trains})
    total = 0.0
    for a, b in batches:
        with torch.set_grad_enabled({trains}):
            loss = nn.functional.mse_loss(model(a), b)
        if {trains}:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item() * len(a)
    return total / {size}

for epoch in range(2):
    {each}
        found = run(phase, {batches})
        print(phase, found)
"""
MADE = {
    "at once": "loaders = {name: DataLoader(part, 8, shuffle=name == 'train') for name, part in sets.items()}",
    "by name": "loaders = {k: DataLoader(sets[k], batch_size=8, shuffle=True) for k in ('train', 'val')}",
    "one by one": "loaders = {'train': DataLoader(sets['train'], 8, shuffle=True), 'val': DataLoader(sets['val'], 8)}",
    "in a loop": "loaders = {}\nfor k, part in sets.items():\n    loaders[k] = DataLoader(part, 8, shuffle=k == 'train')",
}
TRAINS = {
    "compared": ("pass", "phase == 'train'"),
    "named": ("training = phase == 'train'", "training"),
    "turned round": ("pass", "'train' == phase"),
}
EACH = {
    "phases": ("for phase in ('train', 'val'):", "loaders[phase]"),
    "items": ("for phase, batches in loaders.items():", "batches"),
}
SIZES = ["sizes[phase]", "len(sets[phase])", "len(batches.dataset)"]
DIRECT = """
sets = {"train": data, "val": TensorDataset(x[:24], y[:24])}
%s

for epoch in range(2):
    for phase in ("train", "val"):
        model.train(phase == "train")
        total = losses = 0.0
        hits = 0
        kept = []
        for a, b in loaders[phase]:
            with torch.set_grad_enabled(phase == "train"):
                out = model(a)
                loss = nn.functional.mse_loss(out, b)
                if phase == "train":
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            total += loss.item()
            losses += loss.item() * len(a)
            hits += ((out > 0) == (b > 0)).sum().item()
            kept.append(b.flatten())
        print(total / len(loaders[phase]), losses / len(sets[phase]), hits, hits / len(sets[phase]), total)
        print(len(torch.cat(kept)), sorted(torch.cat(kept).tolist())[0])
"""
BEFOREHAND = DIRECT.replace(
    "        hits = 0\n",
    "        hits = 0\n        batches, amount = len(loaders[phase].dataset) / 8, len(sets[phase])\n",
).replace("print(total / len(loaders[phase]), losses / len(sets[phase])", "print(total / batches, losses / amount")
TOLD = """
for epoch in range(2):
    running, last = 0.0, 0.0
    for i, (a, b) in enumerate(loader):
{step}        running += loss.item()
        if i == len(loader) - 1:
            print(running / len(loader))
            last = running / (i + 1)
            running = 0.0
    print(last)
"""


PROGRESS = """
class Progress:
    def __init__(self, meter):
        self.meter = meter

    def display(self):
        print(self.meter.mean)
"""
SETTINGS = """
from dataclasses import dataclass


@dataclass
class Settings:
    name: str
    every: int = 3


settings = Settings("a", every=2)
"""
NOW_AND_THEN = {
    "a loss that a function tells": (
        "def log(text):\n    print(text)\n",
        "",
        "if i % 2 == 0:\n    log(f'{loss.item():.6f}')",
        "log(loss.item())",
    ),
    "a loss that an object tells": (
        "class Log:\n    def write(self, **named):\n        print(*named.values())\n\n\nkept = Log()\n",
        "",
        "if i % 2 == 0:\n    kept.write(loss=loss.item())",
        "",
    ),
    "a loss": ("", "", "if i % 2 == 0:\n    print(loss.item())", ""),
    "beside a comprehension": (
        "first = [i for i in y.ravel().tolist()]\n",
        "",
        "if i % 2 == 0:\n    print(loss.item())",
        "",
    ),
    "a loss in a format": ("", "", "if (i + 1) % 2 == 0:\n    print(f'{epoch} {loss.item():.6f}')", ""),
    "a loss among others": (
        "",
        "",
        "if i % 2 == 0:\n    print('loss', loss.item(), 'of', i)\n    print(loss.item())",
        "",
    ),
    "a loss in both arms": (
        "",
        "",
        "if i % 2 == 0:\n    if epoch:\n        print('again', loss.item())\n    else:\n        print(loss.item())",
        "",
    ),
    "a sum in both arms": (
        "",
        "total = 0.0",
        (
            "total += loss.item()\nif i % 2 == 1:\n    if epoch == 0:\n        print('first', total / 2)\n"
            "    else:\n        print(total / 2)\n    total = 0.0"
        ),
        "",
    ),
    "a number": ("", "", "value = float(loss.detach())\nif i % 2 == 0:\n    print(value)", ""),
    "what a function gives": (
        "def number(given):\n    return given.item() * 2\n",
        "",
        "value = number(loss)\nif i % 2 == 0:\n    print(value)",
        "",
    ),
    "the last of an epoch": ("", "", "pass", "print(loss.item())"),
    "the last of some epochs": ("", "", "pass", "if epoch % 2 == 1:\n    print(loss.item())"),
    "a list": ("", "kept = []", "if i % 2 == 0:\n    kept.append(loss.item())", "print(*kept)"),
    "a running mean": (
        "mean = None\n",
        "",
        "mean = loss.item() if mean is None else 0.9 * mean + 0.1 * loss.item()\nif i % 2 == 1:\n    print(mean)",
        "",
    ),
    "a running mean of its own": (
        "class Kept:\n    mean = 0.0\n\n\nkept = Kept()\n",
        "",
        "kept.mean = kept.mean * 0.9 + loss.item() * (1 - 0.9)",
        "print(kept.mean)",
    ),
    "a meter that is shown": (
        "class Shown(Meter):\n    def __str__(self):\n        return f'{self.total} {self.average}'\n",
        "meter = Shown()",
        "meter.update(loss.item())\nif i % 2 == 0:\n    print(f'{meter}')",
        "",
    ),
    "a meter that another shows": (
        PROGRESS,
        "meter = Meter()\nprogress = Progress(meter)",
        "meter.update(loss.item())\nif i % 2 == 0:\n    progress.display()",
        "",
    ),
    "as often as an object says": (
        "class Settings:\n    every: int = 2\n\n\nsettings = Settings()\n",
        "total = 0.0",
        "total += loss.item()\nif (i + 1) % settings.every == 0:\n    print(total)\n    total = 0.0",
        "",
    ),
    "as often as a dataclass is told": (SETTINGS, "", "if i % settings.every == 0:\n    print(loss.item())", ""),
}


DRAWN = """
mean, i = None, 0
batches = iter(loader)
while i < {turns}:
    try:
        a, b = next(batches)
    except StopIteration:
        batches = iter(loader)
        a, b = next(batches)
{step}    mean = loss.item() if mean is None else 0.9 * mean + 0.1 * loss.item()
    i += 1
    if i % 4 == 0:
        print(mean, loss.item())
"""
TELLING = [*NOW_AND_THEN, "what is drawn one by one"]


def now_and_then(name: str, size: int) -> str:
    """A program that tells of single batches of so many samples, in the order of the data; one that counts its own turns
    draws as many samples in batches of every size."""
    head = HEAD.format(loader=f"DataLoader(data, batch_size={size})")
    if name not in NOW_AND_THEN:
        return head + DRAWN.format(turns=96 // size, step=STEP.format("    "))
    above, begin, turn, end = NOW_AND_THEN[name]
    loop = f"for epoch in range(2):\n{indent(begin or 'pass', '    ')}\n    for i, (a, b) in enumerate(loader):\n"
    body = STEP.format(" " * 8) + indent(turn, " " * 8)
    return f"{head}\n{above}\n{loop}{body}\n{indent(end, '    ')}\n"


def programs() -> Iterator[tuple[str, str]]:
    """Each with the words that tell it apart."""
    kinds = list(FORMS)
    for number, (name, (begin, turn, end)) in enumerate(SUMS.items()):
        for kind in (kinds[number % 3], kinds[(number + 1) % 3]):
            if kind == "counted" and "i += 1" in turn:
                continue
            text = FORMS[kind].format(begin=begin, turn=turn, end=end, step=STEP.format(" " * 8))
            where = list(LOADERS)[number % 3 if ".dataset" not in end else 0]
            yield f"{name} {kind}, {where}", HEAD.format(loader=LOADERS[where]) + text
    for name, text in OTHERS.items():
        depth = 12 if "class" in text else 8
        yield name, HEAD.format(loader=LOADERS["shuffled"]) + text.format(step=STEP.format(" " * depth))
    for number, (name, loaders) in enumerate(MADE.items()):
        for at, (way, (named, trains)) in enumerate(TRAINS.items()):
            each, batches = list(EACH.values())[(number + at) % 2]
            text = PHASES.format(
                loaders=loaders, named=named, trains=trains, each=each, batches=batches, size=SIZES[(number + at) % 3]
            )
            yield f"phases {name}, {way}, {each}", HEAD.format(loader=LOADERS["shuffled"]) + text
    for name, loaders in MADE.items():
        yield f"phases in a script {name}", HEAD.format(loader=LOADERS["shuffled"]) + DIRECT % loaders
        yield f"phases counted before {name}", HEAD.format(loader=LOADERS["shuffled"]) + BEFOREHAND % loaders
    yield "told in between", HEAD.format(loader=LOADERS["shuffled"]) + TOLD.format(step=STEP.format(" " * 8))


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """The numbers that rank 0 of two prints in each program."""
    return told_by_first(
        [*programs(), *((name, now_and_then(name, 8)) for name in TELLING)], tmp_path_factory.mktemp("means")
    )


@pytest.mark.parametrize(("name", "text"), [pytest.param(*each, id=each[0]) for each in programs()])
def test_what_is_printed_is_of_all_the_data(
    name: str, text: str, printed: dict[str, list[float]], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    alone = told_alone(text, capsys)
    assert len(alone) >= 1
    assert printed[name] == pytest.approx(alone, rel=1e-4)


@pytest.mark.parametrize("name", TELLING)
def test_what_is_told_of_a_batch_is_of_the_batch_of_all(
    name: str, printed: dict[str, list[float]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Two ranks that take 8 samples each, in turn, tell what one process tells of 16."""
    alone = told_alone(now_and_then(name, 16), capsys)
    assert len(alone) >= 1
    assert printed[name] == pytest.approx(alone, rel=1e-4)
