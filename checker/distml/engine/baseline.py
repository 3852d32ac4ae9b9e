"""A baseline: a file with the findings that a project has already, so that only new ones are reported.

A finding is known again by its file, its code, the function or class it is in and the text of its lines, not by a line
number or a message: edits elsewhere do not bring it back. Findings that are alike in all of these are counted, and one more
is new. The file is JSON with one entry on each line, sorted.
"""

from __future__ import annotations

import ast
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple

from distml.diagnostics.model import Diagnostic, Span
from distml.engine.config import Config, ConfigError
from distml.engine.results import Report
from distml.engine.selection import ALWAYS, selector
from distml.engine.settled import importable
from distml.source.file import SourceFile
from distml.source.reading import UnreadableError, read_bytes

VERSION = 1
LARGEST = 64 * 1024 * 1024  # bytes of a baseline
MOST = 1_000_000  # findings of one entry
LONGEST = 200  # characters of source text in an entry; of longer text, the start and a hash

Test = Callable[[Diagnostic], bool]


class Key(NamedTuple):
    """What a finding is known by; `scope` is the qualified name of the function or class, empty for a module."""

    path: str
    code: str
    scope: str
    text: str


Entries = Mapping[Key, int]
"""How many findings there are of each kind."""


class Compared(NamedTuple):
    """Findings against a baseline: those that are not in it, all of the run as entries, and the entries it may drop."""

    new: tuple[Diagnostic, ...]
    found: Entries
    obsolete: Entries


def read(path: str) -> tuple[bytes, Entries]:
    """A baseline and its entries. Raises `ConfigError` where the file cannot be read or is no baseline."""
    try:
        data = read_bytes(path, path, LARGEST)
    except UnreadableError as error:
        raise ConfigError(f"{path}: {error.diagnostic.message.partition(' (max-file-size)')[0]}") from None
    try:
        return data, dict(_parsed(json.loads(data)))
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, _FormatError) else "it is not JSON in the form of a baseline"
        raise ConfigError(f"{path}: not a baseline of distml: {why}") from None


def dump(entries: Entries) -> bytes:
    """The file with these entries; characters beyond ASCII are escaped, so that none of them deceives a reader."""
    lines = [
        json.dumps({"path": key.path, "code": key.code, "in": key.scope, "text": key.text, "count": count})
        for key, count in sorted(entries.items())
        if count
    ]
    body = "[\n" + ",\n".join(lines) + "\n]" if lines else "[]"
    return f'{{\n"version": {VERSION},\n"findings": {body}\n}}\n'.encode()


def compare(report: Report, entries: Entries, base: str, config: Config, touched: Test | None = None) -> Compared:
    """Compare a report with the entries of a baseline whose paths are relative to `base`.

    Of findings that are alike and more than the baseline has, those that are `touched` are the new ones, else the last.
    """
    keys = _Keys(base, report.overlay)
    keyed = [(each, keys.of(each)) for each in report.diagnostics]
    found = Counter(key for each, key in keyed if each.code not in ALWAYS)
    left, old = Counter(entries), set[int]()
    order = sorted(range(len(keyed)), key=lambda at: touched is not None and touched(keyed[at][0]))
    for at in order:
        finding, key = keyed[at]
        if left[key] > 0 and finding.code not in ALWAYS:
            left[key] -= 1
            old.add(at)
    judged = _judge(report, base, config)
    obsolete = {key: count for key, count in left.items() if count > 0 and judged(key)}
    return Compared(tuple(each for at, (each, _) in enumerate(keyed) if at not in old), found, obsolete)


def fingerprints(report: Report, base: str) -> list[str]:
    """For each finding of a report a text that is its own, and stays as long as a baseline would know the finding again."""
    keys, seen = _Keys(base, report.overlay), Counter[Key]()
    found = []
    for key in map(keys.of, report.diagnostics):
        seen[key] += 1
        found.append(sha256(json.dumps([*key, seen[key]]).encode()).hexdigest())
    return found


def base_of(path: str, config: Config) -> str:
    """The folder that paths in a baseline are relative to: that of the configuration; without one, that of the baseline."""
    return os.path.realpath(config.folder if os.path.isabs(config.folder) else os.path.dirname(path) or os.curdir)


class _FormatError(ValueError):
    """The file is JSON, and wrong; the message says where."""


def _parsed(table: object) -> Iterator[tuple[Key, int]]:
    if not isinstance(table, dict) or not isinstance(table.get("findings"), list):
        raise _FormatError("it has no array `findings`")
    if table.get("version") is True or table.get("version") != VERSION:
        raise _FormatError(f"`version` is not {VERSION}; another version of distml may have written it")
    most: Counter[Key] = Counter()
    for number, each in enumerate(table["findings"], 1):
        if not isinstance(each, dict):
            raise _FormatError(f"entry {number} is no object")
        parts, count = [each.get(name) for name in ("path", "code", "in", "text")], each.get("count")
        if not all(isinstance(part, str) and "\0" not in part for part in parts):
            raise _FormatError(f"`path`, `code`, `in` or `text` of entry {number} is not a string without NUL")
        if isinstance(count, bool) or not isinstance(count, int) or not 0 < count <= MOST:
            raise _FormatError(f"`count` of entry {number} is not a whole number from 1 to {MOST}")
        key = Key(*map(str, parts))
        most[key] = max(most[key], count)  # a merge of two branches may leave an entry twice
    yield from most.items()


class _Keys:
    """Reads the files of findings to say what these are known by."""

    def __init__(self, base: str, overlay: Mapping[str, bytes]) -> None:
        self._base = base
        self._overlay = overlay
        self._files: dict[str, tuple[list[str], list[tuple[int, int, str]]]] = {}

    def of(self, finding: Diagnostic) -> Key:
        span = finding.span
        if span.path not in self._files:
            self._files[span.path] = self._read(span.path)
        lines, scopes = self._files[span.path]
        text = " ".join(" ".join(lines[span.line - 1 : max(span.line, span.end_line)]).split())
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]}... {sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}"
        around = [scope for scope in scopes if scope[0] <= span.line <= scope[1]]
        return Key(relative(span.path, self._base), finding.code, around[-1][2] if around else "", text)

    def _read(self, path: str) -> tuple[list[str], list[tuple[int, int, str]]]:
        real = os.path.realpath(path)
        try:
            data = self._overlay.get(real)
            source = SourceFile(
                path, real, read_bytes(path, path, 1 << 30) if data is None else data, module="", is_package=False
            )
        except (UnreadableError, ValueError):
            return [], []
        try:
            return source.shown_lines, list(_scopes(source.tree))
        except UnreadableError:  # its one finding says that it cannot be parsed
            return source.shown_lines, []


def _scopes(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """First and last line and qualified name of each function and class, outer ones first."""
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, name = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{name}.{node.name}" if name else node.name
            yield (
                min([node.lineno, *(each.lineno for each in node.decorator_list)]),
                node.end_lineno or node.lineno,
                name,
            )
        waiting.extend((child, name) for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))


def relative(path: str, base: str) -> str:
    """A path below `base` (or beside it), with slashes."""
    return os.path.relpath(os.path.realpath(path), base).replace(os.sep, "/")


def _judge(report: Report, base: str, config: Config) -> Callable[[Key], bool]:
    """Whether a run can say that the findings of an entry are gone.

    Its file is gone, or it was checked with all that may import it, nothing was cut off, and its rule was asked for.
    """
    shown = {relative(path, base): path for path in report.checked}
    imported = importable(report.checked, config)
    wanted = selector(config)

    def judged(key: Key) -> bool:
        path = shown.get(key.path)
        if report.overlay:  # an editor asks for one file at each key
            return False
        if path is None:
            return not os.path.lexists(os.path.join(base, key.path))
        if not report.whole or not wanted(Diagnostic(key.code, "", Span(path, 1, 1, 1, 1))):
            return False
        return not imported(path)

    return judged
