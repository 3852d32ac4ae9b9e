"""The code of a notebook's cell as Python: what only IPython understands stands aside, line by line.

The rules are those of `IPython.core.inputtransformer2`: magics and shell commands (`%name`, `!command`, also on the right of
an assignment), help (`name?`) and whole cells (`%%name`). No line is added or removed, and code keeps its columns.
https://ipython.readthedocs.io/en/stable/interactive/reference.html
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BODY = re.compile(r"[^\r\n]*")
_CELL_MAGIC = re.compile(r"%%(\w*)(?!\w*\?)([^\r\n]*)")
_TRANSPARENT = frozenset({"capture", "debug", "ipytest", "prun", "time"})
"""Cell magics that run the cell as code of the notebook; others give it to another program, or keep what it binds."""
_INDENT = re.compile(r"[ \t\f]*")
_PROMPT = re.compile(r"\s*(?:>>>|In \[\d+\]:)(?:\s|$)")
_ESCAPE = re.compile(r"[ \t\f]*(?:[?,;]|!(?!=)|%(?!=)|/(?![/=]))")
_HELP = re.compile(r"%{0,2}(?!\d)[\w*]+(?:\.(?!\d)[\w*]+|\[-?[0-9]+\])*\?\??\r?\n?\Z")
_TIMED = re.compile(r"([ \t\f]*)%time(?=[ \t])")
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\r\n]*)"""
    r"""|\'\'\'(?:[^\\]|\\.)*?(?:\'\'\'|\Z)|\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)"""
    r"""|'(?:[^\\'\r\n]|\\\r\n|\\.)*'?|"(?:[^\\"\r\n]|\\\r\n|\\.)*"?|\\(?:\r\n|\r|\n)"""
    r"""|(?P<end>\r\n|\r|\n)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<space>[ \t\f]+)"""
    r"""|(?:[!<>:+\-*/%&|^@=]|//|\*\*|<<|>>)=|(?P<assign>=)(?=[ \t]*(?P<magic>!|%[^\W\d]|))|.""",
    re.DOTALL,
)  # what is not closed goes on to the end, so that the time is that of the length
_UNKNOWN = "get_ipython()"
Aside = Callable[[str, str], str]
"""Given a line of the notebook and the Python that stands for it: what the program has instead."""


class Cell(NamedTuple):
    """A cell as Python; `indented` where IPython would take away the indentation of all its lines, `broken` where it is
    no Python."""

    text: str
    indented: bool = False
    broken: bool = False


def as_python(source: str, aside: Aside) -> Cell | None:
    """The cell as Python with the same lines; None for a cell that is no code of the notebook."""
    if parses(source):
        return Cell(source)
    lines = LINES.findall(source)
    blank = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if any(map(_PROMPT.match, lines[blank : blank + 2])):
        return None
    head = "".join(lines[:blank])
    first, lines = lines[blank], lines[blank:]
    if magic := _CELL_MAGIC.match(first.lstrip()):
        if magic[1] not in _TRANSPARENT:
            return None
        lines = lines[1:]
    text = "".join(_without_magics("".join(lines), aside))
    whole = parses(text)
    indented = not whole and lines[:1] != [] and lines[0][0] in " \t" and parses(f"if 1:\n{text}")
    if magic:
        head += _aside(first, "if 1:" if indented else _captured(magic), aside)
    return Cell(head + text, indented=indented and not magic, broken=not (whole or indented))


def parses(source: str) -> bool:
    """Whether Python's parser takes a text."""
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _captured(magic: re.Match[str]) -> str:
    """What stands for the line of a cell magic: `%%capture name` binds a name."""
    names = [word for word in magic[2].split() if magic[1] == "capture" and word.isidentifier()]
    return f"{names[-1]} = {_UNKNOWN}" if names else "pass"


def _without_magics(text: str, aside: Aside) -> Iterator[str]:
    at = 0
    while at < len(text):
        end, plain = _magic(text, at)
        if plain is None:
            yield text[at:end]
        else:
            first, *more = LINES.findall(text[at:end])
            yield _aside(first, plain, aside)
            indent = plain[: len(plain) - len(plain.lstrip())]
            yield from (_aside(line, f"{indent}pass", aside) for line in more)
        at = end


def _magic(text: str, at: int) -> tuple[int, str | None]:
    """The end of the logical line that begins at `at`, and the Python for it where it is none."""
    indent = _INDENT.match(text, at)
    assert indent is not None
    if _ESCAPE.match(text, at):
        end = _continued(text, at)
        timed = _TIMED.sub(r"\1if 1:", text[at:end].rstrip("\r\n"), count=1)
        return end, timed if "\n" not in timed and _TIMED.match(text, at) and parses(
            timed.strip()
        ) else f"{indent[0]}pass"
    depth, last, assigned = 0, "", False
    for token in _TOKEN.finditer(text, at):
        if token["end"] and depth <= 0:
            return token.end(), _help(text[at : token.end()], last)
        if token["assign"] and depth == 0 and not assigned:
            if token["magic"]:
                return _continued(text, token.start()), f"{text[at : token.end()]} {_UNKNOWN}"
            assigned = True
        depth += bool(token["open"]) - bool(token["close"])
        if not (token["space"] or token["end"]):
            last = token[0]
    return len(text), _help(text[at:], last)


def _help(line: str, last: str) -> str | None:
    """What stands for a logical line with this `last` token that asks for help; None for any other."""
    asks = last == "?" and _HELP.search(line[max(line.rfind("\n", 0, -1), 0) :])
    return line[: len(line) - len(line.lstrip())] + "pass" if asks else None


def _continued(text: str, at: int) -> int:
    """The end of the line at `at`, with those that backslashes add to it."""
    while at < len(text):
        line = LINES.match(text, at)
        assert line is not None
        at = line.end()
        if not line[0].rstrip("\r\n").endswith("\\"):
            break
    return at


def _aside(line: str, plain: str, aside: Aside) -> str:
    body = _BODY.match(line)
    assert body is not None
    return aside(body[0], plain) + line[body.end() :]
