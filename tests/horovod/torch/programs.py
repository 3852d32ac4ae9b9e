"""Small PyTorch programs, and what they become."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import pytest

from distml.rewrites.horovod.options import Backend, Options
from distml.rewrites.horovod.rewrite import Outcome, rewrite
from distml.rewrites.horovod.tree import survey
from distml.source.project import Project
from distml.training.program import Program

from spmd.running import together

HEAD = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
x = torch.randn(96, 4)
y = x @ torch.randn(4, 1)
"""

CLIPPED = (
    HEAD
    + """

def train(model, loader, optimizer):
    model.train()
    for inputs, targets in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()


loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
best = 1e9
for epoch in range(3):
    train(model, loader, optimizer)
    with torch.no_grad():
        score = nn.functional.mse_loss(model(x), y).item()
    scheduler.step(score)
    print(epoch, score)
    if score > best * 10:
        break
    best = min(best, score)
"""
)

OPPOSED = (
    HEAD
    + """
maker, judge = nn.Linear(2, 4), nn.Linear(4, 1)
maker_optimizer = torch.optim.SGD(maker.parameters(), lr=0.01)
judge_optimizer = torch.optim.SGD(judge.parameters(), lr=0.01)
for epoch in range(2):
    for real, _ in DataLoader(TensorDataset(x, y), batch_size=8):
        judge_optimizer.zero_grad()
        nn.functional.softplus(-judge(real)).mean().backward()
        fake = maker(real[:, :2])
        nn.functional.softplus(judge(fake.detach())).mean().backward()
        judge_optimizer.step()
        maker_optimizer.zero_grad()
        nn.functional.softplus(-judge(fake)).mean().backward()
        maker_optimizer.step()
"""
)

ACCUMULATED = (
    HEAD
    + """
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(2):
    order = torch.randperm(len(x))
    for turn, i in enumerate(range(0, len(x), 8)):
        rows = order[i : i + 8]
        (nn.functional.mse_loss(model(x[rows]), y[rows]) / 2).backward()
        if turn % 2 == 1:
            optimizer.step()
            optimizer.zero_grad()
"""
)

TRAINER = (
    HEAD
    + """

class Trainer:
    def __init__(self, loader):
        self.loader = loader
        self.model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)

    def epoch(self):
        self.model.train()
        for i, (inputs, targets) in enumerate(self.loader):
            loss = nn.functional.mse_loss(self.model(inputs), targets) / 2
            loss.backward()
            if (i + 1) % 2 == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()

    def run(self, epochs):
        for epoch in range(epochs):
            self.epoch()
            for key, value in self.model.state_dict().items():
                assert key.split(".")[0] in "02", key


trainer = Trainer(DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True))
trainer.run(3)
"""
)

VIEWS = (
    HEAD
    + """
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    for inputs, targets in loader:
        optimizer.zero_grad()
        predicted = [model(inputs + shift) for shift in (0.0, 0.1)]
        loss = sum(nn.functional.mse_loss(each, targets) for each in predicted)
        loss.backward()
        optimizer.step()
    model.eval()
    print(nn.functional.mse_loss(model(x), y).item())
    model.train()
"""
)

STREAMED = (
    HEAD
    + """

class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        for each, wanted in zip(x, y):
            yield each.reshape(1, 4), wanted


class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.last = nn.MultiheadAttention(4, 2, batch_first=True), nn.Linear(4, 1)

    def forward(self, given):
        return self.last(self.attention(given, given, given, need_weights=False)[0]).squeeze(1)


loader = DataLoader(Stream(), batch_size=8)
model = Attending()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    for inputs, targets in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
"""
)

PROGRAMS = {"clipped": CLIPPED, "opposed": OPPOSED, "accumulated": ACCUMULATED}


def outcome(program: str, backend: Backend = "horovod", path: str = "/nowhere/script.py") -> Outcome:
    """What `distml horovod` makes of a program."""
    project = Project(str(Path(path).parent), overlay={path: program.encode()})
    source = project.open(path)
    texts = {source.location: program}
    return rewrite(Program([source], project), Options(backend=backend), [source.location], texts)


def rewritten(program: str, backend: Backend = "horovod") -> str:
    """The text that a program becomes."""
    (file,) = outcome(program, backend).files.values()
    return file.source


def rewritten_files(files: dict[str, str], backend: Backend = "ddp") -> dict[str, str]:
    """The texts that the files of one program become, by their names; those that do not change are left out."""
    overlay = {f"/nowhere/{name}": text.encode() for name, text in files.items()}
    found = survey([*overlay], Options(backend=backend), Project("/nowhere", overlay=overlay), overlay)
    (outcome,) = found.outcomes
    assert not outcome.plan.refusals
    return {location.rpartition("/")[2]: file.source for location, file in outcome.files.items()}


DRIVER = """
import contextlib, io, json, os, sys
import torch, torch.distributed as dist, torch.distributed.nn
rank = int(os.environ["RANK"])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}.store", rank=rank, world_size=2)
end = dist.destroy_process_group
dist.init_process_group = dist.destroy_process_group = lambda *_, **__: None
found = {}
for name, text in json.load(open(sys.argv[1])).items():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, name, "exec"), {"__name__": "__main__"})
    found[name] = out.getvalue()
with open(sys.argv[2] + str(rank), "w") as told:
    json.dump(found, told)
dist.barrier()
end()
os._exit(0)  # forty process groups that were kept may abort at the end
"""


def said_by_two(texts: dict[str, str], folder: Path) -> dict[str, tuple[str, str]]:
    """What each of two processes prints in programs of torch.distributed or accelerate, all of them run in one go."""
    (folder / "texts.json").write_text(json.dumps(texts))
    (folder / "driver.py").write_text(DRIVER)
    together([str(folder / each) for each in ("driver.py", "texts.json", "found")], folder, ACCELERATE_USE_CPU="true")
    one, other = (json.loads((folder / f"found{rank}").read_text()) for rank in (0, 1))
    return {name: (one[name], other[name]) for name in texts}


class Ranks(ModuleType):
    """Stands for Horovod in one process that takes itself for one of several."""

    def __init__(self, size: int, rank: int) -> None:
        super().__init__("horovod.torch")
        self.size = lambda: size
        self.rank = self.local_rank = lambda: rank
        self.is_initialized = lambda: True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *given, **named: given[0] if given else 0


class Bar:
    """Stands for a progress bar."""

    def __init__(self, through: object = None, total: int = 0, desc: str = "", disable: bool = False) -> None:
        self.n, self.total, self.through = 0, total, through
        if not disable:
            print(desc or "a bar")

    def __iter__(self) -> Any:
        return iter(self.through)  # type: ignore[call-overload]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *given: object) -> None:
        pass

    def update(self, n: int = 1) -> None:
        self.n += n


def printed_as(size: int, source: str, monkeypatch: pytest.MonkeyPatch, rank: int = 0) -> list[str]:
    """What a program prints that takes itself for one of several ranks, and is given back what it gives to collectives."""
    package, ranks, bars = ModuleType("horovod"), Ranks(size, rank), ModuleType("tqdm")
    package.torch = ranks  # type: ignore[attr-defined]
    bars.__spec__ = ModuleSpec("tqdm", None)
    bars.tqdm = Bar  # type: ignore[attr-defined]
    for module in (package, ranks, bars):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(source, "program", "exec"), {"__name__": "__main__"})
    return out.getvalue().splitlines()


def told_by_first(programs: Iterable[tuple[str, str]], folder: Path) -> dict[str, list[float]]:
    """The numbers that rank 0 of two prints in each program, rewritten for torch.distributed without a refusal."""
    texts = {}
    for name, text in programs:
        found = outcome(text, "ddp")
        assert not found.plan.refusals, name
        (file,) = found.files.values()
        texts[name] = file.source
    return {name: numbers(first) for name, (first, _) in said_by_two(texts, folder).items()}


def told_alone(text: str, capsys: pytest.CaptureFixture[str]) -> list[float]:
    """The numbers that a program prints, run by itself in this process."""
    exec(compile(text, "script.py", "exec"), {"__name__": "__main__"})  # the text is made by a test
    return numbers(capsys.readouterr().out)


def numbers(text: str) -> list[float]:
    """The numbers in a text."""
    found = []
    for word in text.split():
        try:
            found.append(float(ast.literal_eval(word)))
        except (ValueError, SyntaxError):
            continue
    return found
