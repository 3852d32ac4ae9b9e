"""Measures how long checking and projecting a choreography takes: a new process, and the next file of one that runs.

    python benchmarks/choreographies.py [FOLDER] [--times 5]

Run it with the interpreter that distml is installed for. A cold time is that of `distml project FILE`, the start of
Python included; what is warm is the same work in a process that has done it before. The last table is a star of N
clients around a server, to see how time and projections grow with roles. Times are the best of several; Markdown.
"""

from __future__ import annotations

import ast
import statistics
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from pathlib import Path

from process import best, run

from distml.choreo.project import project_source

EXAMPLES = Path(__file__).parent.parent / "examples" / "choreographies"
SIZES = (2, 4, 8, 16)


def main() -> int:
    """Measure, and print."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=EXAMPLES, help="choreographies (default: the examples)")
    parser.add_argument("--times", type=int, default=5, help="runs of which the best counts (default: 5)")
    options = parser.parse_args()
    for part in (programs(options.folder, options.times), growth(options.times)):
        for line in part:
            print(line, flush=True)
        print()
    return 0


def programs(folder: Path, times: int) -> Iterator[str]:
    """Every program, cold and warm."""
    yield "| program | lines | roles | cold, s | warm, ms |"
    yield "|---|---|---|---|---|"
    rows = [_row(path, times) for path in sorted(folder.glob("*.py"))]
    for name, lines, roles, cold, warm in rows:
        yield f"| {name} | {lines} | {roles} | {cold:.2f} | {1000 * warm:.1f} |"
    cold, warm = (statistics.median(row[place] for row in rows) for place in (3, 4))
    yield f"| median | | | {cold:.2f} | {1000 * warm:.1f} |"


def _row(path: Path, times: int) -> tuple[str, int, int, float, float]:
    text = path.read_text("utf-8")
    command = [sys.executable, "-m", "distml.cli", "project", str(path)]
    cold = best(run(command) for _ in range(times)).seconds
    found = project_source(text, str(path))
    warm = _shortest(lambda: project_source(text, str(path)), times)
    return path.stem, len(text.splitlines()), len(found.files), cold, warm


def growth(times: int) -> Iterator[str]:
    """A server that asks N clients in turn and tells them what was decided."""
    yield "| roles | lines | nodes of all projections | a role, a line | warm, ms | ms a role, a line |"
    yield "|---|---|---|---|---|---|"
    for clients in SIZES:
        text = star(clients)
        lines, roles = len(text.splitlines()), clients + 1
        found = project_source(text, "star.py")
        assert not found.findings, found.findings
        nodes = sum(sum(1 for _ in ast.walk(ast.parse(program))) for program in found.files.values())
        warm = 1000 * _shortest(lambda text=text: project_source(text, "star.py"), times)
        share = roles * lines
        yield f"| {roles} | {lines} | {nodes} | {nodes / share:.2f} | {warm:.1f} | {warm / share:.3f} |"


def star(clients: int) -> str:
    """The choreography with that many clients."""
    names = [f"Client{n}" for n in range(clients)]
    head = ["from enum import Enum", "from distml.choreo import At, Channel, Role", "class Server(Role): ..."]
    head += [f"class {name}(Role): ..." for name in names]
    head += ["class Vote(Enum):", "    COMMIT = 'commit'", "    ABORT = 'abort'"]
    channels = [f"ch{n}: Channel[object, {name}, Server]" for n, name in enumerate(names)]
    values = [f"v{n}: At[int, {name}]" for n, name in enumerate(names)]
    body = ["    total: At[int, Server] = 0"]
    body += [f"    total = total + ch{n}.com(v{n})" for n in range(clients)]
    tell = [[f"        ch{n}.select(Vote.{label} @ Server())" for n in range(clients)] for label in ("COMMIT", "ABORT")]
    body += ["    if total > 3:", *tell[0], "    else:", *tell[1]]
    return "\n".join([*head, f"def vote({', '.join([*channels, *values])}) -> None:", *body]) + "\n"


def _shortest(work: Callable[[], object], times: int) -> float:
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        found.append(time.perf_counter() - begun)
    return min(found)


if __name__ == "__main__":
    sys.exit(main())
