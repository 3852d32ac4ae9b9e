"""Runs generated programs: one process of the program with scale 2 against two ranks of the rewritten one with scale 1.

Each is a program that ends; what is printed, written and learned is compared (`judge`). A library that is loaded before the
C library notes which process writes what (`writes.c`).
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from horovod.surroundings.judge import lines_differing
from horovod.surroundings.programs import program
from horovod.surroundings.writing import Program

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.rewrite import rewrite_text

from spmd.running import Printed, started

HERE = Path(__file__).parent


@dataclass
class Found:
    """What came of a program: problems, remarks, and how it was refused."""

    seed: int
    traits: tuple[str, ...]
    refused: str = ""
    warned: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """How it came out, in a word."""
        return "refused" if self.refused else "wrong" if self.problems else "right"

    def __str__(self) -> str:
        told = [self.refused] if self.refused else self.problems
        return "\n    ".join([f"{self.seed} {self.kind} {' '.join(self.warned)}", *told])


@cache
def noting(python: str, folder: Path) -> str:
    """The Python whose processes note what they write."""
    library, script = folder / "writes.so", folder / "python"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(HERE / "writes.c"), "-ldl"]
    subprocess.run(command, check=True, timeout=60)
    script.write_text(f'#!/bin/sh\nLD_PRELOAD="{library}" exec "{python}" "$@"\n')
    script.chmod(0o755)
    return str(script)


def written(files: dict[str, str], folder: Path) -> None:
    """Put files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")


def rewritten(made: Program, folder: Path, found: Found) -> dict[str, str] | None:
    """The files of the rewritten program; none where it is refused."""
    written(made.files, folder)
    outcome = rewrite_text(str(folder / made.script), Options(), str(folder))
    changed = {Path(name).name: file.source for name, file in outcome.files.items()}
    found.warned = [f"{each.code}" for each in outcome.plan.warnings]
    (folder / "remarks.md").write_text(
        "".join(
            f"{each.code} {outcome.plan.span(each.node).line}: {each.message}\n"
            for each in (*outcome.plan.refusals, *outcome.plan.warnings)
        )
    )
    if outcome.plan.refusals:
        found.refused = f"{outcome.plan.refusals[0].code} {outcome.plan.refusals[0].message}"
        return None
    if not changed:
        found.problems.append("nothing was changed")
        return None
    return {**made.files, **changed}


def bars(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("bar ")]


def shown(text: str) -> list[str]:
    """The lines that are left on a terminal."""
    lines = [re.split(r"\r|\x08+", line)[-1] if "\x08" in line or "\r" in line else line for line in text.splitlines()]
    return [re.sub(r"\[=*>?\.*\]( - TIME)?", "", line) for line in lines]


def run_one(seed: int, folder: Path, python: str) -> tuple[Found, dict[str, object] | None]:
    """Run a program; what was found at once, and the question to `judge`."""
    made, large = program(seed), program(seed, 2)
    found = Found(seed, made.traits)
    shutil.rmtree(folder, ignore_errors=True)
    files = rewritten(made, folder / "program", found)
    if files is None:
        return found, None
    written(large.files, folder / "alone")
    written(files, folder / "ranks")
    for kind in ("alone", "ranks"):
        (folder / f"{kind}-notes").mkdir(exist_ok=True)
    environment = {"LAG": "1.3"} if made.lag else {}
    for number, arguments in enumerate(made.runs):
        ends = {}
        for kind in ("alone", "ranks"):
            command = [str(HERE / "driver.py"), made.script, *arguments]
            own = {**environment, "NOTES": str(folder / f"{kind}-notes"), "TF_CPP_MIN_LOG_LEVEL": "3"}
            ends[kind] = started(command, folder / kind, python, alone=kind == "alone", **own)
            for rank, each in enumerate(ends[kind]):
                (folder / f"{kind}-notes" / f"printed.{number}.{rank}").write_text(each.text + "\n---\n" + each.errors)
        if ends["alone"][0].status:
            found.problems.append("generator: " + ends["alone"][0].errors[-400:])
            return found, None
        found.problems += printed_apart(
            ends["alone"][0], ends["ranks"], f"run {number + 1}: " if len(made.runs) > 1 else ""
        )
        if any(each.status for each in ends["ranks"]):
            return found, None
    found.problems += written_twice(folder / "ranks-notes")
    names = {f"{kind}{rest}": str(folder / f"{kind}{rest}") for kind in ("alone", "ranks") for rest in ("", "-notes")}
    question = {
        "alone": names["alone"],
        "ranks": names["ranks"],
        "notes": names["ranks-notes"],
        "alone_notes": names["alone-notes"],
    }
    return found, {**question, "loose": list(made.loose)}


def printed_apart(alone: Printed, ranks: list[Printed], which: str) -> list[str]:
    """How the output of ranks differs from that of one process."""
    found = []
    for rank, each in enumerate(ranks):
        if each.status:
            last = [line for line in each.errors.splitlines() if line.strip()][-1:]
            found.append(f"{which}rank {rank} ended with {each.status}: {' '.join(last)[-300:]}")
    if found:
        return found
    other = [line for line in ranks[1].text.splitlines() if line.strip()]
    if other:
        found.append(f"{which}print: rank 1 prints {other[0][:100]!r}")
    if bars(ranks[1].errors):
        found.append(f"{which}bar: rank 1 shows {bars(ranks[1].errors)[0]!r}")
    found += [f"{which}print: {each}" for each in lines_differing(shown(alone.text), shown(ranks[0].text))]
    return found + [f"{which}bar: {each}" for each in lines_differing(bars(alone.errors), bars(ranks[0].errors))]


def written_twice(notes: Path) -> list[str]:
    """Files that rank 1 writes."""
    made = defaultdict(set)
    for rank in (0, 1):
        path = notes / f"writes.{rank}"
        for line in path.read_text().splitlines() if path.is_file() else []:
            what, _, name = line.partition(" ")
            if what in ("write", "rename", "remove"):
                made[re.sub(r"^\./", "", name)].add((rank, what))
    second = {name: acts for name, acts in made.items() if any(rank for rank, _ in acts)}
    ignored = re.compile(r"(output|errors)\.|__pycache__|data\.npz")
    return [f"written by rank 1: {name}" for name in sorted(second) if not ignored.search(name)][:4]


def judged(asked: list[tuple[Found, dict[str, object] | None]], folder: Path, python: str) -> list[Found]:
    """What was found, with what the comparison of files and weights says."""
    questions = [(found, question) for found, question in asked if question]
    (folder / "questions").write_text(json.dumps([question for _, question in questions]))
    (ended,) = started([str(HERE / "judge.py"), "questions", "answers"], folder, python, alone=True)
    assert not ended.status, ended
    for (found, _), answer in zip(questions, json.loads((folder / "answers").read_text())):
        found.problems += answer
    return [found for found, _ in asked]
