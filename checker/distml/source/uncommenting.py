"""How a comment that suppresses nothing, or a part of it, is taken out of its line."""

from __future__ import annotations

import re

from distml.diagnostics.model import Edit, Fix, Span


def without(lines: list[str], span: Span, comment: re.Match[str], left: list[str]) -> Fix:
    """A fix after which the comment at `span` names the codes `left`, or is gone if there are none.

    `comment` is the part of the comment token that speaks to distml. Other parts of the token stay, among them words
    behind it: they may say more than why the comment was there. A line that holds nothing else goes away.
    """
    if left:
        start, end = comment.span("codes")
        first = span.column - comment.start()
        place = span._replace(column=first + start, end_column=first + end)
        return Fix(f"name only {', '.join(left)} in the comment", (Edit(place, ", ".join(left)),))
    return Fix("remove the comment", (_removal(lines, span, comment),))


def _removal(lines: list[str], span: Span, comment: re.Match[str]) -> Edit:
    token = comment.string
    line, first = lines[span.line - 1], span.column - comment.start()
    before, after = token[: comment.start()], token[comment.end() :].strip(" \t-:;,")
    if after:
        kept = after if after.startswith("#") else f"# {after}"
        return Edit(span._replace(end_column=first + len(token)), kept)
    code = line[: first - 1] + before
    if code.strip():
        return Edit(span._replace(column=len(code.rstrip()) + 1, end_column=len(line) + 1), "")
    return Edit(Span(span.path, span.line, 1, span.line + 1, 1), "")
