"""Measures how long the language server takes to say what a change does, beside `distml check` of the same file in the same run.

    python benchmarks/server.py [--lines 300,1000,3000] [--times 10]

Run it with the interpreter that distml is installed for, with pygls. The files are `programs/detector.py`, once and several times
with other names. An edit changes a comment in the middle, half a second after the last, so that the server takes it for one by
itself; its time is that from the message to the findings. Hover is asked for after an edit, so the shapes are found anew. Best
and median; Markdown.
CPU seconds are what the server and all its processes have used for an edit; the load of the machine changes them least.
"""

from __future__ import annotations

import asyncio
import os
import re
import statistics
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types
from process import best, run
from pygls.lsp.client import LanguageClient

FILE = Path(__file__).parent / "programs" / "detector.py"
DISTML = [sys.executable, "-P", "-m", "distml.cli"]


def main() -> int:
    """Measure, and print."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lines", default="300,1000,3000", help="lengths of files, about (default: %(default)s)")
    parser.add_argument("--times", type=int, default=10, help="edits of each file (default: 10)")
    options = parser.parse_args()
    for line in measured([int(each) for each in options.lines.split(",")], options.times):
        print(line, flush=True)
    return 0


def measured(lengths: list[int], times: int) -> Iterator[str]:
    """The table."""
    columns = "lines", "`distml check`, s", "CPU s", "opened, s", "edit, best s", "median s", "CPU s", "median / check"
    yield f"| {' | '.join(columns)} | hover, median s | CPU s |"
    yield "|---" * 10 + "|"
    for wanted in lengths:
        text = program(wanted)
        with tempfile.TemporaryDirectory() as temporary:
            path = Path(temporary).resolve() / "program.py"
            path.write_text(text)
            (path.parent / "pyproject.toml").touch()
            command = [*DISTML, "check", "--no-cache", "--exit-zero", path.name]
            check = best(run(command, path.parent) for _ in range(max(1, times // 3)))
            opened, edits, hovers = asyncio.run(_served(path, text, times))
        median, cpu = (statistics.median(each[which] for each in edits) for which in (0, 1))
        hover, hover_cpu = (statistics.median(each[which] for each in hovers) for which in (0, 1))
        yield (
            f"| {text.count(chr(10)):,} | {check.seconds:.2f} | {check.cpu:.2f} | {opened:.2f} | {min(edits)[0]:.2f} "
            f"| {median:.2f} | {cpu:.2f} | {median / check.seconds:.2f} | {hover:.2f} | {hover_cpu:.2f} |"
        )


def program(lines: int) -> str:
    """The program, as often as it takes, each time with other names for its functions and classes."""
    once = FILE.read_text("utf-8")
    names = sorted(set(re.findall(r"^(?:class|def) (\w+)", once, re.MULTILINE)))
    known = re.compile(rf"\b({'|'.join(names)})\b")
    copies = max(1, round(lines / once.count("\n")))
    return "".join(known.sub(rf"\g<1>{number or ''}", once) for number in range(copies))


Times = list[tuple[float, float]]


async def _served(path: Path, text: str, times: int) -> tuple[float, Times, Times]:
    """Seconds from opening a file, from each edit and from each question to the answer; of the latter two CPU seconds too."""
    client = LanguageClient("benchmark", "1")
    shown: asyncio.Queue[Any] = asyncio.Queue()

    def heed(params: types.PublishDiagnosticsParams) -> None:
        shown.put_nowait(params)

    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(heed)
    client.feature(types.WINDOW_LOG_MESSAGE)(lambda params: print(params.message, file=sys.stderr))
    await client.start_io(*DISTML, "server")
    assert client._server is not None
    pid = client._server.pid
    capabilities = types.ClientCapabilities()
    await client.initialize_async(types.InitializeParams(capabilities, root_uri=path.parent.as_uri()))
    client.initialized(types.InitializedParams())
    uri, middle = path.as_uri(), text.count("\n") // 2
    while text.split("\n")[middle].strip():
        middle += 1

    def open_() -> None:
        item = types.TextDocumentItem(uri, "python", 0, text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def edit(version: int) -> None:
        where = types.Range(types.Position(middle, 0), types.Position(middle, 999))
        change = types.TextDocumentContentChangePartial(where, f"# {version}")
        document = types.VersionedTextDocumentIdentifier(version, uri)
        client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    async def hover() -> None:
        asked = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(middle + 5, 9))
        await client.text_document_hover_async(asked)

    opened, _ = await _timed(pid, open_, shown.get)
    edits = []
    for version in range(1, times + 1):
        await asyncio.sleep(0.5)
        edits.append(await _timed(pid, lambda version=version: edit(version), shown.get))
    hovers = []
    for version in range(times + 1, times + 1 + max(1, times // 3)):
        edit(version)
        await shown.get()
        hovers.append(await _timed(pid, lambda: None, hover))
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return opened, edits, hovers


async def _timed(pid: int, begin: Callable[[], None], end: Callable[[], Awaitable[Any]]) -> tuple[float, float]:
    used, started = _used(pid), time.perf_counter()
    begin()
    await end()
    return time.perf_counter() - started, _used(pid) - used


def _used(pid: int) -> float:
    """CPU seconds of a process, of those that it started and that they did, as far as the system tells (Linux)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + sum(_used(int(each)) for each in children)


if __name__ == "__main__":
    sys.exit(main())
