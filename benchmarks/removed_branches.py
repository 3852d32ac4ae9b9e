"""Rewrites model files with `distml branches --write`, and runs the models to see whether an input gets to what was removed.

    python benchmarks/removed_branches.py FOLDER [FOLDER ...] [--count 80] [--seconds 30] [--spread] [--where EXPR]
        [--run torchvision,transformers]

FOLDER is a copy of the source of torchvision or transformers, such as an unpacked wheel; it is read, and never imported by
the check. Files of modules that test sizes are asked about, shortest first or evenly over the alphabet, without any
constraint unless one is given; what `--write` makes of a file is put back. With `--run` the models of the installed
libraries are then run on the meta device, with inputs of many sizes and some that they refuse, while every test that was
found dead says what it comes to: one that comes to the other answer was reachable. Run that with a Python that has the
libraries. The table goes to standard output as Markdown; exit code 1 where an input got to what was removed.
"""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

SIZES = ("shape", "size", "dim", "ndim", "numel", "len")


class Row(NamedTuple):
    """A file, how many tests about sizes it has, those found dead with their answers, and why it was not answered."""

    file: str
    tests: int
    dead: tuple[tuple[int, int, bool], ...]
    changed: bool
    reason: str


def main() -> int:
    """Measure, and print."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=80, help="files that are asked about; default: %(default)s")
    parser.add_argument("--seconds", type=float, default=30.0, help="processor time for each; default: %(default)s")
    parser.add_argument("--spread", action="store_true", help="ask about files evenly over the alphabet")
    parser.add_argument("--where", default="", help="what is assumed of the inputs")
    parser.add_argument("--run", default="", help="libraries whose models are run")
    options = parser.parse_args()
    rows = []
    print("| file | tests of sizes | dead | rewritten |\n|---|---|---|---|", flush=True)
    for folder in options.folders:
        for path, tests in chosen(files(folder), options.count, spread=options.spread):
            row = asked(folder, path, tests, options.seconds, options.where)
            rows.append(row)
            print(
                f"| {row.file} | {row.tests} | {len(row.dead)} | {row.reason or ('yes' if row.changed else '')} |",
                flush=True,
            )
    answered = [row for row in rows if not row.reason]
    dead = [(row.file, *each) for row in rows for each in row.dead]
    print(
        f"\n{len(rows)} files, {len(answered)} answered, {sum(row.tests for row in answered)} tests, {len(dead)} dead"
    )
    for file, line, column, answer in dead:
        print(f"- {file}:{line}:{column} {'always' if answer else 'never'}")
    if not options.run:
        return 0
    from reached import run_models

    seen = run_models(options.run.split(","), dead)
    wrong = [place for place, answers in seen.items() if (not place[3]) in answers]
    print(f"\n{len([each for each in seen.values() if each])} of them met by a run, {len(wrong)} with the other answer")
    for place in wrong:
        print(f"- {place}")
    return 1 if wrong else 0


def files(folder: Path) -> list[tuple[Path, int]]:
    """The files that test sizes and how many such tests each has, shortest first."""
    found = []
    for path in folder.rglob("*.py"):
        text = path.read_text("utf-8")
        tests = [
            each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.If | ast.IfExp | ast.Assert | ast.While)
        ]
        count = sum(1 for each in tests if set(_words(each.test)) & set(SIZES))
        if count and "def forward(" in text:
            found.append((len(text), path, count))
    return [(path, count) for _, path, count in sorted(found)]


def chosen(found: list[tuple[Path, int]], count: int, *, spread: bool) -> list[tuple[Path, int]]:
    """The first of them, or as many at even distances in the order of their paths."""
    if not spread or count >= len(found):
        return found[:count]
    ordered = sorted(found)
    return [ordered[n * len(ordered) // count] for n in range(count)]


def _words(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute | ast.Name):
            yield each.attr if isinstance(each, ast.Attribute) else each.id


def asked(folder: Path, path: Path, tests: int, seconds: float, where: str = "") -> Row:
    """What the command finds in a file, and whether it changes a copy of it."""
    name = str(path.relative_to(folder.parent))
    command = [sys.executable, "-m", "distml.cli", "branches", str(path), "--time-limit", str(seconds)]
    command += ["--where", where] if where else []
    done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode == 2:
        return Row(
            name,
            tests,
            (),
            False,
            done.stderr.strip().splitlines()[-1].partition(": error: ")[2].replace(f"{path}: ", ""),
        )
    found = [each for each in json.loads(done.stdout) if each["verdict"] in ("always", "never")]
    here = [each for each in found if Path(each["path"]).resolve() == path.resolve()]
    dead = tuple((each["line"], each["column"], each["verdict"] == "always") for each in here)
    return Row(name, tests, dead, bool(dead) and _rewritten(command, path), "")


def _rewritten(command: list[str], path: Path) -> bool:
    """Whether `--write` changes the file; what is there is put back."""
    with TemporaryDirectory() as kept:
        shutil.copy(path, kept)
        subprocess.run([*command, "--write"], capture_output=True, check=False)
        changed = path.read_bytes() != (Path(kept) / path.name).read_bytes()
        shutil.copy(Path(kept) / path.name, path)
    return changed


if __name__ == "__main__":
    sys.exit(main())
