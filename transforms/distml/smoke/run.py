"""Runs a script and its rewriting, and reports: the entry for the command and for tests.

    report = smoke("train.py", rewritten_text, python="/path/to/env/bin/python", options=Options(np=2, steps=6))
    assert report.ok, as_text(report)

`smoke_text(original_text, rewritten_text, python=..., options=..., arguments=[...])` does the same for a program that
is not a file yet.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from distml.smoke import launch, processes, verdicts
from distml.smoke.folder import copy_of
from distml.smoke.model import Options, Report, SmokeError
from distml.smoke.notes import Notes
from distml.smoke.preflight import preflight
from distml.smoke.records import Record, read


@dataclass(frozen=True)
class Ran:
    """One run: how its launcher ended, and the records of its ranks.

    `unlike` says why the one process does not stand for all ranks, where it does not; `whole` that it read in each step
    the same data as they did, without any larger batch: it keeps its learning rate then.
    """

    ended: processes.Ended
    records: tuple[Record, ...]
    folder: Path
    unlike: str = ""
    whole: bool = False


def smoke(
    script: str | os.PathLike[str],
    rewritten: str,
    *,
    python: str = sys.executable,
    options: Options | None = None,
    arguments: Sequence[str] = (),
    modules: Mapping[str, str] | None = None,
) -> Report:
    """Run `script` in one process and its text `rewritten` in several; what came of it.

    `modules` holds the rewritten texts of other files, by path relative to the script's folder. All of it runs in
    copies of that folder, or of the one above it that holds them all.

    Raises:
        SmokeError: A tool is missing, or the request makes no sense.
    """
    options = options or Options()
    path, texts = Path(script), {Path(script).name: rewritten, **(modules or {})}
    if not path.is_file():
        raise SmokeError(f"{path} is not a file")
    if options.np < 1:
        raise SmokeError("--np must be at least 1")
    launcher = launch.launcher_for("\n".join(texts.values()), options.launcher)
    launch.check(python, launcher)
    if options.share_gpu and options.backend != "nccl":
        raise SmokeError("--share-gpu needs --backend nccl")
    if options.backend == "nccl":
        _gpus(python, rewritten, launcher, options)
    with tempfile.TemporaryDirectory(prefix="distml-smoke-") as name:
        folder = path.resolve().parent
        root = root_of(folder, texts)
        trial = Trial(folder / path.name, root, python, tuple(arguments), options, Path(name).resolve())
        return _report(trial, launcher, {os.path.relpath(folder / name, root): text for name, text in texts.items()})


def _report(trial: Trial, launcher: str, texts: dict[str, str]) -> Report:
    began = time.monotonic()
    together = trial.run("ranks", launcher, trial.options.np, texts, {})
    alone = _alone(trial, together) if trial.options.compare else None
    found = verdicts.judge(trial.script.name, launcher, trial.options, together, alone)
    return replace(found, seconds=time.monotonic() - began)


def root_of(folder: Path, names: Iterable[str]) -> Path:
    """The folder, or the one above it, below which all of `names`, which are relative to `folder`, lie."""
    places = [os.path.normpath(folder / name) for name in names]
    return Path(os.path.commonpath([str(folder), *map(os.path.dirname, places)]))


def _gpus(python: str, text: str, launcher: str, options: Options) -> None:
    """Raise what is wrong with the GPUs before anything runs."""
    framework = "torch" if launcher == "torchrun" or "torch" in text else "tensorflow"
    if troubles := preflight(python, framework, launcher, 1 if options.share_gpu else options.np):
        raise SmokeError("; ".join(troubles))


def smoke_text(
    original: str,
    rewritten: str,
    *,
    python: str = sys.executable,
    options: Options | None = None,
    arguments: Sequence[str] = (),
) -> Report:
    """`smoke` for a program given as text, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="distml-script-") as name:
        script = Path(name, "script.py")
        script.write_text(original, encoding="utf-8")
        return smoke(script, rewritten, python=python, options=options, arguments=arguments)


@dataclass(frozen=True)
class Trial:
    """What the runs of one script have in common."""

    script: Path
    root: Path
    python: str
    arguments: tuple[str, ...]
    options: Options
    work: Path

    def run(self, name: str, launcher: str, count: int, replaced: dict[str, str], plan: dict[str, Any]) -> Ran:
        """Run in a new copy of the folder, as `count` processes."""
        options, notes, code = self.options, self.work / f"{name}.notes", self.work / name
        notes.mkdir()
        copy_of(self.root, code, replaced)
        plan_file = self.work / f"{name}.json"
        asked = {"folder": str(notes), "steps": options.steps, "still": options.still, "share_gpu": options.share_gpu}
        launch.write_plan(plan_file, {**asked, **plan})
        script = code / self.script.relative_to(self.root)
        start = launch.Start(self.python, script, Path(options.cwd or script.parent), self.arguments)
        ended = processes.run(
            launch.command(start, launcher, count),
            start.folder,
            launch.environment(options, plan_file, self.python),
            options.timeout,
            options.stall,
            Notes(notes, count),
        )
        return Ran(ended, tuple(read(notes, rank) for rank in range(count)), notes)


def _alone(trial: Trial, together: Ran) -> Ran:
    """The original in one process with the batch of all, from the weights that all had in common.

    A script may say the size of its batches twice, and fail with larger ones: then it is run as it is.
    """
    common = verdicts.common_step(together.records)
    plan: dict[str, Any] = {"factor": trial.options.np}
    if trial.options.scale_lr == "linear":
        plan["rate"] = trial.options.np
    saved = together.folder / f"rank0.weights{common}"
    if common is not None and saved.exists():
        plan.update(load=str(saved), load_step=common)
    alone = trial.run("alone", "", 1, {}, plan)
    if trial.options.np > 1 and verdicts.fed_alike(together.records, alone.records[0]):
        whole = trial.run("whole", "", 1, {}, {**plan, "factor": 1, "rate": 1})
        if verdicts.fed_alike(together.records, whole.records[0]):
            return replace(whole, whole=True)
    if trial.options.np == 1 or alone.ended.stopped or alone.records[0].ending in ("finished", "stopped"):
        return alone
    single = trial.run("single", "", 1, {}, {})
    if single.records[0].ending not in ("finished", "stopped"):
        return alone
    return replace(single, unlike=f"the script cannot be given batches {trial.options.np} times as large")
