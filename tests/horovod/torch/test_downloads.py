"""Whatever way a program makes a data set that is downloaded, one process of each machine does, and the others wait until it has.

All programs run in two processes that share a folder: a second download while the first one goes on is an error, and one
that fails leaves nobody waiting.
"""

from __future__ import annotations

import ast

import pytest
from horovod.torch.programs import outcome, rewritten, said_by_two

pytestmark = pytest.mark.requires("torch")

HEAD = """
import sys, types

import os, time
library = types.ModuleType("torchvision")
library.datasets = types.ModuleType("torchvision.datasets")
sys.modules.update({"torchvision": library, "torchvision.datasets": library.datasets})
FAILS = {fails}


class MNIST(list):
    def __init__(self, root, train=True, download=False):
        super().__init__((float(i), float(i)) for i in range(16))
        place = "{name}"
        if download and not os.path.exists(place):
            busy = open(place + " busy", "x")
            time.sleep(0.3)
            os.remove(place + " busy")
            if FAILS:
                raise RuntimeError
            open(place, "x")


library.datasets.MNIST = MNIST
"""
PROGRAM = """
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import MNIST

{made}

loader = DataLoader(data, batch_size=4)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for a, b in loader:
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(a.float().reshape(-1, 1)), b.float().reshape(-1, 1)).backward()
    optimizer.step()
print("ended")
"""
WAYS = {
    "in place": 'data = MNIST("data", download=True)',
    "by a computed name": 'import torchvision.datasets as sets\n\ndata = sets.__dict__["mnist".upper()]("data", download=True)',
    "by getattr": 'import torchvision.datasets as sets\n\ndata = getattr(sets, "mnist".upper())("data", download=True)',
    "a class of the program": 'class Pairs(MNIST):\n    pass\n\n\ndata = Pairs("data", download=True)',
    "a class below one": "class Pairs(MNIST):\n    pass\n\n\nclass More(Pairs):\n    pass\n\n\n"
    'data = More("data", download=True)',
    "a constructor": 'class Pairs(MNIST):\n    def __init__(self):\n        super().__init__("data", download=True)\n\n\n'
    "data = Pairs()",
    "a constructor of old": "class Pairs(MNIST):\n    def __init__(self):\n"
    '        super(Pairs, self).__init__("data", download=True)\n\n\ndata = Pairs()',
    "a constructor by name": 'class Pairs(MNIST):\n    def __init__(self):\n        MNIST.__init__(self, "data", download=True)\n'
    "\n\ndata = Pairs()",
    "a part": 'class Pairs:\n    def __init__(self):\n        self.data = MNIST("data", download=True)\n\n'
    "    def __len__(self):\n        return 16\n\n    def __getitem__(self, i):\n        return self.data[i]\n\n\ndata = Pairs()",
    "by settings": 'given = {"train": True, "download": True}\n\ndata = MNIST("data", **given)',
    "by one of many settings": 'given = {"a": {"download": True}, "b": {}}\n\ndata = MNIST("data", **given["ab"[0]])',
    "by settings of a function": "def made(**given):\n    return MNIST('data', **given)\n\n\ndata = made(download=True)",
    "by a parameter": "def made(fetch=True):\n    return MNIST('data', download=fetch)\n\n\ndata = made()",
    "by a partial": 'from functools import partial\n\nmade = partial(MNIST, download=True)\ndata = made("data")',
    "from a table": 'kinds = {"a": MNIST, "b": list}\ngiven = {"a": dict(download=True), "b": {}}\n\n'
    'which = "ab"[0]\ndata = kinds[which]("data", **given[which])',
    "asked for": 'import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument("--fetch", default=1)\n'
    'data = MNIST("data", download=bool(parser.parse_args([]).fetch))',
    "tried": 'try:\n    data = MNIST("data", download=True)\nexcept RuntimeError:\n    data = MNIST("data")',
    "tried in a function": "def load():\n    try:\n        found = MNIST('data', download=True)\n    except RuntimeError:\n"
    "        found = MNIST('data')\n    return found\n\n\ndata = load()",
    "tried and given back": "def load():\n    try:\n        return MNIST('data', download=True)\n    except RuntimeError:\n"
    "        return MNIST('data')\n\n\ndata = load()",
    "tried within": "def load():\n    try:\n        if True:\n            found = MNIST('data', download=True)\n"
    "    except RuntimeError:\n        found = MNIST('data')\n    return found\n\n\ndata = load()",
}
LOOPS = {
    "in a loop": 'sets = {}\nfor part in (True, False):\n    sets[part] = MNIST("data", train=part, download=True)\n'
    "data = sets[True]",
    "in two loops": "sets = {}\nfor i in range(2):\n    for part in (True, False):\n"
    '        sets[i, part] = MNIST("data", train=part, download=True)\ndata = sets[0, True]',
    "in a loop of a function": "def load():\n    sets = {}\n    for part in (True, False):\n"
    '        sets[part] = MNIST("data", train=part, download=True)\n    return sets[True]\n\n\ndata = load()',
}
WAYS |= LOOPS
EMPTY = """
import time


def headed(path):
    if not os.path.exists(path):
        open(path, "a").close()
    with open(path) as file:
        if {asked}:
            head(path)


def head(path):
    time.sleep(0.3 * int(os.environ["RANK"] == "0"))
    with open(path, "w") as file:
        file.write("a,b\\n")


headed("{name} log")
assert open("{name} log").read() == "a,b\\n"
data = [(float(i), float(i)) for i in range(16)]
"""
WAYS |= {
    f"what is empty, {asked}": EMPTY.replace("{asked}", asked)
    for asked in ("len(file.readlines()) == 0", "not file.read()", "file.readline() == ''")
}
KEPT = """
import json, time


def read(path):
    with open(path) as file:
        return json.load(file)


def write(path, made):
    with open(path, "w") as file:
        file.write("[")
        file.flush()
        time.sleep(0.3)
        file.write("1]")


{cached}
assert found == [1]
data = [(float(i), float(i)) for i in range(16)]
"""
CACHED = {
    "in place": 'try:\n    found = read("{name} kept")\nexcept FileNotFoundError:\n    found = [1]\n'
    '    write("{name} kept", found)',
    "opened in place": 'try:\n    with open("{name} kept") as file:\n        found = json.load(file)\nexcept OSError:\n'
    '    found = [1]\n    with open("{name} kept", "w") as file:\n        file.write("[")\n        file.flush()\n'
    '        time.sleep(0.3)\n        file.write("1]")',
    "in a function": "def kept(path):\n    try:\n        found = read(path)\n    except:\n        found = [1]\n"
    '        write(path, found)\n    return found\n\n\nfound = kept("{name} kept")',
    "given back": "def kept(path):\n    try:\n        return read(path)\n    except FileNotFoundError:\n        found = [1]\n"
    '        write(path, found)\n        return found\n\n\nfound = kept("{name} kept")',
    "passed over": "def kept(path):\n    try:\n        return read(path)\n    except FileNotFoundError:\n        pass\n"
    '    found = [1]\n    write(path, found)\n    return found\n\n\nfound = kept("{name} kept")',
    "of an object": """class Kept:
    path = "{name} kept"

    def get(self):
        try:
            found = read(self.path)
        except OSError:
            found = [1]
            write(self.path, found)
        return found


found = Kept().get()""",
}
WAYS |= {f"kept, {way}": KEPT.replace("{cached}", text) for way, text in CACHED.items()}
CASES = [(way, False) for way in WAYS] + [(way, True) for way in WAYS if way.startswith("tried")]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """What both processes print in each program."""
    texts = {}
    for way, fails in CASES:
        found = outcome(PROGRAM.format(made=WAYS[way].replace("{name}", way)), "ddp")
        assert not found.plan.refusals
        (file,) = found.files.values()
        name = f"{way}, {fails}"
        texts[name] = HEAD.replace("{fails}", str(fails)).replace("{name}", name) + file.source
    return said_by_two(texts, tmp_path_factory.mktemp("downloads"))


@pytest.mark.parametrize(("way", "fails"), CASES)
def test_one_downloads_and_the_others_wait(way: str, fails: bool, told: dict[str, tuple[str, str]]) -> None:
    assert "ended" in told[f"{way}, {fails}"][0]


UNPACKED = """import tarfile, os
archives = {name: tarfile.open(name) for name in ("a.tar", "b.tar")}
for name in archives:
    archives[name].extractall("data")
data = [(float(i), float(i)) for i in range(16)]
"""
CONVERTED = """
def convert(name):
    with open(name + ".txt", "w") as file:
        file.write("1")


for name in ("a", "b"):
    convert(name)
assert [open(name + ".txt").read() for name in ("a", "b")] == ["1", "1"]
data = [(float(i), float(i)) for i in range(16)]
"""


@pytest.mark.parametrize("made", [*LOOPS.values(), UNPACKED, CONVERTED], ids=[*LOOPS, "unpacked", "converted"])
def test_all_wait_once_for_what_a_loop_makes(made: str) -> None:
    """No iteration has a wait of its own where a loop does nothing else."""
    after = rewritten(PROGRAM.format(made=made), "ddp")
    loops = [each for each in ast.walk(ast.parse(after)) if isinstance(each, ast.For)]
    assert "dist.barrier()" in after
    assert not any("barrier" in ast.unparse(each) for each in loops)


def test_a_loop_that_does_more_waits_in_each_iteration() -> None:
    """What is read in the iteration must be there."""
    made = CONVERTED.replace("    convert(name)\n", '    convert(name)\n    assert open(name + ".txt").read() == "1"\n')
    loops = [
        each for each in ast.walk(ast.parse(rewritten(PROGRAM.format(made=made), "ddp"))) if isinstance(each, ast.For)
    ]
    assert any("barrier" in ast.unparse(each) for each in loops)
