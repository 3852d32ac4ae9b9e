"""Meters that a comprehension or a loop makes for names that nobody knows tell what they were given of a rank's batches."""

from __future__ import annotations

import time
from itertools import product

import pytest

from distml.source.project import Project
from distml.spmd.check import certified
from distml.spmd.told import Watch

PROGRAM = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


class Meter:
    def __init__(self):
        self.sum = 0

    def update(self, value):
        self.sum += value

    def value(self):
        return self.sum


dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
MADE
for x in DataLoader(data, sampler=DistributedSampler(data)):
    loss = model(x).mean()
    loss.backward()
    number = loss.item()
    UPDATED
TOLD
"""
NAMED = {
    "a comprehension": "meters = {name: Meter() for name in names}",
    "a loop": "meters = {}\nfor name in names:\n    meters[name] = Meter()",
    "written out": "meters = {'a': Meter(), 'b': Meter()}",
}
UPDATED = {
    "each": "for name, meter in meters.items():\n        meter.update(NUMBER)",
    "values": "for meter in meters.values():\n        meter.update(NUMBER)",
    "one": "meters['a'].update(NUMBER)",
    "by a dictionary": "for name, value in {'a': NUMBER, 'b': NUMBER}.items():\n        meters[name].update(value)",
}
TOLD = {
    "each": "for name, meter in meters.items():\n    tell(meter.value())",
    "a dictionary": "tell({name: meter.value() for name, meter in meters.items()})",
    "one": "tell(meters['a'].sum)",
    "a text": "tell(' '.join(f'{name} {meter.sum}' for name, meter in meters.items()))",
}
LISTED = {
    "a comprehension": "meters = [Meter() for name in names]",
    "a loop": "meters = []\nfor name in names:\n    meters.append(Meter())",
}
UPDATED_IN_LIST = {"each": "for meter in meters:\n        meter.update(NUMBER)", "one": "meters[0].update(NUMBER)"}
TOLD_OF_LIST = {
    "each": "for meter in meters:\n    tell(meter.value())",
    "a list": "tell([meter.value() for meter in meters])",
    "one": "tell(meters[0].sum)",
}
WAYS = [*product(NAMED.values(), UPDATED.values(), TOLD.values())]
WAYS += product(LISTED.values(), UPDATED_IN_LIST.values(), TOLD_OF_LIST.values())


def told(way: tuple[str, str, str], number: str) -> bool:
    """Whether `tell` is given what is of a rank's batch."""
    made, updated, tells = way
    text = PROGRAM.replace("MADE", made).replace("UPDATED", updated.replace("NUMBER", number)).replace("TOLD", tells)
    project = Project("/nowhere", overlay={"/nowhere/a.py": text.encode()})
    source = project.open("/nowhere/a.py")
    return bool(certified(source, project, time.process_time() + 20, Watch(frozenset({"tell"}))).told)


@pytest.mark.parametrize("way", WAYS)
def test_a_number_of_a_rank_is_told_by_meters(way: tuple[str, str, str]) -> None:
    assert told(way, "number")


@pytest.mark.parametrize("way", WAYS)
def test_a_number_of_all_is_not(way: tuple[str, str, str]) -> None:
    assert not told(way, "len(data)")
