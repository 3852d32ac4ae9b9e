"""What `distml branches` found, for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.diagnostics.printable import safe
from distml.diagnostics.style import PLAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.diagnostics.style import Style
    from distml.gradual.branches import Decision


def as_json(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """An array of {path, line, column, kind, verdict, condition, related}."""
    return [
        {
            "path": d.path,
            "line": d.line,
            "column": d.column,
            "kind": d.kind,
            "verdict": d.verdict,
            "condition": d.condition,
            "related": [c._asdict() for c in d.related],
        }
        for d in decisions
    ]


def as_text(decisions: Sequence[Decision], style: Style = PLAIN) -> list[str]:
    """A line for each branch, and a count; safe to print."""
    lines = [f"{style.place(f'{d.path}:{d.line}:{d.column}')}: {d.kind}: {_verdict(d, style)}" for d in decisions]
    dead = sum(d.verdict in ("always", "never") for d in decisions)
    count = len(decisions)
    lines.append(f"{count} {'branch depends' if count == 1 else 'branches depend'} on shapes, {dead} decided")
    return lines


def _verdict(decision: Decision, style: Style) -> str:
    texts = {
        "always": f"{style.yellow('always')} true, whatever input reaches it",
        "never": f"{style.yellow('never')} true, whatever input reaches it",
        "unknown": f"{style.dim('not decided')}: it depends on something that is not known",
    }
    return texts.get(decision.verdict) or f"depends: true if {safe(str(decision.condition))}"
