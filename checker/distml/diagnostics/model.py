"""What a check finds: places in source, findings, and the edits that would mend them.

Values only; nothing here knows how a finding is made or shown. Imports nothing of ours.
"""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A stretch of source text: lines and columns count from 1, `end_column` is one past the last character."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


class Related(NamedTuple):
    """Another place that explains a finding, such as the line where a dimension was born."""

    message: str
    span: Span


class Edit(NamedTuple):
    """Replace the text of `span` by `replacement`; an empty span inserts."""

    span: Span
    replacement: str


class Fix(NamedTuple):
    """Edits that, applied together, are expected to mend the finding."""

    description: str
    edits: tuple[Edit, ...]


class Diagnostic(NamedTuple):
    """One finding. Its name and severity are looked up from `code` in the registry."""

    code: str
    message: str
    span: Span
    related: tuple[Related, ...] = ()
    hint: str | None = None
    fix: Fix | None = None
