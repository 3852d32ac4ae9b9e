"""What the server asks of the engine about one document, answered as the commands would: plain lists for the pipe.

Each question is answered in a process of its own, which goes to the folder that the command would be run in.
"""

from __future__ import annotations

import ast
import os
from difflib import SequenceMatcher
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from distml.diagnostics.model import Span
from distml.diagnostics.registry import rule
from distml.engine.config import Config, load
from distml.engine.results import FileResult, Lost, Note, decode_finding, encode_finding
from distml.engine.run import run
from distml.gradual.shown import Birth, Entry
from distml.gradual.targets import ENTRY_POINTS
from distml.interp.machine import OutOfTime
from distml.server.buffers import Range, width
from distml.server.kept import AskedAgainError
from distml.source.file import SourceFile
from distml.source.ignoring import NEVER, ignoring
from distml.source.places import Places
from distml.source.reading import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from distml.diagnostics.model import Diagnostic, Edit
    from distml.engine.results import Checker, Report
    from distml.server.kept import Kept
    from distml.source.project import Project

Plain = Any  # JSON


class Asked(NamedTuple):
    """A question about a file. `root`: where to check from if no configuration says; `units`: how the client counts; `kept`:
    what this process keeps between two questions, None for one that answers a single question.
    """

    path: str
    root: str
    units: str
    buffers: Mapping[str, bytes]
    kept: Kept | None = None


def findings(asked: Asked) -> Plain:
    """The findings of a check, and the files that were read for it. Raises `ConfigError`."""
    name, config = _settle(asked)
    reads = _Results()
    report = _run(asked, name, config, reads)
    if config.baseline:
        from distml.engine.adoption import adopt, wishes

        report = adopt(report, config, wishes(config, None))
    places = _Shown(asked, name)
    return {"findings": [_described(each, places) for each in report.diagnostics], "reads": sorted(reads.files)}


def shapes(asked: Asked) -> Plain:
    """What `distml shapes` sees in a file, and where its numbers come from. Raises `ConfigError`."""
    name, config = _settle(asked)
    results = _Results()
    _run(asked, name, config, results, partial(_seen, config.time_limit))
    places, found = _Shown(asked, name), []
    for plain in results.answer or ():
        entry = Entry(*plain)
        where = Span(name, entry.line, entry.column, entry.end_line, entry.end_column)
        births = [
            {"size": each.size, "text": each.text, "place": places(_born(each))}
            for each in (Birth(*one) for one in entry.births)
        ]
        found.append(
            {"kind": entry.kind, "name": entry.name, "values": entry.values, "place": places(where), "births": births}
        )
    return found


def _born(birth: Birth) -> Span:
    return Span(birth.path, birth.line, birth.column, birth.line, birth.column + max(len(birth.text), 1))


class _Seen(NamedTuple):
    """What is answered in place of findings."""

    answer: Plain
    diagnostics: tuple[Diagnostic, ...] = ()
    lost: tuple[Lost, ...] = ()
    late: bool = False


def _seen(limit: float, source: SourceFile, project: Project, _deadline: float | None, _note: Note) -> _Seen:
    """The shapes in a file, in the place of its check."""
    from distml.gradual.questions import Question, QuestionError
    from distml.gradual.shapes import find_shapes

    try:
        return _Seen(find_shapes(Question(source.path, seconds=limit), project=project).entries)
    except (QuestionError, OutOfTime):
        return _Seen(())


def models(asked: Asked) -> Plain:
    """The methods that models of a file may be called by, as `distml migrate` names them. Raises `ConfigError`."""
    name, _ = _settle(asked)
    data = asked.buffers.get(os.path.realpath(asked.path))
    try:
        source = None if data is None else SourceFile(name, name, data, module="", is_package=False)
        body = [] if source is None or source.notebook is not None else source.tree.body
    except UnreadableError:
        body = []
    places, found = _Shown(asked, name), []
    for cls in (each for each in body if isinstance(each, ast.ClassDef)):
        for each in cls.body:
            if isinstance(each, ast.FunctionDef) and each.name in ENTRY_POINTS:
                where = Span(name, each.lineno, each.col_offset + 1, each.lineno, each.col_offset + 1)
                found.append({"name": f"{cls.name}.{each.name}", "place": places(where)})
    return found


def migration(asked: Asked, method: str) -> Plain:
    """What `distml migrate FILE::METHOD` says, and the edits that write the annotations. Raises `ConfigError`."""
    name, config = _settle(asked)
    results = _Results()
    migrated = partial(_migrated, config.time_limit, method)
    _run(asked, name, config, results, migrated)
    said, edits = results.answer or ([f"{method}: not answered within the limits on a file"], [])
    places = _Shown(asked, name)
    return {"said": said, "edits": [{"place": places(Span(name, *where)), "text": text} for where, text in edits]}


def _migrated(
    limit: float, method: str, source: SourceFile, project: Project, _deadline: float | None, _note: Note
) -> _Seen:
    """The migration of a method, in the place of a check of its file."""
    from distml.gradual.migrate import migrate
    from distml.gradual.questions import Question, QuestionError, benches
    from distml.report.migrations import as_text
    from distml.rewrites.annotate import annotate, targets_of

    try:
        found = [migrate(each) for each in benches(Question(f"{source.path}::{method}", seconds=limit), project)]
    except QuestionError as error:
        return _Seen([[str(error)], []])
    except OutOfTime:
        return _Seen(())
    rewritten = annotate(source.text, targets_of(found), "jaxtyping")
    refused = [f"{each.what} is not changed: {each.reason}" for each in rewritten.refusals]
    return _Seen([[*as_text(found, concrete=False), *refused], _line_edits(rewritten.before, rewritten.source)])


def _line_edits(before: str, after: str) -> list[Plain]:
    """The lines that differ between two texts: a place, counted from 1, and what it becomes."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [
        [(first + 1, 1, last + 1, 1), "".join(new[start:end])]
        for kind, first, last, start, end in changes
        if kind != "equal"
    ]


def suppression(asked: Asked, plain: Plain) -> Plain:
    """The edits that hide a finding by a comment; none where no comment does. Raises `ConfigError`."""
    name, _ = _settle(asked)
    finding = decode_finding(plain)
    data = asked.buffers.get(os.path.realpath(asked.path))
    if finding.code.startswith(NEVER) or finding.span.path != name or data is None:
        return []
    places = _Shown(asked, name)
    made = ignoring(SourceFile(name, name, data, module="", is_package=False), [finding])
    return [_edit(edit, places) for each in made if each.fix is not None for edit in each.fix.edits]


def _settle(asked: Asked) -> tuple[str, Config]:
    """Go where the command would be run for a file; the file's name there, and its configuration."""
    folder, base = os.path.split(asked.path)
    folder = os.path.realpath(folder)
    config = load(None, folder)
    here = asked.root if config == Config(folder=folder) else config.folder
    os.chdir(next(each for each in (here, folder, os.sep) if os.path.isdir(each)))
    path, top = os.path.join(folder, base), os.getcwd()
    return (os.path.relpath(path) if path.startswith(os.path.join(top, "")) else path), config


def _run(asked: Asked, name: str, config: Config, results: _Results, checker: Checker | None = None) -> Report:
    """Check a file: in this process, with what it keeps, or in a worker with its limits. Raises `ConfigError`, and
    `AskedAgainError` where something was cut off in this process."""
    kept, overlay = asked.kept, dict(asked.buffers)
    if kept is None:
        return run([name], config._replace(jobs=1), cache=results, checker=checker, overlay=overlay)
    kept.limit(config.memory_limit)
    real = os.path.realpath(asked.path)
    results.keep = partial(kept.keep, real)

    def files(shown: Mapping[str, str], config: Config, overlay: Mapping[str, bytes] | None) -> Project:
        return kept.project(real, shown, config, overlay or {})

    report = run([name], config._replace(jobs=0), cache=results, checker=checker, overlay=overlay, files=files)
    if not report.whole:
        raise AskedAgainError
    return report


class _Results:
    """Remembers no results for later, but which files one comes from, and what else it says; `keep` is told of its project."""

    def __init__(self) -> None:
        self.keep: Callable[[SourceFile, Project], None] | None = None
        self.files: set[str] = set()
        self.answer: Plain = None

    def get(self, _path: str) -> FileResult | None:
        return None

    def put(self, _path: str, result: FileResult) -> None:
        self.files.update(result.consulted)
        self.answer = result.answer

    def trace(self, source: SourceFile, project: Project) -> tuple[str, ...]:
        if self.keep is not None:
            self.keep(source, project)
        return tuple(project.consulted(source))


class _Shown:
    """Places as a client takes them: files by absolute path, lines and characters from 0 in its units."""

    def __init__(self, asked: Asked, name: str) -> None:
        self._places, self._units = Places(asked.buffers), asked.units
        self._own, self._path = name, asked.path

    def __call__(self, span: Span) -> Plain:
        """A path, a range, and in a notebook the number of the cell."""
        path = self._path if span.path == self._own else os.path.abspath(span.path)
        cell = self._places.cell(span)
        above = 0 if cell is None else span.line - cell.line
        start = self._character(span.path, span.line, span.column)
        end = self._character(span.path, span.end_line, span.end_column)
        where = Range(span.line - 1 - above, start, span.end_line - 1 - above, end)
        if cell is None:
            return {"path": path, "range": where}
        return {"path": path, "range": where, "cell": cell.cell, "lines": [cell.file_line, cell.file_end_line]}

    def _character(self, path: str, line: int, column: int) -> int:
        text = self._places.line(path, line)
        return column - 1 if text is None else width(text[: column - 1], self._units)


def _described(finding: Diagnostic, places: _Shown) -> Plain:
    found: dict[str, Plain] = {
        "code": finding.code,
        "severity": rule(finding.code).severity.value,
        "message": finding.message if finding.hint is None else f"{finding.message}\nhelp: {finding.hint}",
        "place": places(finding.span),
        "related": [{"message": each.message, "place": places(each.span)} for each in finding.related],
        "finding": encode_finding(finding),
    }
    if finding.fix is not None:
        found["fix"] = {"title": finding.fix.description, "edits": [_edit(edit, places) for edit in finding.fix.edits]}
    return found


def _edit(edit: Edit, places: _Shown) -> Plain:
    return {"place": places(edit.span), "text": edit.replacement}
