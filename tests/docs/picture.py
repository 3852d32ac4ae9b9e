"""Pictures of what commands print and of what an editor shows: SVG that loads nothing from anywhere."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text

FRAME = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px;
line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
THEME = "ansi_dark"
BOX = 64


SECONDS = re.compile(r" \((?:\d+ cached, )?[\d.]+ s\)")


def words(svg: str) -> list[str]:
    """What a picture says; where it says it may depend on the fonts of the machine."""
    return sorted(re.findall(r"<(?:text|title)[^>]*>([^<]*)<", svg))


def terminal(command: str, printed: str) -> str:
    """A terminal with a command and what it prints, in its colors; a patch has those of patches."""
    printed = SECONDS.sub("", printed)
    patch = printed.startswith("--- ")
    shown = Syntax(printed, "diff", theme=THEME) if patch else Text.from_ansi(printed.rstrip("\n"))
    width = max(cell_len(line) for line in [f"$ {command}", *Text.from_ansi(printed).plain.splitlines()])
    return _drawn(Group(Text(f"$ {command}", "bold"), shown), width, "distml")


def editor(path: Path, first: int, line: int, column: int) -> str:
    """The lines of a file in an editor, down to the one with the pointer, and what the language server says there."""
    said, start, end = asyncio.run(_hovering(path, line, column))
    lines = path.read_text("utf-8").splitlines()[first - 1 : line]
    source = Syntax("\n".join(lines), "python", theme=THEME, line_numbers=True, start_line=first)
    source.stylize_range("underline bold", (len(lines), start), (len(lines), end))
    left = len(str(line)) + 3 + start
    box = Padding(Panel(Markdown(said, code_theme=THEME), width=BOX), (0, 0, 0, left))
    return _drawn(Group(source, box), max(left + BOX, *(left - start + len(each) for each in lines)), path.name)


async def _hovering(path: Path, line: int, column: int) -> tuple[str, int, int]:
    from lsprotocol import types

    from server.editor import Editor

    client = Editor()
    await client.start(path.parent, None)
    uri = client.open(path, path.read_text("utf-8"))
    asked = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line - 1, column))
    found = await client.client.text_document_hover_async(asked)
    await client.client.shutdown_session()
    places = re.sub(r"\((?:file|https?)://[^)]*\)", "()", found.contents.value)
    return re.sub(r"\[([^]]*)\]\(\)", r"\1", places), found.range.start.character, found.range.end.character


def _drawn(shown: RenderableType, width: int, title: str) -> str:
    # `_environ`: what is drawn depends on nothing of the terminal it is made in.
    console = Console(record=True, width=width, file=Path("/dev/null").open("w"), force_terminal=True, _environ={})  # noqa: SIM115
    console.print(shown, soft_wrap=False)
    return console.export_svg(title=title, code_format=FRAME, unique_id="shown")
