"""What language servers show of a program with tensors, and how long they take for an edit, in one run.

    python benchmarks/editors.py [--pyrefly PROGRAM] [--pyright PROGRAM] [--ruff PROGRAM] [--python PROGRAM] [--times 5]

Run it with the interpreter that distml is installed for, with pygls; --python has torch, for those that look it up. Each server
opens `programs/detector.py`; an edit then gives a layer another number of channels than its input has. Asked are: what is found
at the line that fails, what hover says of a tensor, whether hints beside the code tell shapes, which actions are offered at the
finding, and the time from an edit to what is found. What a server does not answer within ten seconds it does not do. Markdown.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Union, get_origin

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.protocol import default_converter

FILE = Path(__file__).parent / "programs" / "detector.py"
GOOD, BAD = "self.expand = nn.Conv2d(hidden, channels, 1)", "self.expand = nn.Conv2d(channels, channels, 1)"
FAILS, HOVERED = "self.expand(F.silu(self.reduce(weights)))", "rows, columns = torch.meshgrid("
SHAPE = re.compile(r"(?<!\w)\[(?:\w+, )*\d+(?:, \w+)*\]|Tensor\[[^\]]*\d")
"""A shape in what a server says: sizes in brackets, one of them a number."""
PATIENCE = 10.0
CAN = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(configuration=True, workspace_folders=True),
    text_document=types.TextDocumentClientCapabilities(
        hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.PlainText, types.MarkupKind.Markdown]),
        inlay_hint=types.InlayHintClientCapabilities(),
        code_action=types.CodeActionClientCapabilities(
            code_action_literal_support=types.ClientCodeActionLiteralOptions(
                types.ClientCodeActionKindOptions([types.CodeActionKind.QuickFix])
            )
        ),
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(related_information=True, version_support=True),
    ),
)
"""What the client says that it can."""


class Served(NamedTuple):
    """What one server did."""

    found: bool
    hover: str
    hints: bool
    actions: Sequence[str]
    seconds: float | None


def main() -> int:
    """Ask all of them, and print."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for rival in ("pyrefly", "pyright", "ruff"):
        parser.add_argument(f"--{rival}", metavar="PROGRAM", default=shutil.which(rival))
    parser.add_argument("--python", metavar="PROGRAM", default=sys.executable, help="a Python that has torch")
    parser.add_argument("--times", type=int, default=5, help="edits of the file (default: 5)")
    options = parser.parse_args()
    commands = {"distml": [sys.executable, "-P", "-m", "distml.cli", "server"]}
    if options.pyrefly:
        commands["Pyrefly"] = [options.pyrefly, "lsp"]
    if options.pyright:
        commands["pyright"] = [str(Path(options.pyright).with_name("pyright-langserver")), "--stdio"]
    if options.ruff:
        commands["ruff"] = [options.ruff, "server"]
    print(
        "| server | finds the mistake | hover on a tensor | hints with shapes | actions at the finding | edit, median s |"
    )
    print("|---" * 6 + "|")
    for name, command in commands.items():
        served = asyncio.run(asked(name, command, options.python, options.times))
        seconds = "" if served.seconds is None else f"{served.seconds:.2f}"
        yes = {True: "yes", False: "no"}
        print(
            f"| {name} | {yes[served.found]} | {served.hover or 'nothing'} | {yes[served.hints]} "
            f"| {', '.join(served.actions) or 'none'} | {seconds} |",
            flush=True,
        )
    return 0


async def asked(name: str, command: list[str], python: str, times: int) -> Served:
    """Ask one server."""
    good = FILE.read_text("utf-8")
    bad = good.replace(GOOD, BAD)
    assert good != bad
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary).resolve() / "program.py"
        path.write_text(good, "utf-8")
        (path.parent / "pyproject.toml").touch()
        client = LanguageClient("benchmark", "1", converter_factory=_lenient)
        shown: asyncio.Queue[Any] = asyncio.Queue()

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def heed(params: types.PublishDiagnosticsParams) -> None:
            shown.put_nowait(params)

        settings = {"python": {"pythonPath": python, "pyrefly": {"displayTypeErrors": "force-on"}}}
        client.feature(types.WORKSPACE_CONFIGURATION)(
            lambda asked: [settings.get(each.section or "", {"inlayHints": "all"}) for each in asked.items]
        )
        client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda _: None)
        client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)(lambda _: None)
        there = Path(python).absolute().parent
        environment = {"VIRTUAL_ENV": str(there.parent), "PATH": f"{there}:{os.environ['PATH']}"}
        await client.start_io(*command, env={**os.environ, **environment})
        try:
            return await _conversation(name, client, shown, path, (good, bad), times)
        finally:
            await _soon(client.shutdown_async(None))
            client.exit(None)
            await _soon(client.stop())
            if client._server is not None and client._server.returncode is None:
                client._server.kill()


async def _conversation(
    name: str, client: LanguageClient, shown: asyncio.Queue[Any], path: Path, texts: tuple[str, str], times: int
) -> Served:
    uri, bad = path.as_uri(), texts[1]
    await _open(name, client, path, texts[0])
    await _findings(shown, 0)
    found, seconds = await _edited(client, shown, uri, texts, times)
    line = _line(bad, FAILS)
    there = [each for each in found if each.range.start.line == line]
    document = types.TextDocumentIdentifier(uri)
    hover = await _soon(
        client.text_document_hover_async(types.HoverParams(document, types.Position(_line(bad, HOVERED), 9)))
    )
    everything = types.Range(types.Position(0, 0), types.Position(bad.count("\n"), 0))
    hints = await _soon(client.text_document_inlay_hint_async(types.InlayHintParams(document, everything)))
    actions: Any = None
    if there:
        about = types.CodeActionParams(document, there[0].range, types.CodeActionContext(there))
        actions = await _soon(client.text_document_code_action_async(about))
    said = "" if hover is None else str(getattr(hover.contents, "value", hover.contents)).strip()
    return Served(
        bool(there),
        "" if not said else f"`{' '.join(said.replace('`', '').split())[:60]}`",
        any(SHAPE.search(_text(each.label)) for each in hints or ()),
        [each.title for each in actions or ()],
        statistics.median(seconds) if seconds else None,
    )


async def _open(name: str, client: LanguageClient, path: Path, text: str) -> None:
    """Begin a conversation about a file in a folder of its own."""
    folder, options = path.parent.as_uri(), {"inlayHints": "all"} if name == "distml" else None
    folders: list[types.WorkspaceFolder] = [types.WorkspaceFolder(folder, path.parent.name)]
    await client.initialize_async(
        types.InitializeParams(CAN, root_uri=folder, workspace_folders=folders, initialization_options=options)
    )
    client.initialized(types.InitializedParams())
    item = types.TextDocumentItem(path.as_uri(), "python", 0, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))


async def _edited(
    client: LanguageClient, shown: asyncio.Queue[Any], uri: str, texts: tuple[str, str], times: int
) -> tuple[list[types.Diagnostic], list[float]]:
    """Make the mistake and take it back, several times: what is found at last, and the seconds of each mistake."""
    seconds: list[float] = []
    found: list[types.Diagnostic] = []
    for version in range(1, 2 * times):
        await asyncio.sleep(0.5)
        changed = types.VersionedTextDocumentIdentifier(version, uri)
        started = time.perf_counter()
        whole = types.TextDocumentContentChangeWholeDocument(texts[version % 2])
        client.text_document_did_change(types.DidChangeTextDocumentParams(changed, [whole]))
        heard = await _findings(shown, version)
        if heard is not None and version % 2:
            seconds.append(time.perf_counter() - started)
            found = heard
    return found, seconds


def _lenient() -> Any:
    """Reads messages, and leaves which notebooks a server wants as it is: the converter cannot tell those forms apart."""
    converter = default_converter()
    converter.register_structure_hook_func(
        lambda kind: get_origin(kind) is Union and "NotebookDocumentFilter" in str(kind), lambda given, _: given
    )
    return converter


def _text(label: Any) -> str:
    return label if isinstance(label, str) else "".join(each.value for each in label)


def _line(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n")


async def _findings(shown: asyncio.Queue[Any], version: int) -> list[types.Diagnostic] | None:
    """What is found in a version; None where nothing is said in time."""
    try:
        while True:
            params = await asyncio.wait_for(shown.get(), PATIENCE)
            if params.version in (None, version):
                return list(params.diagnostics)
    except TimeoutError:
        return None


async def _soon(answer: Any) -> Any:
    try:
        return await asyncio.wait_for(answer, PATIENCE)
    except Exception:  # it has no such answer
        return None


if __name__ == "__main__":
    sys.exit(main())
