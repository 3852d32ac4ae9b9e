"""What loggers in a list or a dictionary tell is told by the program, also what they are given by `**`."""

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


class Logger:
    def __init__(self, key):
        self.key = key

    def log(self, *args, **kwargs):
        if self.key in kwargs:
            tell(kwargs[self.key])


class Service:
    def __init__(self, loggers=None):
        self.loggers = loggers if loggers else []

    def log(self, data):
        for logger in self.loggers:
            logger.log(**data)


class Meters:
    def __init__(self):
        self.sums = {}

    def update(self, name, value):
        if name not in self.sums:
            self.sums[name] = 0
        self.sums[name] += value

    def all(self, how="{}"):
        return {how.format(name): value for name, value in self.sums.items()}


dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
meters = Meters()
MADE
for x in DataLoader(data, sampler=DistributedSampler(data)):
    loss = model(x).mean()
    loss.backward()
    number = loss.item()
    GIVEN
    TOLD
"""
MADE = {
    "a list": "loggers = [Logger('loss'), Logger('epoch')]",
    "a list of one": "loggers = [Logger('loss')]",
    "a list that grows": "loggers = []\nfor name in names:\n    loggers.append(Logger(name))",
    "a comprehension": "loggers = [Logger(name) for name in ['loss', 'epoch']]",
    "a dictionary": "by_name = {'a': Logger('loss'), 'b': Logger('epoch')}\nloggers = by_name.values()",
}
GIVEN = {
    "a dictionary": "told = {'epoch': 1, 'loss': NUMBER}",
    "one that is filled": "told = {'epoch': 1}\n    told['loss'] = NUMBER",
    "one that is updated": "told = {'epoch': 1}\n    told.update({'loss': NUMBER})",
    "one that is updated by meters": "told = {'epoch': 1}\n    meters.update('loss', NUMBER)\n    told.update(meters.all())",
    "one that is updated by what nobody knows": "told = {'epoch': 1}\n    told.update(collected(loss=NUMBER))",
}
TOLD = {
    "each": "for logger in loggers:\n        logger.log(**told)",
    "a service": "Service(loggers).log(told)",
}
SOMETIMES = {
    "an expression": "logger = Logger('loss') if settings.log else None",
    "the other arm": "logger = None if settings.quiet else Logger('loss')",
    "a branch": "logger = None\nif settings.log:\n    logger = Logger('loss')",
    "both arms": "if settings.log:\n    logger = Logger('loss')\nelse:\n    logger = None",
}
ASKED = {
    "if it is there": "if logger is not None:\n        logger.log(**told)",
    "by its truth": "if logger:\n        logger.log(**told)",
}
OWN, ALL = "number", "len(data)"


def told(made: str, given: str, way: str, number: str) -> list[int]:
    """The lines of the calls of `tell` that are given what is of a rank's batch."""
    text = PROGRAM.replace("MADE", (MADE | SOMETIMES)[made]).replace("GIVEN", GIVEN[given])
    text = text.replace("TOLD", (TOLD | ASKED)[way])
    project = Project("/nowhere", overlay={"/nowhere/a.py": text.replace("NUMBER", number).encode()})
    source = project.open("/nowhere/a.py")
    return [
        each.node.lineno
        for each in certified(source, project, time.process_time() + 20, Watch(frozenset({"tell"}))).told
    ]


@pytest.mark.parametrize(("made", "given", "way"), [*product(MADE, GIVEN, TOLD)])
def test_a_number_of_a_rank_is_told_by_loggers(made: str, given: str, way: str) -> None:
    assert told(made, given, way, OWN)


@pytest.mark.parametrize(("made", "given", "way"), [*product(MADE, GIVEN, TOLD)])
def test_a_number_of_all_is_not(made: str, given: str, way: str) -> None:
    assert not told(made, given, way, ALL)


@pytest.mark.parametrize(
    ("read", "own"), [("x.type(torch.FloatTensor)", True), ("x.type()", False), ("x.size(0)", False)]
)
def test_data_in_another_type_is_data(read: str, own: bool) -> None:
    """Asked without one, the type is that of all batches."""
    assert bool(told("a list", "a dictionary", "each", read)) is own


@pytest.mark.parametrize("number", [OWN, ALL])
@pytest.mark.parametrize(("made", "way"), [*product(SOMETIMES, ASKED)])
def test_a_logger_that_there_may_be_tells(made: str, way: str, number: str) -> None:
    """Nothing says whether settings ask for it."""
    assert bool(told(made, "a dictionary", way, number)) is (number is OWN)
