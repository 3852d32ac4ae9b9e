"""The page of a rule: what `distml explain` shows and what `docs/rules/` holds."""

from __future__ import annotations

from collections.abc import Sequence

from distml.diagnostics.rule import Rule


def page(rule: Rule) -> str:
    """The Markdown page of a rule."""
    return f"# {rule.code} {rule.name} ({rule.severity.value})\n\n{rule.documentation.strip()}\n"


def index(rules: Sequence[Rule]) -> str:
    """The Markdown page that lists all rules."""
    rows = [
        f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity.value} | {rule.summary} |" for rule in rules
    ]
    head = ["# Rules", "", "| Code | Name | Severity | What it finds |", "|---|---|---|---|"]
    return "\n".join([*head, *rows]) + "\n"
