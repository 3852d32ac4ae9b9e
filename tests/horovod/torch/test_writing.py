"""A file is written by rank 0 alone, whatever opens or writes it: run on two processes, each in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.cli.main import main

from spmd.running import together

WAYS = {
    "open.txt": 'with open("open.txt", "w") as f:\n    f.write(str(step()))',
    "kept.txt": 'kept = open("kept.txt", mode="w")\nkept.write("a")\nkept.close()',
    "argument.pkl": 'pickle.dump(step(), open("argument.pkl", "wb"))',
    "gzip.gz": 'with gzip.open("gzip.gz", "wt") as f:\n    f.write("a")',
    "method.txt": 'with Path("method.txt").open("w") as f:\n    f.write(str(step()))',
    "below.txt": 'with (ROOT / "below.txt").open(mode="w") as f:\n    json.dump([step()], f)',
    "handle.txt": 'handle = (ROOT.resolve() / "handle.txt").open("w")\nhandle.write("a")\nhandle.close()',
    "whole.txt": '(ROOT / "whole.txt").write_text("a")',
    "joined.txt": 'Path.cwd().joinpath("joined.txt").write_bytes(b"a")',
    "computed.txt": 'ROOT.joinpath("computed").with_suffix(".txt").write_text(str(step()))',
    "appended.txt": 'appended = open("appended.txt", "a+")\nappended.write(str(step()))\nappended.close()',
    "either.txt": 'with open("either.txt", mode="w+") as f:\n    f.write(str(step()))',
    "computed.log": 'logging.getLogger("b").addHandler(logging.FileHandler("computed.log", os.environ.get("MODE", "w")))',
    "plain.log": 'logging.getLogger("a").addHandler(logging.FileHandler("plain.log"))',
    "rotating.log": 'rotating = RotatingFileHandler(filename="rotating.log", mode="w")',
    "basic.log": 'logging.basicConfig(filename="basic.log", filemode="w")',
    "weights.pt": 'torch.save(model.state_dict(), "weights.pt")',
    "made.pt": 'torch.save(step(), "made.pt")',
    "array.npy": 'np.save("array.npy", step())',
    "option.txt": '(options.out / "option.txt").open("a").write("a")',
    "given.txt": '(options.given / "given.txt").write_text("a")',
    "field.txt": 'with (Places(ROOT).kept / "field.txt").open("w") as f:\n    f.write("a")',
    "branch.pt": 'torch.save({}, "branch.pt") if steps is not None else None',
    "other.txt": 'Path("other.txt").write_bytes(b"") if steps is None else Path("other.txt").write_text("a")',
    "and.txt": 'ROOT and Path("and.txt").write_text(str(step()))',
    "each.npy": '[np.save(each, np.ones(1)) for each in ["each.npy"]]',
    "pair.json": 'json.dump([], open("pair.json", "w")), torch.save({}, "pair.pt")',
    "pair.pt": "",
    "lambda.pt": 'keep = lambda where: torch.save({}, where)\nkeep("lambda.pt")',
    "line.pt": 'def in_line(where): return torch.save({}, where)\nin_line("line.pt")',
    "submitted.pt": 'with ThreadPoolExecutor(1) as pool:\n    pool.submit(torch.save, {}, "submitted.pt").result()',
    "thread.pt": 'thread = Thread(target=torch.save, args=({}, "thread.pt"))\nthread.start()\nthread.join()',
    "count.txt": 'count = Path("count.txt").write_text("a")',
    "ignored.txt": '_ = open("ignored.txt", "a").write("a")',
    "resumed.txt": 'def resumed(path, again=False):\n    if again:\n        old = open(path, "r").read()\n'
    '        return open(path, "a")\n'
    '    return open(path, "w")\nresumed("resumed.txt").write("a")',
    "before.txt": 'def before(path):\n    old = open(path).read() if os.path.exists(path) else ""\n    kept = open(path, "w")\n'
    '    kept.write(old)\n    return kept\nbefore("before.txt").close()',
    "script.pt": 'torch.jit.save(torch.jit.trace(model, torch.ones(1, 4)), ROOT / "script.pt")',
}
"""How programs write files, by what they write; `step` is a function of the program that does more than compute."""

BESIDE = """\
import shutil


class Keeper:
    def __init__(self, name):
        self.name = name

    def keep(self):
        with open(self.name, "w") as f:
            f.write("a")
        shutil.copyfile(self.name, "copied.txt")
        log = open("beside.log", "a")
        log.write("a")
        log.close()
"""
"""What a file beside the script writes in each turn: neither it nor what it is given is of a framework."""

PROGRAM = """\
import argparse, gzip, json, logging, os, pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Thread
from logging.handlers import RotatingFileHandler
from pathlib import Path
import numpy as np
import torch
import beside

os.makedirs(os.environ.get("RANK", "alone"), exist_ok=True)
os.chdir(os.environ.get("RANK", "alone"))
ROOT = Path(".")
parser = argparse.ArgumentParser()
group = parser.add_argument_group("files")
group.add_argument("-o", "--out", default=Path("."))
parser.add_argument("--given-to", dest="given", type=Path, default=".")
options = parser.parse_args()


@dataclass
class Places:
    kept: Path


steps = []
keeper = beside.Keeper("beside.txt")


def step():
    steps.append(1)
    return len(steps)


model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader(torch.ones(64, 4), batch_size=8):
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()
    keeper.keep()
{ways}
"""


@pytest.mark.requires("torch", "numpy")
def test_files_are_written_by_rank_0_alone(folder: Path) -> None:
    (folder / "beside.py").write_text(BESIDE)
    (folder / "train.py").write_text(PROGRAM.format(ways="\n".join(WAYS.values())))
    together(["train.py"], folder, alone=True)
    assert main(["horovod", "--backend", "ddp", "--write", "."]) == 0
    together(["train.py"], folder)
    alone, first, second = ({each.name for each in (folder / name).iterdir()} for name in ("alone", "0", "1"))
    assert alone == first == {*WAYS, "beside.txt", "copied.txt", "beside.log"}
    assert second == set()
