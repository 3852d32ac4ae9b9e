"""How far a pass has come is told of the rank's own part: at its end all of that is done, as all of the data was before.

The rewritten programs are run in this process as rank 0 of two, with a library of collectives that gives back what it is given.
"""

from __future__ import annotations

import pytest
from horovod.torch.programs import printed_as, rewritten

pytestmark = pytest.mark.requires("torch")

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
{imports}

data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
loader = DataLoader(data, batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def make(part):
    return DataLoader(part, batch_size=8, shuffle=True)


def step(x, y):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()


"""
BODIES = {
    "of the shorter of two": """
class Own(torch.utils.data.Sampler):
    def __init__(self, data):
        self.data = data

    def __iter__(self):
        return iter(range(len(self.data)))

    def __len__(self):
        return len(self.data)


first = DataLoader(data, batch_size=8, sampler=Own(data))
second = DataLoader(data, batch_size=8, sampler=Own(data))
most = min(len(first), len(second))
for i, ((x, y), _) in enumerate(zip(first, second)):
    step(x, y)
    print(i + 1, most)
""",
    "of the shorter of two that are evaluated too": """
first, second = make(data), make(data)
most = min(len(first), len(second))


def judge(batches):
    with torch.no_grad():
        return [model(x) for x, y in batches]


for i, ((x, y), _) in enumerate(zip(first, second)):
    step(x, y)
    print(i + 1, most)
judge(first)
judge(second)
""",
    "of the data set": """
def run():
    done = 0
    for x, y in loader:
        step(x, y)
        done += len(x)
        print(done, len(loader.dataset))
run()
""",
    "by its method": """
done = 0
for x, y in loader:
    step(x, y)
    done += len(x)
    print(done, loader.dataset.__len__())
""",
    "by the name of the data": """
done = 0
for x, y in loader:
    step(x, y)
    done += x.size(0)
    print(f"{done} {len(data)}")
""",
    "in a variable": """
def run(through):
    whole = len(through.dataset)
    for i, (x, y) in enumerate(through, 1):
        step(x, y)
        print("{} {}".format(i * len(x), whole))
run(loader)
""",
    "in a text that is printed later": """
for i, (x, y) in enumerate(loader):
    step(x, y)
    text = "%d %d" % ((i + 1) * 8, len(data))
    print(text)
""",
    "of batches": """
for i, (x, y) in enumerate(loader):
    step(x, y)
    print(i + 1, len(loader))
""",
    "of batches that are dealt out": """
def run(through):
    for i, (x, y) in enumerate(through):
        step(x, y)
        print(i + 1, len(through))
run(make(data))
for x, y in make(data):
    model(x)
""",
    "the last of those": """
def run(through):
    for i, (x, y) in enumerate(through):
        step(x, y)
        if i == len(through) - 1:
            print(1, 1)
        else:
            print(0, 1)
run(make(data))
for x, y in make(data):
    model(x)
""",
    "a fraction of those": """
def run(through):
    for i, (x, y) in enumerate(through, 1):
        step(x, y)
        print(i / len(through), 1)
run(make(data))
for x, y in make(data):
    model(x)
""",
    "their number in a variable": """
def run(through):
    turns = len(through)
    for i, (x, y) in enumerate(through, 1):
        step(x, y)
        print(i, turns)
run(make(data))
for x, y in make(data):
    model(x)
""",
    "a bar of samples": """
bar = tqdm(total=len(data))
for x, y in loader:
    step(x, y)
    bar.update(len(x))
print(bar.n, bar.total)
""",
    "a bar of whole batches": """
with tqdm(total=len(data) - len(data) % 8) as shown:
    for x, y in loader:
        step(x, y)
        shown.update(len(x))
print(shown.n, shown.total)
""",
    "a bar of batches": """
bar = tqdm(total=len(loader))
for x, y in loader:
    step(x, y)
    bar.update()
print(bar.n, bar.total)
""",
    "a bar of all epochs": """
bar = tqdm(desc="all", total=3 * len(loader))
for epoch in range(3):
    for x, y in loader:
        step(x, y)
        bar.update(1)
print(bar.n, bar.total)
""",
    "a bar of an evaluation in each turn": """
def evaluate():
    with tqdm(total=len(data)) as bar:
        for x, y in DataLoader(data, batch_size=4):
            bar.update(len(x))
    return bar
for x, y in loader:
    step(x, y)
    bar = evaluate()
print(bar.n, bar.total)
""",
    "of pieces that are dealt out": """
count, size = 64, 8
a, b = torch.randn(count, 4), torch.randn(count, 1)
for i, at in enumerate(range(0, count, size)):
    step(a[at : at + size], b[at : at + size])
    print(i + 1, count // size)
""",
    "of pieces, as a whole number": """
count, size = 64, 8
a, b = torch.randn(count, 4), torch.randn(count, 1)
for i, at in enumerate(range(0, count, size), 1):
    step(a[at : at + size], b[at : at + size])
    print("{} {}".format(i, int(count / size)))
""",
    "a bar of epochs": """
bar = tqdm(total=3)
for epoch in range(3):
    for x, y in loader:
        step(x, y)
    bar.update(1)
print(bar.n, bar.total)
""",
}


@pytest.mark.parametrize("body", BODIES)
def test_at_the_end_of_a_pass_all_is_done(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = HEAD.format(imports="from tqdm import tqdm" if "tqdm" in BODIES[body] else "") + BODIES[body]
    done, whole = map(float, printed_as(1, source, monkeypatch)[-1].split())
    assert done == whole
    done, whole = map(float, printed_as(2, rewritten(source), monkeypatch)[-1].split())
    assert done == whole > 0


DEALT = """
count, size = 64, 8
a, b = torch.randn(count, 4), torch.randn(count, 1)
for at in tqdm({items}):
    step(a[at : at + size], b[at : at + size])
"""
ITEMS = {"a range": "range(0, count, size)", "a list": "[0, 8, 16, 24]", "an array": "np.arange(0, count, size)"}


@pytest.mark.parametrize("items", ITEMS)
def test_a_bar_around_what_is_dealt_out_knows_its_length(items: str) -> None:
    source = HEAD.format(imports="import numpy as np\nfrom tqdm import tqdm") + DEALT.format(items=ITEMS[items])
    text = rewritten(source)
    assert ("part[hvd.rank()]" in text) is (f"total=len({ITEMS[items]}) // hvd.size()" in text)
    assert items != "a range" or "total=" in text


SAMPLER = """
print(len(loader.sampler), "samples")
for epoch in range(2):
    for i, (a, b) in enumerate(loader):
        step(a, b)
        print(i * len(a), "of", len(loader.sampler))
"""


def test_a_sampler_counts_all_samples_but_beside_those_of_a_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed_as(2, rewritten(HEAD.format(imports="") + SAMPLER), monkeypatch)
    assert lines[0] == "64 samples" and lines[-1] == "24 of 32"
