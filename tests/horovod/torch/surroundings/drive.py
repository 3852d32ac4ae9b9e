"""Runs a script as a process of its own does, and notes what it writes, removes and steps: `drive.py NOTES SCRIPT ...`."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import runpy
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

NOTES: dict[str, list[Any]] = {"wrote": [], "removed": [], "steps": [], "weights": []}
HERE = os.getcwd()


def hook(event: str, given: tuple[Any, ...]) -> None:
    """Note what happens to files here."""
    if event == "open" and isinstance(given[0], str | bytes | os.PathLike):
        mode, flags = given[1], given[2]
        if any(each in mode for each in "wax+") if mode else flags & (os.O_WRONLY | os.O_RDWR):
            note("wrote", given[0])
    elif event in ("os.remove", "os.rmdir", "shutil.rmtree"):
        note("removed", given[0])
    elif event == "os.rename":
        note("wrote", given[1])


def note(kind: str, path: Any) -> None:
    """Note a path, if it is here."""
    full = os.path.abspath(os.fsdecode(path))
    if full.startswith(HERE + os.sep) and "__pycache__" not in full:
        NOTES[kind].append(os.path.relpath(full, HERE))


def digest(tensors: Any) -> str:
    """A short text that equal tensors share."""
    parts = [each.detach().cpu().numpy().tobytes() for each in tensors if each is not None]
    return hashlib.md5(b"".join(parts)).hexdigest()[:12]


def before(optimizer: Any, *_: object) -> None:
    """Note the rate and gradients of a step."""
    held = [each for group in optimizer.param_groups for each in group["params"]]
    NOTES["steps"].append([optimizer.param_groups[0]["lr"], digest(each.grad for each in held)])


def after(optimizer: Any, *_: object) -> None:
    """Note the weights behind a step."""
    NOTES["weights"][:] = [digest(each for group in optimizer.param_groups for each in group["params"])]


class SummaryWriter:
    """Stands for tensorboard's: a line for each number."""

    def __init__(self, log_dir: Any = None, *_: object, **__: object) -> None:
        folder = Path(log_dir or "runs/now")
        folder.mkdir(parents=True, exist_ok=True)
        self.file = (folder / "events.out.txt").open("a")

    def add_scalar(self, tag: str, value: Any, step: int = 0) -> None:
        self.file.write(f"{'step' if '/loss' in tag else ''} {tag} {float(value)} {step}\n")

    def close(self) -> None:
        self.file.close()


class Figures(ModuleType):
    """Stands for matplotlib's pyplot: a file holds what was drawn."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.drawn: list[Any] = []

    def plot(self, *given: Any, **_: object) -> None:
        self.drawn.append([[float(each) for each in part] for part in given if not isinstance(part, str)])

    def savefig(self, path: Any, **_: object) -> None:
        Path(path).write_text(json.dumps(self.drawn))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *given, **named: None


def save(value: Any, file: Any, *given: Any, original: Any = torch.save, **named: Any) -> None:
    """`torch.save`, which opens files where no hook is told."""
    if isinstance(file, str | os.PathLike):
        note("wrote", file)
    original(value, file, *given, **named)


def main() -> None:
    """Run the script."""
    notes, script, *arguments = sys.argv[1:]
    torch.set_num_threads(1)
    board, package, figures = (
        ModuleType("torch.utils.tensorboard"),
        ModuleType("matplotlib"),
        Figures("matplotlib.pyplot"),
    )
    board.SummaryWriter = SummaryWriter  # type: ignore[attr-defined]
    package.pyplot = figures  # type: ignore[attr-defined]
    for module in (board, package, figures):
        module.__spec__ = ModuleSpec(module.__name__, None)
        sys.modules[module.__name__] = module
    torch.save = save
    rank = os.environ.get("RANK", "alone")
    atexit.register(lambda: Path(f"{notes}.{rank}").write_text(json.dumps(NOTES)))
    sys.addaudithook(hook)
    register_optimizer_step_pre_hook(before)
    register_optimizer_step_post_hook(after)
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")


main()
