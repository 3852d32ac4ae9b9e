"""Functions of a file that is not among the paths: calls are left to rank 0 where such a function only puts something out."""

from __future__ import annotations

from textwrap import indent

import pytest

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import Outcome, rewrite
from distml.source.project import Project
from distml.training.program import Program, followed

SCRIPT = """\
import torch
from torch.utils.data import DataLoader, TensorDataset
import helpers
from helpers import *

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train():
    global writer
    for x, y in DataLoader(TensorDataset(torch.ones(64, 4), torch.ones(64, 1)), batch_size=8):
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        {call}


train()
"""
HEAD = """\
import sys
import numpy as np
import matplotlib.pyplot as plt
import torch
from scipy.misc import imsave
from torch.utils.tensorboard import SummaryWriter

last = seen = 0
kept = []
writer = SummaryWriter()


"""
PUT_OUT = {
    "prints": (
        """\
def told(*what):
    print(*what)
""",
        "helpers.told(loss.item())",
    ),
    "under its own name": (
        """\
def told(*what):
    print(*what)
""",
        "told(loss.item())",
    ),
    "a bar": (
        """\
def bar(i, n):
    global last
    parts = []
    for k in range(i):
        sys.stdout.write('=')
        parts.append('x')
    step, last = i - last, i
    sys.stdout.write(''.join(parts))
    sys.stdout.flush()
""",
        "helpers.bar(1, 2)",
    ),
    "a picture": (
        """\
def merge(images):
    whole = np.zeros((2, 2))
    for i, image in enumerate(images):
        whole[i] = image
    return whole


def picture(path, images):
    imsave(path, merge(images))
""",
        "helpers.picture('a.png', x)",
    ),
    "a plot": (
        """\
def plot(values, path):
    figure = plt.figure()
    axes = figure.add_subplot(111)
    axes.plot(values)
    plt.savefig(path)
    plt.close(figure)
""",
        "helpers.plot([loss.item()], 'a.png')",
    ),
    "a line in a file": (
        """\
def line(path, text):
    with open(path, 'a') as file:
        file.write(text + '\\n')
""",
        "helpers.line('log.txt', str(loss.item()))",
    ),
    "a method": (
        """\
class Log:
    def __init__(self, path):
        self.path = path

    def put(self, text):
        print(self.path, text)


log = Log('a')
""",
        "helpers.log.put(loss.item())",
    ),
    "a writer": (
        "",
        "writer.add_scalar('loss', loss.item(), 1)",
    ),
    "a writer by its module": (
        "",
        "helpers.writer.add_scalar('loss', loss.item(), 1)",
    ),
}
RELIED_ON = {
    "a collective": "def told(x):\n    torch.distributed.barrier()\n    print(x)\n",
    "a list of the module": "def told(x):\n    kept.append(x)\n    print(x)\n",
    "a count that others read": "def told(x):\n    global seen\n    seen += 1\n    print(x)\n\n\ndef count():\n    return seen\n",
    "a list of the caller": "def told(x):\n    x[0] = 1\n    print(x)\n",
    "an attribute": "def told(x):\n    x.shown = True\n    print(x)\n",
    "a file that is opened where an object is made": """\
class told:
    def __init__(self, x):
        self.file = open('a.txt', 'w')
        self.file.write('begun')
""",
    "random numbers": "def told(x):\n    print(np.random.rand())\n",
    "weights, which are read again": "def told(x):\n    torch.save(x, 'a.pt')\n",
    "what nobody knows": "import other\n\n\ndef told(x):\n    print(other.find(x))\n",
}


def outcome(helpers: str, call: str) -> Outcome:
    script = SCRIPT.format(call=call)
    files = {"/nowhere/script.py": script.encode(), "/nowhere/helpers.py": (HEAD + helpers).encode()}
    project = Project("/nowhere", overlay=files)
    source = project.open("/nowhere/script.py")
    program: Program = followed([source], project)
    return rewrite(program, Options(), [source.location], {source.location: script})


@pytest.mark.parametrize("what", PUT_OUT)
def test_what_only_puts_out_is_left_to_rank_0(what: str) -> None:
    helpers, call = PUT_OUT[what]
    (file,) = outcome(helpers, call).files.values()
    assert indent(f"if hvd.rank() == 0:\n    {call}\n", " " * 8) in file.source


@pytest.mark.parametrize("what", RELIED_ON)
def test_what_ranks_rely_on_is_done_by_all_and_named(what: str) -> None:
    found = outcome(RELIED_ON[what], "helpers.told(x)")
    (file,) = found.files.values()
    assert "\n        helpers.told(x)\n" in file.source and "on_rank_zero" not in file.source
    assert [each.code for each in found.plan.warnings if each.code != "HVD313"] == ["HVD306"]
