"""Judges checkers on pairs of programs side by side: what they find in the bad one, what they say of the good one.

    python benchmarks/compare.py [FOLDER] [--checkers distml,pyrefly,torchtyc]

Each folder in FOLDER (by default benchmarks/pairs) holds `bad.py`, in which one line ends in `# bug` or `# warning`, and
`good.py`, its mended twin. A module `layers.py` that both import may mark a line with `# raises`; a finding there is as
good. Every checker works on a copy outside any project, once over all bad programs and once over all good ones. The
table goes to standard output as Markdown.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from rivals import CHECKERS, Checker, Finding, add_options, installed

MARK = re.compile(r"#\s*(bug|warning|raises)\b")


class Pair(NamedTuple):
    """A pair: its name, its files but `bad.py` and `good.py`, and the places (file name, line) that are right."""

    name: str
    shared: tuple[Path, ...]
    marks: frozenset[tuple[str, int]]
    silent: bool

    @property
    def bad(self) -> list[Path]:
        return [Path(self.name, "bad.py"), *self.shared]

    @property
    def good(self) -> list[Path]:
        return [Path(self.name, "good.py"), *self.shared]


class Score(NamedTuple):
    """What one checker said: the pairs found, findings elsewhere in the bad programs, findings in the good ones."""

    checker: Checker
    found: frozenset[str]
    extra: tuple[Finding, ...]
    false: tuple[Finding, ...]
    seconds: float


def main() -> int:
    """Compare, and print."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent / "pairs")
    parser.add_argument("--checkers", default=",".join(CHECKERS), help="those to compare (default: %(default)s)")
    add_options(parser)
    options = parser.parse_args()
    names = options.checkers.split(",")
    if unknown := [name for name in names if name not in CHECKERS]:
        parser.error(f"no checker is called {unknown[0]!r}; there are {', '.join(CHECKERS)}")
    pairs = read(options.folder)
    if not pairs:
        parser.error(f"no pairs in {options.folder}")
    checkers = installed(names, options)
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary).resolve() / "pairs"
        shutil.copytree(options.folder, copy)
        scores = [judge(checker, pairs, copy) for checker in checkers]
        for line in table(pairs, scores, copy):
            print(line)
    return 0


def read(folder: Path) -> list[Pair]:
    """The pairs in a folder."""
    pairs = []
    for bad in sorted(folder.glob("*/bad.py")):
        shared = [path for path in sorted(bad.parent.glob("*.py")) if path.name not in ("bad.py", "good.py")]
        marks = {
            (path.name, number, match[1])
            for path in (bad, *shared)
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
            if (match := MARK.search(line))
        }
        if not any(name == "bad.py" for name, *_ in marks):
            raise SystemExit(f"{bad} has no marked line")
        relative = tuple(path.relative_to(folder) for path in shared)
        silent = any(word == "warning" for *_, word in marks)
        pairs.append(Pair(bad.parent.name, relative, frozenset((name, line) for name, line, _ in marks), silent))
    return pairs


def judge(checker: Checker, pairs: Sequence[Pair], folder: Path) -> Score:
    """Let a checker see all programs."""
    started = time.perf_counter()
    in_bad = checker.find(folder, [path for pair in pairs for path in pair.bad])
    in_good = checker.find(folder, [path for pair in pairs for path in pair.good])
    seconds = time.perf_counter() - started
    marks = {pair.name: pair.marks for pair in pairs}
    right = [finding for finding in in_bad if _at(finding, marks[finding.path.parent.name])]
    found = frozenset(finding.path.parent.name for finding in right)
    return Score(checker, found, tuple(each for each in in_bad if each not in right), tuple(in_good), seconds)


def _at(finding: Finding, marks: Iterable[tuple[str, int]]) -> bool:
    return any(finding.path.name == name and finding.first <= line <= finding.last for name, line in marks)


def table(pairs: Sequence[Pair], scores: Sequence[Score], folder: Path) -> Iterable[str]:
    """The report as Markdown."""
    yield f"{len(pairs)} pairs, {sum(pair.silent for pair in pairs)} of them silent broadcasts that raise nothing."
    yield ""
    yield "| checker | found | bad programs with more findings | good twins flagged | seconds |"
    yield "|---|---|---|---|---|"
    for score in scores:
        extra, false = ({each.path.parent.name for each in group} for group in (score.extra, score.false))
        name = f"{score.checker.name} {score.checker.version}"
        yield f"| {name} | {len(score.found)}/{len(pairs)} | {len(extra)} | {len(false)} | {score.seconds:.1f} |"
    yield ""
    yield "| pair | " + " | ".join(score.checker.name for score in scores) + " |"
    yield "|---|" + "---|" * len(scores)
    for pair in pairs:
        yield f"| `{pair.name}` | " + " | ".join(_cell(pair.name, score) for score in scores) + " |"
    for score in scores:
        for title, group in (("Elsewhere in bad programs", score.extra), ("In good twins", score.false)):
            if group:
                yield f"\n{title}, by {score.checker.name}:\n"
                yield from (_line(each, folder) for each in group)


def _cell(name: str, score: Score) -> str:
    said = [] if name in score.found else ["missed"]
    if any(each.path.parent.name == name for each in score.extra):
        said.append("more")
    if any(each.path.parent.name == name for each in score.false):
        said.append("false alarm")
    return ", ".join(said) or "found"


def _line(finding: Finding, folder: Path) -> str:
    path = finding.path.relative_to(folder)
    text = " ".join(finding.text.split())
    return f"- `{path}:{finding.first}`: {text[:160]}"


if __name__ == "__main__":
    sys.exit(main())
