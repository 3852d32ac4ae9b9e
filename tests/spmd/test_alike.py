"""Programs that all ranks follow alike, whatever they are written with: each is run on two processes, none is accused."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from distml.diagnostics.model import Diagnostic
from distml.source.file import SourceFile
from distml.source.project import Project
from distml.spmd.check import check_source

from spmd.running import run_all

HEAD = """\
import argparse
import collections
import contextlib
import copy
import functools
import itertools
import json
import logging
import math
import os
import pathlib
import random
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, TensorDataset
from torch.utils.data.distributed import DistributedSampler

rank = dist.get_rank()
world = dist.get_world_size()
x = torch.ones(3)
parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=3)
args, _ = parser.parse_known_args([])
"""
ACCELERATED = """\
import contextlib
import functools
import os
import tempfile
import time

import torch
import torch.nn as nn
from accelerate import Accelerator, PartialState
from accelerate.utils import broadcast, broadcast_object_list, gather, gather_object, reduce
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
folder = tempfile.gettempdir()
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.ones(32, 4), torch.ones(32, 1)), batch_size=4)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
"""
BLOCK = re.compile(r"^```py (\w+)\.py\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ITERATED = ("range(3)", "loader", "[1, 2, 3]", "list(range(6))[::2]")
WRAPPED = (
    *("iter(each)", "list(each)", "tuple(each)", "[*each]", "(b for b in each)", "[b for b in each]", "shown(each)"),
    *(
        "Shown(each)",
        "map(str, each)",
        "filter(None.__ne__, each)",
        "itertools.islice(each, 3)",
        "itertools.chain(each)",
    ),
    *("reversed(list(each))", "sorted(list(each), key=str)", "progress.bar(each, total=3)"),
)
"""What a rank may go through instead, as often."""
LOOP = """
class progress:
    bar = staticmethod(lambda each, **options: each)
def shown(each):
    for b in each:
        print(b)
        yield b
class Shown:
    def __init__(self, each): self.each = each
    def __iter__(self): return iter(self.each)
    def __len__(self): return len(self.each)
loader = DataLoader(list(range(6)), batch_size=2)
each = {each}
for b in {wrapped} if rank == 0 else each:
    dist.all_reduce(x)
each = {each}
if rank == 0:
    each = {wrapped}
for b in each:
    dist.all_reduce(x)
"""


def programs(page: str) -> dict[str, str]:
    """The programs of a page by their names."""
    return dict(BLOCK.findall(Path(__file__).with_name(page).read_text(encoding="utf-8")))


LOOPS = {f"{one} and {each}": LOOP.format(each=each, wrapped=one) for one in WRAPPED for each in ITERATED}
PROGRAMS = {name: HEAD + text for name, text in {**programs("alike.md"), **LOOPS}.items()}
WITH_ACCELERATE = {name: ACCELERATED + text for name, text in programs("accelerated.md").items()}
WRONG = {name: WITH_ACCELERATE.pop(name) for name in [*WITH_ACCELERATE] if name.startswith("wrong_")}


def found(text: str) -> tuple[Diagnostic, ...]:
    source = SourceFile("absent/p.py", "absent/p.py", text.encode(), module="", is_package=False)
    return check_source(source, Project("."), time.process_time() + 10)


@pytest.mark.parametrize("name", [*PROGRAMS, *WITH_ACCELERATE])
def test_nothing_is_said(name: str) -> None:
    assert not found({**PROGRAMS, **WITH_ACCELERATE}[name])


@pytest.mark.parametrize("name", WRONG)
def test_what_accelerate_would_wait_for_is_found(name: str) -> None:
    assert len(found(WRONG[name])) == 1


@pytest.mark.parametrize("which", [PROGRAMS, pytest.param(WITH_ACCELERATE, marks=pytest.mark.requires("accelerate"))])
def test_all_run_to_their_end_on_two_processes(which: dict[str, str], tmp_path: Path) -> None:
    program = tmp_path / "all.py"
    program.write_text(
        "import torch.distributed as dist\ndist.init_process_group('gloo')\n"
        f"for name, text in {[*which.items()]!r}:\n"
        "    exec(compile(text, name, 'exec'), {'__name__': '__main__'})\n"
        "    dist.barrier()\n",
        encoding="utf-8",
    )
    [ending] = run_all([program]).values()
    assert ending.how == "finished", ending
