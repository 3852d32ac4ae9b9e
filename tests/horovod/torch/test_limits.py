"""Training that ends after so many steps: the ranks together take as many batches as one process does, and equally many each."""

from __future__ import annotations

import pytest
from horovod.torch.programs import HEAD, outcome, rewritten, said_by_two

pytestmark = pytest.mark.requires("torch")

STEP = """\
optimizer.zero_grad()
nn.functional.mse_loss(model(a), b).backward()
optimizer.step()
taken += 1
"""
PROGRAM = (
    HEAD
    + """
import itertools
from itertools import islice

loader = {loader}
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
taken = 0


class settings:
    most = 8

{loop}
print("taken", taken)
"""
)
LOADERS = {
    "a sampler": "DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)",
    "batches": "DataLoader(TensorDataset(x, y), batch_sampler=[[i, i + 1, i + 2] for i in range(0, 36, 3)])",
}
LOOPS = {
    "the number of a turn": "for i, (a, b) in enumerate(loader):\n    if i >= 8:\n        break\n    {step}",
    "a turn from one": "for i, (a, b) in enumerate(loader, 1):\n    if i > settings.most:\n        break\n    {step}",
    "behind the step": "for i, (a, b) in enumerate(loader):\n    {step}    if i + 1 == 8:\n        break\n",
    "a counter": "step = 0\nfor a, b in loader:\n    {step}    step += 1\n    if step >= settings.most:\n        break\n",
    "a slice": "for a, b in itertools.islice(loader, 8):\n    {step}",
    "a counted slice": "most = 10\nfor i, (a, b) in enumerate(islice(loader, 0, most - 2)):\n    {step}",
    "beside a range": "for i, (a, b) in zip(range(settings.most), loader):\n    {step}",
    "a range behind": "for (a, b), i in zip(loader, range(8)):\n    {step}",
    "over epochs": "most = 16\nstep = 0\nfor epoch in range(5):\n    for a, b in loader:\n        {step}        step += 1\n"
    "        if step == most:\n            break\n    if step == most:\n        break\n",
    "while": "step = 0\nwhile step < 16:\n    for a, b in loader:\n        {step}        step += 1\n"
    "        if step >= 16:\n            break\n",
    "given back": "def train(most):\n    global taken\n    step = 0\n    while True:\n        for a, b in loader:\n"
    "            {step}            step += 1\n            if most <= step:\n                return\n\n\ntrain(16)\n",
    "of an object": "class Solver:\n    def __init__(self):\n        self.step, self.most = 0, 16\n\n    def train(self):\n"
    "        global taken\n        out = False\n        while not out:\n            for a, b in loader:\n                {step}"
    "                self.step += 1\n                if self.step >= self.most:\n                    out = True\n"
    "                    break\n\n\nSolver().train()\n",
    "between": "for i, (a, b) in enumerate(loader):\n    if 0 < settings.most <= i:\n        break\n    {step}",
    "of steps of two batches": "step = 0\nfor i, (a, b) in enumerate(loader):\n    {step}    if (i + 1) % 2 == 0:\n"
    "        step += 1\n        if 0 < 4 <= step:\n            break\n",
    "samples": "for i, (a, b) in enumerate(loader):\n    if i * len(a) >= 8 * len(a):\n        break\n    {step}",
    "samples, the other way round": "for i, (a, b) in enumerate(loader):\n    if settings.most * len(a) <= len(a) * i:\n"
    "        break\n    {step}",
    "half of the loader": "for i, (a, b) in enumerate(loader):\n    if i >= len(loader) // 3 * 2:\n        break\n    {step}",
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """What both processes print in each program."""
    texts = {}
    for loader, made in LOADERS.items():
        for way, loop in LOOPS.items():
            depth = " " * loop[: loop.index("{step}")][::-1].index("\n")
            step = STEP.replace("\n", "\n" + depth).removesuffix(depth)
            found = outcome(PROGRAM.format(loader=made, loop=loop.replace("{step}", step)), "ddp")
            assert not found.plan.refusals
            (file,) = found.files.values()
            texts[f"{way}, {loader}"] = file.source
    return said_by_two(texts, tmp_path_factory.mktemp("limits"))


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("way", LOOPS)
def test_ranks_together_take_as_many_batches(way: str, loader: str, told: dict[str, tuple[str, str]]) -> None:
    most = 16 if way in ("over epochs", "while", "given back", "of an object") else 8
    assert told[f"{way}, {loader}"][0].split()[-2:] == ["taken", str(most // 2)]


COUNTED = """
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True, drop_last=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
seen, phase, total = 0, 0, 0.0
for epoch in range(2):
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
        {count}
        {used}
"""
SIZES = {
    "its length": "seen += len(a)",
    "its size": "seen += a.size(0)",
    "its shape": "seen += a.shape[0]",
    "a variable": "rows = a.shape[0]\n        seen += rows",
}
UNTIL = "if seen > 64:\n            seen, phase = 0, phase + 1"


@pytest.mark.parametrize("size", SIZES)
def test_samples_that_are_counted_up_to_a_limit_are_those_of_all_ranks(size: str) -> None:
    after = rewritten(HEAD + COUNTED.format(count=SIZES[size], used=UNTIL), "ddp")
    last = SIZES[size].rpartition("seen += ")[2]
    assert f"seen += {last} * dist.get_world_size()" in after


@pytest.mark.parametrize("used", ["total += loss.item() * len(a) / seen", "print(seen)"])
def test_samples_that_sums_are_divided_by_or_that_are_told_have_no_limit(used: str) -> None:
    assert "seen += len(a)\n" in rewritten(HEAD + COUNTED.format(count=SIZES["its length"], used=used), "ddp")


ENDED = """
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
most, step = 8, 0


class Count:
    step = 0


for epoch in range(9):
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
        step += 1
        Count.step += 1
        {shown}
    if {counter} >= most:
        break
"""
SHARES = {
    "a format": "print('%d/%d' % ({counter}, most))",
    "format": "print('{{}} of {{}}'.format({counter}, most))",
    "an f-string": "print(f'{{{counter}}}/{{most}}')",
    "a quotient": "print({counter} / most)",
    "a share": "print(100.0 * {counter} / most)",
    "the last one": "print({counter} == most, 'is the last')",
    "alone": "print(most)",
    "beside an epoch": "print(epoch, 'of', 9)",
}


@pytest.mark.parametrize("counter", ["step", "Count.step"])
@pytest.mark.parametrize("way", SHARES)
def test_a_step_is_told_beside_the_number_of_steps_of_a_rank(way: str, counter: str) -> None:
    """Where training ends by their number."""
    shown = SHARES[way].format(counter=counter)
    after = rewritten(HEAD + ENDED.format(shown=shown, counter=counter), "ddp")
    assert f"if {counter} >= most // dist.get_world_size():" in after
    line = next(each for each in after.splitlines() if each.strip().startswith("print("))
    assert ("most // dist.get_world_size()" in line) is (way not in ("alone", "beside an epoch"))
