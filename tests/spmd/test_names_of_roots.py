"""What is named like a rank and given as a root is the rank of the root: the same number on every rank."""

from __future__ import annotations

import time
from itertools import product
from pathlib import Path

import pytest

from distml.source.file import SourceFile
from distml.source.project import Project
from distml.spmd.check import check_source

from spmd.running import run_all

HEAD = """\
import torch
import torch.distributed as dist
"""
FORMS = {
    "a parameter": "def sync(x, rank):\n    if {rank}:\n        {send}\n",
    "a parameter with a default": "def sync(x, rank=None):\n    if not {rank}:\n        return None\n    return {send}\n",
    "a local name": "def sync(x, rank):\n    owner = rank\n    if {rank}:\n        owner = rank\n        {send}\n",
    "an attribute": "def sync(x, part):\n    if {part.rank}:\n        {send}\n",
    "an attribute that is handed on": "def give(x, rank):\n    if {rank}:\n        {send}\n"
    "def sync(x, part):\n    give(x, rank=part.rank)\n",
    "an object's own": "class Part:\n    def __init__(self, **given):\n        vars(self).update(given)\n"
    "    def sync(self, x):\n        if {self.rank}:\n            {send}\n"
    "def sync(x, part):\n    Part(rank=part.rank).sync(x)\n",
}
TESTS = ("{}", "{} > 0", "{} != 0", "{} is not None and {} >= 1")
SENDS = (
    "dist.broadcast(x, src={})",
    "dist.broadcast(x, {})",
    "dist.reduce(x, dst={})",
    "dist.all_reduce(x) or dist.reduce(x, {})",
)
NAMES = ("rank", "rank_id", "process_index")
CALLED = """
class Owner(int):
    rank = rank_id = process_index = 1
dist.init_process_group("gloo")
for text in every:
    names = {"dist": dist}
    exec(text, names)
    names["sync"](torch.ones(3), Owner(1))
"""
BAD = {
    "the rank is given": "def sync(x, rank):\n    if rank:\n        dist.broadcast(x, src=rank)\n"
    "sync(torch.ones(3), dist.get_rank())\n",
    "the rank is asked for": "def sync(x):\n    rank = dist.get_rank()\n    if rank:\n        dist.broadcast(x, src=rank)\n"
    "sync(torch.ones(3))\n",
    "rank 0 as root of what it alone comes to": "def sync(x, rank):\n    if rank == 0:\n        dist.broadcast(x, src=rank)\n"
    "sync(torch.ones(3), dist.get_rank())\n",
    "another root": "def sync(x, rank):\n    if rank:\n        dist.broadcast(x, src=0)\nsync(torch.ones(3), dist.get_rank())\n",
    "every rank as root": "def sync(x):\n    dist.broadcast(x, src=dist.get_rank())\n    dist.barrier()\nsync(torch.ones(3))\n",
}


def written(form: str, test: str, send: str, name: str) -> str:
    """A function that a program out of sight calls."""
    text = FORMS[form]
    for place in ("{self.rank}", "{part.rank}", "{rank}"):
        if place in text:
            asked = place[1:-1]
            text = text.replace(place, test.replace("{}", asked)).replace("{send}", send.replace("{}", asked), 1)
    return text.replace("rank", name)


GOOD = [written(*each) for each in product(FORMS, TESTS, SENDS, NAMES)]


def codes(text: str) -> set[str]:
    source = SourceFile("absent/p.py", "absent/p.py", (HEAD + text).encode(), module="", is_package=False)
    return {each.code for each in check_source(source, Project("."), time.process_time() + 10)}


@pytest.mark.parametrize("text", GOOD)
def test_nothing_is_said_of_who_sends(text: str) -> None:
    assert not codes(text)


@pytest.mark.requires("torch")
def test_they_run_to_their_end_on_two_processes(tmp_path: Path) -> None:
    program = tmp_path / "all.py"
    program.write_text(f"{HEAD}every = {GOOD!r}\n{CALLED}", encoding="utf-8")
    [ending] = run_all([program]).values()
    assert ending.how == "finished", ending


@pytest.mark.parametrize("form", BAD)
def test_what_ranks_do_on_their_own_is_found(form: str) -> None:
    assert codes(BAD[form])


@pytest.mark.requires("torch")
def test_it_hangs_or_fails_on_two_processes(tmp_path: Path) -> None:
    programs = [tmp_path / f"{number}.py" for number, _ in enumerate(BAD)]
    for program, text in zip(programs, BAD.values()):
        start = "dist.init_process_group('gloo')\n"
        program.write_text(HEAD + start + text + "dist.barrier()\n", encoding="utf-8")
    endings = run_all(programs)
    assert {ending.how for ending in endings.values()} <= {"hang", "error"}, endings


@pytest.mark.parametrize("test", ["rank == 0", "rank", "not rank", "x.rank == 0"])
def test_a_name_that_is_no_root_tells_the_rank(test: str) -> None:
    assert codes(f"def sync(x, rank):\n    if {test}:\n        dist.barrier()\n")
