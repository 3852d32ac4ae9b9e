"""What counts batches and epochs, run as one of two ranks: schedules end where they ended, no two epochs have one order."""

from __future__ import annotations

from typing import Any

import pytest
from horovod.torch.programs import outcome, rewritten
from horovod.torch.test_collectives import run

torch = pytest.importorskip("torch", reason="not run: needs torch")

HEAD = """\
import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.arange(64.0).reshape(64, 1), torch.ones(64, 1))
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
seen = []
"""
STEP = """\
{0}optimizer.zero_grad()
{0}(model(x) - y).square().mean().backward()
{0}optimizer.step()
{0}seen.append(x[0].item())
"""
LIBRARY = "torch.optim.lr_scheduler."
SCHEDULES = {
    "StepLR": "(optimizer, step_size=8)",
    "MultiStepLR": "(optimizer, [8, 16])",
    "ConstantLR": "(optimizer, 0.5, total_iters=30)",
    "LinearLR": "(optimizer, 0.5, total_iters=40)",
    "PolynomialLR": "(optimizer, 40)",
    "ExponentialLR": "(optimizer, 0.9)",
    "CosineAnnealingLR": "(optimizer, T_max=32)",
    "CosineAnnealingWarmRestarts": "(optimizer, 10)",
    "CyclicLR": "(optimizer, 0.01, 0.2, step_size_up=10, cycle_momentum=False)",
    "OneCycleLR": "(optimizer, 0.1, epochs=3, steps_per_epoch=400)",
    "LambdaLR": "(optimizer, lambda step: 1 / (1 + step))",
    "SequentialLR": f"(optimizer, [{LIBRARY}ConstantLR(optimizer), {LIBRARY}ExponentialLR(optimizer, 0.9)], milestones=[10])",
    "ChainedScheduler": f"([{LIBRARY}StepLR(optimizer, 8), {LIBRARY}ExponentialLR(optimizer, 0.9)])",
}


def trained(schedule: str, loader: str = "DataLoader(data, batch_size=8, shuffle=True)") -> str:
    loop = "for epoch in range(3):\n    for x, y in loader:\n" + STEP.format(" " * 8)
    return f"{HEAD}loader = {loader}\nschedule = {schedule}\n{loop}        schedule.step()\n"


def warned(program: str) -> set[str]:
    return {each.code for each in outcome(program).plan.warnings}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_by_batch_ends_where_it_ended(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = trained(f"{LIBRARY}{name}{SCHEDULES[name]}")
    alone: dict[str, Any] = {}
    exec(compile(program, "script.py", "exec"), alone)
    (rate,) = (group["lr"] for group in alone["optimizer"].param_groups)
    _, names = run(rewritten(program), 1, monkeypatch)
    (scaled,) = (group["lr"] for group in names["optimizer"].param_groups)
    assert len(names["seen"]) == len(alone["seen"]) // 2
    assert scaled == pytest.approx(2 * rate, rel=0.02)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_lengths_of_divided_data_are_not_divided_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = trained(f"{LIBRARY}OneCycleLR(optimizer, 0.1, total_steps=3 * len(loader) + 1)")
    _, names = run(rewritten(counted), 0, monkeypatch)
    assert names["schedule"].total_steps == 13


OWN = f"\n\nclass Own({LIBRARY}LRScheduler):\n    def get_lr(self):\n        return [0.1]\n\n\n"


@pytest.mark.parametrize(
    ("above", "schedule"),
    [
        ("from settings import options\n", f"{LIBRARY}CosineAnnealingLR(optimizer, **options)"),
        (OWN, "Own(optimizer)"),
        ("", f"{LIBRARY}MultiplicativeLR(optimizer, lambda step: 0.99)"),
    ],
)
def test_what_cannot_be_shortened_is_said(above: str, schedule: str) -> None:
    assert "HVD311" in warned(trained(schedule).replace(HEAD, HEAD + above))
    assert "HVD311" not in warned(trained(schedule).replace(HEAD, HEAD + above).replace("        sched", "    sched"))


def test_a_rate_that_is_set_for_each_batch_is_said() -> None:
    by_hand = 'optimizer.param_groups[0]["lr"] = 0.1 / (1 + len(seen))'
    program = trained("None").replace("schedule.step()", by_hand)
    assert "HVD311" in warned(program)
    assert "HVD311" not in warned(program.replace(f"        {by_hand}", f"    {by_hand}"))


LOADER = "DataLoader(data, batch_size=8, shuffle=True)"
TRAIN = "def train(loader):\n    for x, y in loader:\n" + STEP.format(" " * 8)
PREFETCHER = f"""
class Prefetcher:
    def __init__(self, loader):
        self.batches = iter(loader)
        self.fetch()

    def fetch(self):
        self.batch = next(self.batches, None)

    def next(self):
        batch = self.batch
        self.fetch()
        return batch


loader = {LOADER}
for _ in [1, 2, 3]:
    source = Prefetcher(loader)
    batch = source.next()
    while batch is not None:
        x, y = batch
{STEP.format(" " * 8)}        batch = source.next()
"""
ANEW = {
    "by a class that draws ahead": PREFETCHER,
    "in the head of the loop": f"for epoch in range(3):\n    for x, y in {LOADER}:\n" + STEP.format(" " * 8),
    "in the loop": f"for epoch in range(3):\n    loader = {LOADER}\n    for x, y in loader:\n" + STEP.format(" " * 8),
    "without a counter": f"{TRAIN}\n\ndone = 0\nwhile done < 3:\n    train({LOADER})\n    done += 1\n",
    "by a function": f"def make():\n    return {LOADER}\n\n\n{TRAIN}\n\nfor _ in [1, 2, 3]:\n    train(make())\n",
    "once": f"loader = {LOADER}\ndone = 0\nwhile done < 3:\n    for x, y in loader:\n{STEP.format(' ' * 8)}    done += 1\n",
    "for each fold": f"for fold in [1]:\n    loader = {LOADER}\n    done = 0\n    while done < 3:\n        for x, y in loader:\n"
    + STEP.format(" " * 12)
    + "        done += 1\n",
}


@pytest.mark.parametrize("way", ANEW)
def test_each_epoch_has_an_order_of_its_own(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = rewritten(HEAD + ANEW[way])
    first, second = (run(text, rank, monkeypatch)[1]["seen"] for rank in (0, 1))
    epochs = [tuple(first[at : at + 4]) for at in (0, 4, 8)]
    assert len(first) == 12
    assert len(set(epochs)) == 3
    assert not any(set(epochs[at]) & set(second[4 * at : 4 * at + 4]) for at in range(3))
