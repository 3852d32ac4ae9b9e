"""Checks installed packages, code that works, and lists everything that distml says of it.

    python benchmarks/precision.py [PACKAGE ...] [--python PROGRAM] [--jobs N] [--json FILE]

A PACKAGE is a folder, or the name of a package that is installed for `--python`. Run it with the interpreter that distml
is installed for. Every error that is listed and that is not a bug of the package is a false alarm; a crash, a time-out
or a file that needed too much memory is a failure of ours. The tables go to standard output as Markdown; `--json` adds a
line of JSON to a file as soon as a package is done. A package whose check fails as a whole is named, and the others go
on; then the exit code is 1.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from distml.diagnostics.model import Diagnostic
    from distml.engine.results import FileResult, Report
    from distml.source.file import SourceFile
    from distml.source.project import Project

PACKAGES = ("torch", "torchvision", "numpy", "transformers", "timm", "sklearn")
FAILURES = {"SRC201": "crashes", "SRC105": "time-outs", "SRC106": "out of memory"}


class Checked(NamedTuple):
    """One package after its check. `reached` counts the lines of files from which a tensor library can be reached; `peak`
    is the most memory of one process, in MiB.
    """

    name: str
    folder: Path
    lines: int
    reached: int
    report: Report
    peak: float

    @property
    def findings(self) -> list[Diagnostic]:
        return [finding for finding in self.report.diagnostics if finding.code not in FAILURES]

    @property
    def failures(self) -> list[Diagnostic]:
        return [finding for finding in self.report.diagnostics if finding.code in FAILURES]


class Skipped:
    """Stands where the cache does, to learn which files were skipped; it answers for none."""

    def __init__(self) -> None:
        self.paths: set[str] = set()

    def get(self, _path: str) -> FileResult | None:
        return None

    def put(self, path: str, result: FileResult) -> None:
        if result.skipped:
            self.paths.add(path)

    def trace(self, _source: SourceFile, _project: Project) -> tuple[str, ...]:
        return ()


def main() -> int:
    """Check, and print."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", default=PACKAGES)
    parser.add_argument("--python", metavar="PROGRAM", default=sys.executable, help="has the packages installed")
    parser.add_argument("--jobs", type=int, help="worker processes (default: one a core)")
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds a file (default: 10)")
    parser.add_argument("--json", metavar="FILE", type=Path, help="add a line of JSON for each package")
    options = parser.parse_args()
    folders = {name: locate(name, options.python) for name in options.packages}
    for name in [name for name, folder in folders.items() if folder is None]:
        print(f"not checked: {name} is not installed for {options.python}", file=sys.stderr)
    checked, failed = [], False
    for name, folder in folders.items():
        if folder is None:
            continue
        print(f"checking {name}", file=sys.stderr)
        package = apart(name, folder, options.jobs, options.time_limit)
        if package is None:
            failed = True
            print(f"not checked: the check of {name} failed", file=sys.stderr)
            continue
        checked.append(package)
        if options.json is not None:
            with options.json.open("a") as file:
                file.write(json.dumps(plain(package)) + "\n")
    for line in [*overview(checked), *by_code(checked), *listed(checked)]:
        print(line)
    return int(failed)


def locate(name: str, python: str) -> Path | None:
    """The folder of a package, found without importing it."""
    if os.path.isdir(name):
        return Path(name).resolve()
    probe = (
        "import importlib.util, sys; found = importlib.util.find_spec(sys.argv[1]);"
        "print(next(iter(found.submodule_search_locations or [])) if found else '')"
    )
    done = subprocess.run([python, "-c", probe, name], capture_output=True, text=True, check=False)
    return Path(done.stdout.strip()).resolve() if done.stdout.strip() else None


def apart(name: str, folder: Path, jobs: int | None, time_limit: float) -> Checked | None:
    """`check` in a process of its own, so that the memory of one package is not counted for the next; `None` if it fails."""
    import pickle

    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(receiving)
            with os.fdopen(sending, "wb") as pipe:
                pickle.dump(check(name, folder, jobs, time_limit), pipe)
            os._exit(0)
        except BaseException:
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
            os._exit(1)
    os.close(sending)
    with os.fdopen(receiving, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    found: Checked | None = pickle.loads(data) if data else None  # of our own making
    return found


def check(name: str, folder: Path, jobs: int | None = None, time_limit: float = 10.0) -> Checked:
    """Check all files of a folder through the engine, as `distml check --no-cache` does."""
    from distml.engine.config import Config
    from distml.engine.discovery import discover
    from distml.engine.run import run

    config = Config(jobs=jobs, time_limit=time_limit)
    skipped = Skipped()
    report = run([str(folder)], config, cache=skipped)
    lines = {path: Path(path).read_bytes().count(b"\n") for path in discover([str(folder)], config).files}
    reached = sum(number for path, number in lines.items() if path not in skipped.paths)
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    return Checked(name, folder, sum(lines.values()), reached, report, peak)


def plain(package: Checked) -> dict[str, object]:
    """A package and everything that was said of it, for JSON."""
    report = package.report
    return {
        "package": package.name,
        "files": report.files,
        "skipped": report.skipped,
        "lines": package.lines,
        "reached": package.reached,
        "seconds": round(report.seconds, 1),
        "peak": round(package.peak),
        "findings": [
            {
                "code": finding.code,
                "severity": _severity(finding),
                "path": finding.span.path,
                "line": finding.span.line,
                "message": finding.message,
                "related": [[each.span.path, each.span.line, each.message] for each in finding.related],
            }
            for finding in report.diagnostics
        ],
    }


def overview(checked: Sequence[Checked]) -> Iterator[str]:
    """One row a package."""
    failed = list(FAILURES.values())
    yield (
        "| package | files | of them without tensors | lines | of them with tensors | errors | warnings | "
        + " | ".join(failed)
        + " | seconds | lines a second | peak MiB |"
    )
    yield "|---" * (10 + len(failed)) + "|"
    for each in checked:
        yield _row(each.name, [each], f"{each.peak:.0f}")
    if len(checked) > 1:
        yield _row("all", checked, f"{max(each.peak for each in checked):.0f}")


def _row(name: str, group: Sequence[Checked], peak: str) -> str:
    lines = sum(each.lines for each in group)
    reached = sum(each.reached for each in group)
    seconds = sum(each.report.seconds for each in group)
    severities = Counter(_severity(finding) for each in group for finding in each.findings)
    failures = Counter(finding.code for each in group for finding in each.failures)
    numbers = [
        sum(each.report.files for each in group),
        sum(each.report.skipped for each in group),
        lines,
        reached,
        severities["error"],
        severities["warning"],
        *(failures[code] for code in FAILURES),
    ]
    cells = [
        name,
        *(f"{number:,}" for number in numbers),
        f"{seconds:.0f}",
        f"{lines / max(seconds, 0.001):,.0f}",
        peak,
    ]
    return "| " + " | ".join(cells) + " |"


def by_code(checked: Sequence[Checked]) -> Iterator[str]:
    """How often each rule spoke."""
    codes = Counter(finding.code for each in checked for finding in each.report.diagnostics)
    if codes:
        yield "\n| code | findings |\n|---|---|"
        yield from (f"| {code} | {number} |" for code, number in sorted(codes.items()))


def listed(checked: Iterable[Checked]) -> Iterator[str]:
    """Every finding, failures first."""
    for each in checked:
        findings = [*each.failures, *each.findings]
        if findings:
            yield f"\n{each.name}:\n"
            for finding in findings:
                place = f"{os.path.relpath(finding.span.path, each.folder.parent)}:{finding.span.line}"
                yield f"- `{place}` {_severity(finding)} {finding.code}: {' '.join(finding.message.split())}"


def _severity(finding: Diagnostic) -> str:
    from distml.diagnostics.registry import rule

    return rule(finding.code).severity.value


if __name__ == "__main__":
    try:
        import distml.engine.run  # noqa: F401
    except ModuleNotFoundError:
        sys.exit(f"distml is not installed for {sys.executable}")
    sys.exit(main())
