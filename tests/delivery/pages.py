"""The blocks of the pages under docs/, and their commands in a shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


MODEL = """\
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        if x.shape[0] > 5:
            x = x * 2
        return self.head(self.conv(x).mean((2, 3)))


def build():
    return Classifier(), torch.zeros(2, 3, 8, 8)
"""
"""What pages call `model.py`: a model with a branch, and a function that makes it and an input."""


def fenced(page: str) -> list[tuple[str, str]]:
    """The info string and the text of each fenced block of a page, named from the top; indentation of whole blocks aside."""
    text = (ROOT / page).read_text("utf-8")
    found = re.findall(r"^( *)```([^\n`]*)\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL)
    return [(info, re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)) for indent, info, body in found]


def blocks(page: str, kind: str) -> list[str]:
    """The fenced blocks of docs/`page` with exactly this info string."""
    return [body for info, body in fenced(f"docs/{page}") if info == kind]


def shell(commands: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run commands in a shell in which `python` and `distml` are those of this run."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euc", commands],
        cwd=folder,
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
