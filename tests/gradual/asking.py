"""Asking `migrate` and `branches` about a program given as text."""

from __future__ import annotations

from pathlib import Path

from distml.gradual.branches import Decision, find_branches
from distml.gradual.migrate import Migration, migrate
from distml.gradual.questions import Question, benches

MODULE = """
import torch
import torch.nn.functional as F
from torch import nn
from torch.fx.tensor_type import Dyn, TensorType

"""


def ask(folder: Path, program: str, name: str | None = None, where: str | None = None, least: int = 1) -> Question:
    path = folder / "program.py"
    path.write_text(MODULE + program)
    return Question(f"{path}::{name}" if name else str(path), where, least)


def migration(
    folder: Path, program: str, name: str | None = None, where: str | None = None, least: int = 1
) -> Migration:
    """The one migration of a program with one function."""
    found = [migrate(bench) for bench in benches(ask(folder, program, name, where, least))]
    assert len(found) == 1, found
    return found[0]


def decisions(
    folder: Path, program: str, name: str | None = None, where: str | None = None, least: int = 0
) -> list[Decision]:
    """The branches of a program, in order."""
    return [d for bench in benches(ask(folder, program, name, where, least)) for d in find_branches(bench)]


def shown(found: Migration) -> dict[str, str]:
    """The annotations as jaxtyping writes their dimensions."""
    return {name: annotation.text for name, annotation in found.annotations.items()}
