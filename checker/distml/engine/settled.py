"""What hangs on files of the project that are not imported: comments that hid nothing (SRC301), and dtypes (SHP312).

A mistake in a function may show only where another file calls it. So a comment is called useless only by a run that
checked every file of the project that may import its file. A hook is given the files of one commit: there it is silent.
Another file may also choose what floats are by default, in all files of its program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from distml.diagnostics.model import Diagnostic
from distml.engine.config import Config
from distml.engine.discovery import discover
from distml.source.imports import imports
from distml.source.libraries import CHOOSES_FLOATS
from distml.source.notebook import code_of, is_notebook, limit_of
from distml.source.reading import UnreadableError, read_bytes

_WORD = re.compile(r"\w+")
_CHOOSING = frozenset(name.rpartition(".")[2] for names in CHOOSES_FLOATS.values() for name in names)


def settled(findings: Iterable[Diagnostic], code: str, run: Iterable[str], config: Config) -> list[Diagnostic]:
    """The findings, without those of `code` in files that a file outside the `run` may import."""
    imported = importable(run, config)
    return [finding for finding in findings if finding.code != code or not imported(finding.span.path)]


def by_default(findings: Iterable[Diagnostic], code: str, config: Config) -> list[Diagnostic]:
    """The findings, without those of `code` in projects that choose what floats are by default."""
    chooses = cache(lambda top: any(not _CHOOSING.isdisjoint(_WORD.findall(text)) for _, text in _texts(top, config)))
    return [each for each in findings if each.code != code or not chooses(_project(each.span.path, config))]


def importable(run: Iterable[str], config: Config) -> Callable[[str], bool]:
    """Says for a file whether one that was not in the `run` may import it."""
    seen = {os.path.realpath(path) for path in run}
    names = cache(lambda top: _names_imported(top, config))
    return cache(lambda path: _is_imported(path, seen, names(_project(path, config))))


def _is_imported(path: str, seen: set[str], names: Mapping[str, frozenset[str]]) -> bool:
    """Whether a file that is not among those `seen` may import `path`, itself or through others, by the names they import."""
    reached, waiting = {os.path.realpath(path)}, [path]
    while waiting:
        name = _module(waiting.pop())
        for other in (other for other, words in names.items() if name in words):
            real = os.path.realpath(other)
            if real not in seen:
                return True
            if real not in reached:
                reached.add(real)
                waiting.append(other)
    return False


def _project(path: str, config: Config) -> str:
    """The folder of the project that `path` belongs to: that of the configuration, else its own."""
    top = os.path.relpath(os.path.abspath(config.folder))
    return (os.path.dirname(path) or os.curdir) if os.path.relpath(path, top).startswith(os.pardir) else top


def _texts(top: str, config: Config) -> Iterator[tuple[str, str]]:
    """The files below a folder that can be read, and the code in each."""
    for other in discover([top], config).files:
        try:
            data = read_bytes(other, other, limit_of(other, config.max_file_size))
            yield other, code_of(data, other) if is_notebook(other) else data.decode("utf-8", "replace")
        except UnreadableError:
            continue


def _names_imported(top: str, config: Config) -> dict[str, frozenset[str]]:
    """The files below a folder, each with the names in its imports."""
    found: dict[str, frozenset[str]] = {}
    for other, text in _texts(top, config):
        words = (word for each in imports(text) for part in (each.module, *each.names) for word in _WORD.findall(part))
        found[other] = frozenset(words)
    return found


def _module(path: str) -> str:
    """The last name under which a file is imported: its own, or its folder's for a package."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return os.path.basename(os.path.dirname(os.path.abspath(path))) if stem == "__init__" else stem
