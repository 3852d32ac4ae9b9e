"""Measures what the rules on ranks find, what they cost, and lists what they say of other people's programs.

    python benchmarks/ranks.py [FOLDER ...]

The programs of `tests/spmd` come first: those that were seen to hang or to fail on two processes, and those that ran to
their end. Of each FOLDER every finding is listed, to be looked at, and the processor time of these rules stands beside
that of the rest of the check, measured file by file in one process. The tables go to standard output as Markdown.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

PROGRAMS = Path(__file__).parents[1] / "tests" / "spmd" / "programs"
MARK = "# error: SPM"
SLOW = 3.0


class Scanned(NamedTuple):
    """A folder: `speaking` files may communicate; times are seconds of the processor."""

    files: int
    speaking: int
    findings: list[str]
    ranks: float
    rest: float
    slow: list[str]


def main() -> int:
    """Measure, and print."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    for line in programs():
        print(line)
    scanned = {}
    for folder in options.folders:
        print(f"checking {folder}", file=sys.stderr)
        scanned[folder] = scan(folder.resolve())
    for line in table(scanned):
        print(line)
    return 0


def programs() -> Iterator[str]:
    """How many of the programs are judged rightly."""
    from distml.engine.config import Config
    from distml.engine.run import run

    lines = defaultdict(set)
    for finding in run([str(PROGRAMS)], Config(select=("SPM",))).diagnostics:
        lines[Path(finding.span.path).name].add(finding.span.line)
    yield "| programs | all | accused |"
    yield "|---|---|---|"
    for title, bad in (("that hang or fail on two processes", True), ("that run to their end", False)):
        group = [path for path in sorted(PROGRAMS.glob("*.py")) if (MARK in path.read_text("utf-8")) == bad]
        yield f"| {title} | {len(group)} | {sum(path.name in lines for path in group)} |"


def scan(folder: Path) -> Scanned:
    """Check the files of a folder one after another."""
    from distml.engine.config import Config
    from distml.engine.discovery import discover
    from distml.engine.one import check_one
    from distml.source.project import Project
    from distml.source.reach import may_communicate
    from distml.spmd.check import check_source

    config = Config()
    project, measured = Project(str(folder)), Project(str(folder))
    speaking, ranks, whole = 0, 0.0, 0.0
    findings, slow = [], []
    files = discover([str(folder)], config).files
    for path in files:
        started = time.process_time()
        try:
            source = measured.open(path)
            if may_communicate(source, measured):
                speaking += 1
                found = check_source(source, measured, started + config.time_limit)
                findings += [f"{each.span.path}:{each.span.line}: {each.code} {each.message}" for each in found]
        except (OSError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
        taken = time.process_time() - started
        slow += [path] if taken > SLOW else []
        ranks += taken
        started = time.process_time()
        check_one(path, project, config)
        whole += time.process_time() - started
    return Scanned(len(files), speaking, findings, ranks, whole - ranks, slow)


def table(scanned: dict[Path, Scanned]) -> Iterator[str]:
    """A row for each folder, then every finding."""
    if not scanned:
        return
    yield ""
    yield f"| folder | files | may communicate | findings | ranks, s | rest, s | ranks/rest | over {SLOW:g} s |"
    yield "|---|---|---|---|---|---|---|---|"
    for folder, each in scanned.items():
        share = f"{each.ranks / each.rest:.2f}" if each.rest > 0 else ""
        numbers: Sequence[object] = (each.files, each.speaking, len(each.findings), f"{each.ranks:.1f}")
        row = [folder.name, *numbers, f"{each.rest:.1f}", share, len(each.slow)]
        yield f"| {' | '.join(map(str, row))} |"
    codes = Counter(line.partition(": ")[2].partition(" ")[0] for each in scanned.values() for line in each.findings)
    yield ""
    yield ", ".join(f"{code} {number}" for code, number in sorted(codes.items())) or "No findings."
    yield ""
    for each in scanned.values():
        yield from (f"- {line}" for line in each.findings)


if __name__ == "__main__":
    raise SystemExit(main())
