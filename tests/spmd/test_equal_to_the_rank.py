"""One value is equal to the rank of one process at most: whoever asks for that asks for the rank."""

from __future__ import annotations

import time
from itertools import product

import pytest

from distml.source.file import SourceFile
from distml.source.project import Project
from distml.spmd.check import check_source

HEAD = """\
import json
import os
import sys
from argparse import ArgumentParser

import torch
import torch.distributed as dist
"""
SOURCES = {
    "a variable of the environment": "who = int(os.environ['WHO'])\n",
    "an argument": "who = int(sys.argv[1])\n",
    "an option": "parser = ArgumentParser()\nparser.add_argument('--who', type=int)\nwho = parser.parse_args().who\n",
    "a file": "who = json.load(open('who.json'))['ranks'][0]\n",
    "a calculation": "who = int(os.environ['WHO']) // 2 + 1\n",
    "a constant": "WHO = int(os.environ.get('WHO', 0))\nwho = WHO\n",
}
BAD = {
    "equal": "if dist.get_rank() == {who}:\n    dist.all_reduce(x)\n",
    "the other way round": "if {who} == dist.get_rank():\n    dist.all_reduce(x)\n",
    "other": "if dist.get_rank() != {who}:\n    dist.all_reduce(x)\n",
    "not": "if not dist.get_rank() == {who}:\n    dist.all_reduce(x)\n",
    "else": "if dist.get_rank() == {who}:\n    print(x)\nelse:\n    dist.all_reduce(x)\n",
    "and": "if flag and dist.get_rank() == {who}:\n    dist.all_reduce(x)\n",
    "or": "if flag or dist.get_rank() == {who}:\n    dist.all_reduce(x)\n",
    "a name": "mine = dist.get_rank() == {who}\nif mine:\n    dist.all_reduce(x)\n",
    "an expression": "dist.all_reduce(x) if dist.get_rank() == {who} else None\n",
    "an operand": "dist.get_rank() == {who} and dist.all_reduce(x)\n",
    "a loop": "for _ in range(3):\n    if dist.get_rank() == {who}:\n        continue\n    dist.all_reduce(x)\n",
    "a text": "if str(dist.get_rank()) == str({who}):\n    dist.all_reduce(x)\n",
    "the end of the process": "if dist.get_rank() == {who}:\n    raise SystemExit\ndist.all_reduce(x)\n",
    "the other order": "if dist.get_rank() == {who}:\n    dist.all_reduce(x)\n    dist.broadcast(x, 0)\n"
    "else:\n    dist.broadcast(x, 0)\n    dist.all_reduce(x)\n",
}
GOOD = {
    "both sides": "if dist.get_rank() == {who}:\n    x += 1\n    dist.broadcast(x, {who})\nelse:\n    dist.broadcast(x, {who})\n",
    "what one rank does alone": "if dist.get_rank() == {who}:\n    print(x)\ndist.all_reduce(x)\n",
    "a message": "if dist.get_rank() == {who}:\n    dist.send(x, 1)\nelse:\n    dist.recv(x, {who})\n",
    "a group that is not known": "if dist.get_rank() == {who}:\n    dist.all_reduce(x, group=groups[{who}])\n",
    "no rank": "if flag == {who}:\n    dist.all_reduce(x)\n",
    "one after the other": "if dist.get_rank() != {who}:\n    dist.barrier()\nprint(x)\n"
    "if dist.get_rank() == {who}:\n    dist.barrier()\n",
    "a number of the world": "if dist.get_world_size() == {who}:\n    dist.all_reduce(x)\n",
    "an order": "if dist.get_rank() < {who}:\n    dist.all_reduce(x)\n",
    "members": "if dist.get_rank() in {who}:\n    dist.all_reduce(x)\n",
}


def codes(body: str, source: str) -> set[str]:
    text = HEAD + SOURCES[source] + "x, flag, groups = torch.zeros(3), bool(os.environ['FLAG']), {}\n"
    text += body.format(who="who")
    project = Project(".")
    source_file = SourceFile("absent/p.py", "absent/p.py", text.encode(), module="", is_package=False)
    found = check_source(source_file, project, time.process_time() + 10)
    return {each.code for each in found}


@pytest.mark.parametrize(("form", "source"), list(product(BAD, SOURCES)))
def test_a_collective_under_it_is_found(form: str, source: str) -> None:
    assert codes(BAD[form], source)


@pytest.mark.parametrize(("form", "source"), list(product(GOOD, SOURCES)))
def test_nothing_is_said_where_all_ranks_meet(form: str, source: str) -> None:
    assert not codes(GOOD[form], source)
