"""What comes out of checking one file, of a whole run, and what a checker has to return.

`encode` and `decode` turn the result of a file into plain lists and back, for the cache and for worker processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from distml.diagnostics.model import Diagnostic, Edit, Fix, Related, Span
from distml.diagnostics.registry import rule
from distml.diagnostics.tracked import Cause, Tracked

if TYPE_CHECKING:
    from distml.source.file import SourceFile
    from distml.source.project import Project

_FAR = 2**31
Plain = Any  # JSON: numbers, strings, None, and lists of them
Place = tuple[str, int]  # a path as shown and a line


class Lost(Protocol):
    """A place where tracking was lost, and why."""

    @property
    def span(self) -> Span: ...
    @property
    def reason(self) -> str: ...


class Checked(Protocol):
    """The result of a checker for one file; `late`: the deadline ended it early."""

    @property
    def diagnostics(self) -> Sequence[Diagnostic]: ...
    @property
    def lost(self) -> Sequence[Lost]: ...
    @property
    def late(self) -> bool: ...


class Unasked(NamedTuple):
    """The result of a checker that was not asked."""

    diagnostics: Sequence[Diagnostic] = ()
    lost: Sequence[Lost] = ()
    late: bool = False


Note = Callable[[Diagnostic], None]
"""Told of each finding when it is made, so that it is kept if the check is stopped."""
Checker = Callable[["SourceFile", "Project", float | None, Note], Checked]


class LostPlace(NamedTuple):
    """Where tracking was lost, as reports show it."""

    span: Span
    reason: str


class FileResult(NamedTuple):
    """The result for one file.

    `skipped`: no tensor library is reachable from it. `consulted`: the records of what the result depends on.
    `used_elsewhere`: comments in other files that hid a finding met from this one. `lasting`: the result depends on
    nothing else, such as the speed of the machine, and may be remembered. `answer`: what a checker that stands in for the
    interpreter says beside findings.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    lost: tuple[LostPlace, ...] = ()
    skipped: bool = False
    consulted: tuple[str, ...] = ()
    used_elsewhere: tuple[Place, ...] = ()
    lasting: bool = True
    answer: Plain = None
    tracked: tuple[Tracked, ...] = ()


class Baselined(NamedTuple):
    """What a baseline did to a report: how many findings it hid, and how many of its own it no longer needs.

    `data` is what its file is to hold, `before` what it held; both `None` where it stays as it is.
    """

    path: str
    hidden: int
    obsolete: int
    data: bytes | None = None
    before: bytes | None = None


class Report(NamedTuple):
    """The result of a run: what to report in order of place, and the figures of the summary line.

    `checked`: the files whose check came to its end, as shown. `whole`: no check was cut off.
    `unchanged`: how many findings were left out since they touch no changed line.
    """

    diagnostics: tuple[Diagnostic, ...] = ()
    lost: tuple[LostPlace, ...] = ()
    files: int = 0
    skipped: int = 0
    cached: int = 0
    seconds: float = 0.0
    overlay: Mapping[str, bytes] = {}
    checked: tuple[str, ...] = ()
    whole: bool = True
    baseline: Baselined | None = None
    unchanged: int = 0
    tracked: tuple[Tracked, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether distml itself failed on a file."""
        return any(finding.code == "SRC201" for finding in self.diagnostics)


def encode(result: FileResult) -> Plain:
    """A `FileResult` as plain lists."""
    return [
        [encode_finding(finding) for finding in result.diagnostics],
        [[_encode_span(place.span), place.reason] for place in result.lost],
        result.skipped,
        list(result.consulted),
        list(result.used_elsewhere),
        result.lasting,
        result.answer,
        [_encode_tracked(each) for each in result.tracked],
    ]


def decode(plain: Plain) -> FileResult:
    """The `FileResult` that was encoded. Raises `TypeError`, `ValueError` or `LookupError` for anything else."""
    diagnostics, lost, skipped, consulted, used, lasting, answer, tracked = plain
    return FileResult(
        tuple(decode_finding(each) for each in diagnostics),
        tuple(LostPlace(_decode_span(span), _text(reason)) for span, reason in lost),
        bool(skipped),
        tuple(map(_text, consulted)),
        tuple((_text(path), _number(line)) for path, line in used),
        bool(lasting),
        answer,
        tuple(map(_decode_tracked, tracked)),
    )


def _encode_tracked(tracked: Tracked) -> Plain:
    causes = [[_encode_span(cause.span), cause.reason, hidden] for cause, hidden in tracked.causes]
    return [tracked.name, _encode_span(tracked.span), list(tracked.levels), causes]


def _decode_tracked(plain: Plain) -> Tracked:
    name, span, (exact, partial, unranked, unknown), causes = plain
    return Tracked(
        _text(name),
        _decode_span(span),
        (_number(exact), _number(partial), _number(unranked), _number(unknown)),
        tuple((Cause(_decode_span(place), _text(reason)), _number(hidden)) for place, reason, hidden in causes),
    )


def _encode_span(span: Span) -> Plain:
    return [span.path, span.line, span.column, span.end_line, span.end_column]


def _decode_span(plain: Plain) -> Span:
    path, *numbers = plain
    if b"\0" in os.fsencode(_text(path)):
        raise ValueError("a path that no file can have")
    return Span(path, *map(_number, numbers))


def _text(plain: Plain) -> str:
    if type(plain) is not str:
        raise TypeError("no text")
    return plain


def _number(plain: Plain) -> int:
    if type(plain) is not int or not 0 <= plain < _FAR:
        raise ValueError("no line or column")
    return plain


def _optional(plain: Plain) -> str | None:
    return None if plain is None else _text(plain)


def encode_finding(finding: Diagnostic) -> Plain:
    """A finding as values of JSON."""
    fix = finding.fix
    return [
        finding.code,
        finding.message,
        _encode_span(finding.span),
        [[each.message, _encode_span(each.span)] for each in finding.related],
        finding.hint,
        fix and [fix.description, [[_encode_span(edit.span), edit.replacement] for edit in fix.edits]],
    ]


def _decode_fix(description: Plain, edits: Plain) -> Fix:
    return Fix(_text(description), tuple(Edit(_decode_span(where), _text(text)) for where, text in edits))


def decode_finding(plain: Plain) -> Diagnostic:
    """The finding that was encoded. Raises `TypeError`, `ValueError` or `LookupError` for anything else."""
    code, message, span, related, hint, fix = plain
    return Diagnostic(
        rule(code).code,
        _text(message),
        _decode_span(span),
        tuple(Related(_text(text), _decode_span(where)) for text, where in related),
        _optional(hint),
        None if fix is None else _decode_fix(*fix),
    )
