"""What two processes of a rewritten program do beside what one process does: files, lines, numbers, steps and weights."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from horovod.torch.surroundings.compose import Made

from distml.rewrites.horovod.options import Backend, Options
from distml.rewrites.horovod.tree import survey
from distml.source.project import Project

from spmd.running import Printed, started

DRIVER = Path(__file__).with_name("drive.py")
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
TIMED = re.compile(r"\d{8}-\d{6}|[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d")
DOTS = re.compile(r"\.\.+")
BINARY = (".npy", ".npz", ".pkl", ".pickle", ".jit", ".bin")
CLOCK = re.compile(r"-?\d+\.\d+s\b")


@dataclass
class Ran:
    """How one run of a program ended, and what was left."""

    ended: list[Printed]
    notes: list[dict[str, Any]]
    files: dict[str, bytes]


def rewritten(files: Mapping[str, str], backend: Backend) -> tuple[dict[str, str], list[str], list[str]]:
    """The files of a program as they become, refusals, and warnings."""
    overlay = {f"/nowhere/{name}": text.encode() for name, text in files.items()}
    found = survey([*overlay], Options(backend=backend), Project("/nowhere", overlay=overlay), overlay)
    changed = {Path(at).name: file.source for each in found.outcomes for at, file in each.files.items()}
    refusals = [f"{r.code} {r.message}" for each in found.outcomes for r in each.plan.refusals]
    warnings = [f"{w.code} {w.message}" for each in found.outcomes for w in each.plan.warnings]
    return {**files, **changed}, refusals if changed else refusals or ["nothing was changed"], warnings


def inputs(folder: Path) -> None:
    """Write the data that programs read."""
    rows, lines = [], []
    for k in range(144):
        row = [((k * (j + 3) * 37) % 101) / 50 - 1 for j in range(6)]
        rows.append(",".join(map(str, [*row, int((row[0] + row[1] * row[2] > 0) + (row[3] > 0.3))])))
        words = [f"w{(k * (j + 2) * 7 + j) % 23}" for j in range(5)]
        lines.append(f"{sum(int(w[1:]) for w in words) % 3}\t{' '.join(words)}")
    (folder / "data.csv").write_text("\n".join(rows) + "\n")
    (folder / "words.txt").write_text("\n".join(lines) + "\n")


def ran(files: Mapping[str, str], made: Made, folder: Path, *, alone: bool) -> list[Ran]:
    """Run a program in each of its ways, one after the other in one folder."""
    shutil.rmtree(folder, ignore_errors=True)
    work, code, found = folder / "work", folder / "code", []
    work.mkdir(parents=True)
    code.mkdir()
    for name, text in files.items():
        (code / name).write_text(text)
    inputs(work)
    for run in made.runs:
        if run.resumes:
            kept = sorted(work.rglob(run.resumes), key=lambda at: at.stat().st_mtime)
            if not kept:
                break
            shutil.copyfile(kept[-1], work / "resume.pt")
        for old in folder.glob("notes.*"):
            old.unlink()
        command = [str(DRIVER), str(folder / "notes"), str(code / "train.py"), *run.arguments]
        ended = started(command, work, alone=alone, **dict(run.environment))
        ranks = ["alone"] if alone else ["0", "1"]
        notes = [json.loads(at.read_text()) if (at := folder / f"notes.{rank}").exists() else {} for rank in ranks]
        left = [each for each in sorted(work.rglob("*")) if each.is_file()]
        own = re.compile(r"(output|errors|ending|writing)\.\d|port|resume\.pt")
        names = {each: str(each.relative_to(work)) for each in left}
        found.append(Ran(ended, notes, {n: p.read_bytes() for p, n in names.items() if not own.fullmatch(n)}))
        if any(each.status for each in ended):
            break
    return found


# Comparison.


def lines(text: str) -> list[str]:
    """The lines of an output."""
    return [each.strip() for each in re.split(r"[\r\n]+|(?<=\.)\.+(?=step)", text) if each.strip()]


NEAR = 0.004
"""How much two numbers may differ, of two trainings whose order differs and whose weights hardly change."""
SMALL = 1e-8
"""Rates below it are those of schedules that have come to their end."""
FEW = 0.1
"""The same where each epoch sees some of the data."""


def close(one: float, other: float, whole: bool, near: float) -> bool:
    """Whether two numbers may be the same one."""
    largest = max(abs(one), abs(other))
    return one == other if whole and largest < 4 else abs(one - other) <= near * (1 + largest)


def unlike(one: str, other: str, near: float) -> str:
    """In what two lines of the same place differ, or ""."""
    one, other = (DOTS.sub(".", CLOCK.sub("#s", each)) for each in (one, other))
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return "text"
    pairs = [*zip(NUMBER.findall(one), NUMBER.findall(other))]
    if one.startswith("rate"):
        return "" if close(2 * float(pairs[0][0]), float(pairs[0][1]), False, 0.001) else "rate"
    off = [p for p in pairs if not close(float(p[0]), float(p[1]), "." not in p[0] + p[1], near)]
    return "" if len(off) <= len(pairs) // 10 else f"numbers {off[:2]}"


def told(one: str, other: str, what: str, near: float) -> list[str]:
    """What differs between the lines of one process and those of rank 0."""
    found = []
    mine, its = lines(one), lines(other)
    stepped = [[NUMBER.sub("#", CLOCK.sub("#s", x)) for x in each if x.startswith("step")] for each in (mine, its)]
    found += [f"{what}: step line lost: {x}" for x in {*stepped[0]} - {*stepped[1]}]
    found += [f"{what}: step line new: {x}" for x in {*stepped[1]} - {*stepped[0]}]
    mine, its = ([x for x in each if not x.startswith("step")] for each in (mine, its))
    if len(mine) != len(its):
        shapes = [Counter(NUMBER.sub("#", x) for x in each) for each in (mine, its)]
        return [*found, f"{what}: lines {[*(shapes[0] - shapes[1])][:3]} lost, {[*(shapes[1] - shapes[0])][:3]} new"]
    return found + [f"{what}: {how}: {a!r} became {b!r}" for a, b in zip(mine, its) if (how := unlike(a, b, near))]


def contents(name: str, one: bytes, other: bytes, near: float) -> list[str]:
    """What differs between two files of a name."""
    if name.endswith(("source.py.txt", "optimizer.pt")):  # steps and sums of gradients are those of a rank
        return []
    if name.endswith((".pt", ".pth", ".tar")):
        return held(name, *(_loaded(each) for each in (one, other)), near)
    if name.endswith(BINARY):
        import io

        import numpy as np

        if name.endswith(".npy"):
            a, b = (np.load(io.BytesIO(each)) for each in (one, other))
            return [] if a.shape == b.shape and np.allclose(a, b, near, near) else [f"{name}: numbers"]
        return [] if not name.endswith((".pkl", ".pickle")) or one == other else [f"{name}: contents"]
    return told(one.decode(), other.decode(), name, near)


def _loaded(data: bytes) -> Any:
    import io

    import torch

    try:
        return torch.load(io.BytesIO(data), weights_only=True)
    except Exception as error:
        return f"{type(error).__name__}" if "torn" in str(error) else str(error)[:60]


def held(name: str, one: Any, other: Any, near: float) -> list[str]:
    """What differs between what two checkpoints hold."""
    import torch

    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return [f"{name}: keys {sorted(map(str, one))[:3]} became {sorted(map(str, other))[:3]}"]
        return [
            x
            for key in one
            if key not in ("opt", "optimizer", "sched")
            for x in held(f"{name}[{key}]", one[key], other[key], near)
        ]
    if torch.is_tensor(one) and torch.is_tensor(other):
        return [] if one.shape == other.shape and bool((one - other).abs().max() < 0.1) else [f"{name}: tensor"]
    if isinstance(one, int | float) and isinstance(other, int | float):
        return [] if close(one, other, isinstance(one, int), near) else [f"{name}: {one} became {other}"]
    return [] if type(one) is type(other) else [f"{name}: {one} became {other}"]


def judged(alone: Ran, pair: Ran, near: float) -> list[str]:
    """The faults of one run on two processes, beside the same run in one process."""
    if any(each.status for each in pair.ended):
        texts = [lines(each.errors)[-1:] for each in pair.ended]
        return [f"fails: {[each.status for each in pair.ended]} {texts}"]
    found = told(alone.ended[0].text, pair.ended[0].text, "output", near)
    found += [f"rank 1 prints: {x}" for x in lines(pair.ended[1].text)[:2]]
    noise = re.compile(r"Warning|warn|rank1|\[W|socket|gloo|Gloo|^\s*(return|self)")
    found += [f"rank 1 tells: {x[:80]}" for x in lines(pair.ended[1].errors)[:1] if not noise.search(x)]
    wrote = [{TIMED.sub("T", x) for x in each["wrote"]} for each in pair.notes]
    found += [f"written by both: {x}" for x in sorted(wrote[0] & wrote[1])]
    removed = [{TIMED.sub("T", x) for x in each["removed"]} for each in pair.notes]
    found += [f"removed by both: {x}" for x in sorted(removed[0] & removed[1])]
    mine, its = ({TIMED.sub("T", name): data for name, data in each.files.items()} for each in (alone, pair))
    found += [f"file lost: {x}" for x in sorted(mine.keys() - its)] + [
        f"file new: {x}" for x in sorted(its.keys() - mine)
    ]
    found += [x for name in sorted(mine.keys() & its) for x in contents(name, mine[name], its[name], near)]
    return found + stepped(alone, pair)


def stepped(alone: Ran, pair: Ran) -> list[str]:
    """What differs in steps."""
    (one,), (first, second) = alone.notes, pair.notes
    found = []
    if first["steps"] != second["steps"] or first["weights"] != second["weights"]:
        found.append("steps or weights differ between ranks")
    if len(first["steps"]) * 2 != len(one["steps"]):
        found.append(f"{len(one['steps'])} steps became {len(first['steps'])}")
    elif one["steps"]:
        middle = len(first["steps"]) // 2
        rate, own = one["steps"][2 * middle][0], first["steps"][middle][0]
        if rate > SMALL and not 1.3 < own / rate < 3.3:
            found.append(f"rate times {own / rate:.3f}")
    return found


@dataclass
class Verdict:
    """What was found out about one program."""

    refusals: list[str]
    faults: list[str]
    warnings: list[str]


def verdict(
    made: Made, folder: Path, backend: Backend = "ddp", spoiled: Callable[[str], str] = lambda text: text
) -> Verdict:
    """Rewrite a program, run it both ways, and compare; `spoiled` changes what it became first."""
    files, refusals, warnings = rewritten(made.files, backend)
    files = {name: spoiled(text) for name, text in files.items()}
    if refusals:
        return Verdict(refusals, [], warnings)
    alone = ran(made.files, made, folder / "alone", alone=True)
    if any(each.status for run in alone for each in run.ended) or len(alone) < len(made.runs):
        return Verdict([], [f"the program itself fails: {alone[-1].ended[0].errors[-300:]}"], warnings)
    pair = ran(files, made, folder / "pair", alone=False)
    near = FEW if "within=limit" in made.notes else NEAR
    faults = [
        f"{f'run {k}: ' if k else ''}{x}" for k, (a, b) in enumerate(zip(alone, pair)) for x in judged(a, b, near)
    ]
    return Verdict([], faults + (["a later run is missing"] if len(pair) < len(alone) and not faults else []), warnings)
