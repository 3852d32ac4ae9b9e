"""What a check finds: places in source, findings, and the edits that would mend them.

Values only; nothing here knows how a finding is made or shown. Imports nothing of ours.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of source text: lines and columns count from 1, `end_column` is one past the last character."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that explains a finding, such as the line where a dimension was born."""

    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` by `replacement`; an empty span inserts."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that, applied together, are expected to mend the finding."""

    description: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. Its name and severity are looked up from `code` in the registry."""

    code: str
    message: str
    span: Span
    related: tuple[Related, ...] = ()
    hint: str | None = None
    fix: Fix | None = None
