"""What a process keeps between two checks changes no answer: edits at random, each answered with it and without.

Findings and shapes are compared after every edit of the document, of the modules that it imports (saved or in the editor), and
after modules came and went.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from distml.server import answers
from distml.server.kept import AskedAgainError, Kept

LAYERS = """
import torch
from torch import nn

WIDTH = 16
SIZES = [3, WIDTH, 32]
for _ in range(40):
    SIZES.append(SIZES[-1] + 1)


class Block(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.conv = nn.Conv2d(inner, outer, 3, padding=1)
        self.norm = nn.BatchNorm2d(outer)

    def forward(self, x):
        return self.norm(self.conv(x)).relu()


def flat(x):
    return x.reshape(x.shape[0], -1)
"""
SETTINGS = """
from parts import layers

BATCH = 8
IMAGE = (3, 32, 32)
REGISTRY = {}


def register(cls):
    REGISTRY[cls.__name__] = cls
    return cls


layers.SIZES.append(BATCH)
"""
PROGRAM = """
import torch
from torch import nn

from parts.layers import SIZES, Block, flat
from parts import settings
import helpers


@settings.register
class Net(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.blocks = nn.Sequential(Block(3, 16), Block(16, 32))
        self.head = nn.Linear(32, classes)

    def forward(self, images):
        features = self.blocks(images)
        pooled = features.mean((2, 3))
        return self.head(pooled)


class Other(Net):
    def forward(self, images):
        first = self.blocks[0](images)
        wide = torch.cat([first, first], 1)
        return flat(wide) @ torch.zeros(2, 3)


def loss(scores, targets):
    chosen = scores[:, :5]
    from lazily import factor
    return ((chosen - targets) ** 2).mean() * factor(3)


def pairs(rows):
    left = torch.zeros(4, 5)
    for row in rows:
        left = left + row
    return left @ torch.ones(5, 2)


def main():
    net = Net()
    images = torch.rand(settings.BATCH, *settings.IMAGE)
    scores = net(images)
    loss(scores, torch.zeros(8, 5))
    pairs([torch.ones(4, 5)])
    helpers.shift(scores)
    print(scores @ torch.zeros(10, SIZES[1]))


if __name__ == "__main__":
    main()
"""
HELPERS = "import torch\n\n\ndef shift(x):\n    step = torch.ones(10)\n    return x + step\n"
LAZILY = "import torch\n\nfound = torch.zeros(3, 4)\n\n\ndef factor(n):\n    return found.sum() * n\n"
FILES = {
    "pyproject.toml": "",
    "parts/__init__.py": "",
    "parts/layers.py": LAYERS,
    "parts/settings.py": SETTINGS,
    "helpers.py": HELPERS,
    "lazily.py": LAZILY,
    "program.py": PROGRAM,
}
EDITS = 40


class Typing:
    """Edits of a project at random. Files are older than any check, as they mostly are when somebody types."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.random = folder, random.Random(seed)
        self.clock = 1_000_000_000
        self.saved = dict(FILES)
        self.buffers = {str(folder / "program.py"): PROGRAM}
        for name, text in FILES.items():
            self.save(name, text)

    def save(self, name: str, text: str | None) -> None:
        path = self.folder / name
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            self.saved[name] = text
        self.clock += 10
        for each in (path, path.parent):
            if each.exists():
                os.utime(each, (self.clock, self.clock))

    def edits(self) -> Iterator[str]:
        own = str(self.folder / "program.py")
        for _ in range(EDITS):
            where = self.random.random()
            if where < 0.75:
                self.buffers[own] = self.random.choice([PROGRAM, *[self.changed(self.buffers[own])] * 5])
                yield "typed in the document"
                continue
            name = self.random.choice(["parts/layers.py", "parts/settings.py", "helpers.py", "lazily.py"])
            path = str(self.folder / name)
            if where < 0.85:
                texts = [FILES[name], self.changed(self.saved[name]), f"from program import Net\n{FILES[name]}"]
                self.save(name, self.random.choice(texts))
                yield f"{name} is saved"
            elif where < 0.92:
                self.buffers[path] = self.changed(self.saved[name])
                yield f"typed in {name}"
            elif path in self.buffers:
                del self.buffers[path]
                yield f"{name} is closed"
            elif os.path.exists(path):
                self.save(name, None)
                yield f"{name} is removed"
                self.save(name, FILES[name])
                yield f"{name} is back"

    def changed(self, text: str) -> str:
        """One place of a text is another: a number, a name, a line."""
        lines = text.split("\n")
        number = self.random.randrange(len(lines))
        line = lines[number]
        kind = self.random.randrange(5)
        if kind == 0:
            lines[number] = re.sub(r"\d+", lambda found: str(int(found[0]) + self.random.randrange(3)), line, count=1)
        elif kind == 1:
            lines[number:number] = [self.random.choice(["", "# a comment", line])]
        elif kind == 2:
            lines[number] = line[: self.random.randrange(len(line) + 1)]
        elif kind == 3 and re.search(r"[a-z]\w+", line):
            lines[number] = re.sub(r"[a-z]\w+", self.random.choice(["x", "torch", "net", "flat"]), line, count=1)
        else:
            del lines[number]
        return "\n".join(lines)


@pytest.mark.parametrize("seed", range(2))
def test_what_is_kept_changes_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Kept, "limit", lambda *_: None)  # this process goes on
    folder = tmp_path.resolve()
    typing, kept = Typing(folder, seed), Kept()
    used, projects = 0, set[int]()
    for done in typing.edits():
        buffers = {path: text.encode() for path, text in typing.buffers.items()}
        for what in (answers.findings, answers.shapes):
            found = []
            for each in (kept, Kept()):
                asked = answers.Asked(str(folder / "program.py"), str(folder), "utf-16", buffers, each)
                try:
                    found.append(what(asked))
                except AskedAgainError:
                    found.append(None)
            assert found[0] == found[1], f"{what.__name__}: {done}\n{typing.buffers[str(folder / 'program.py')]}"
            used += 1
            projects.add(id(kept._project))
    assert len(projects) < used / 2  # mostly it was kept


def test_a_module_that_reads_the_document_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Kept, "limit", lambda *_: None)
    folder = tmp_path.resolve()
    (folder / "helpers.py").write_text("import program\n\n\ndef width():\n    return program.SIZE\n")
    for each in (folder / "helpers.py", folder):
        os.utime(each, (1_000_000_000, 1_000_000_000))
    kept, text = (
        Kept(),
        "import torch\nSIZE = {}\nimport helpers\ntorch.zeros(2, SIZE) @ torch.zeros(helpers.width(), 1)\n",
    )
    for size in (4, 5, 6):
        path = str(folder / "program.py")
        buffers = {path: text.format(size).encode()}
        assert answers.findings(answers.Asked(path, str(folder), "utf-16", buffers, kept))["findings"] == []
