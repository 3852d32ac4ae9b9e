"""Several SARIF logs of distml as one log with one run, as code scanning wants them: it refuses runs of one category."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from distml.report.sarif import SCHEMA

Log = dict[str, Any]


class MergeError(ValueError):
    """A log is none of distml's; the message says why."""


def merged(logs: Iterable[Log], category: str | None = None) -> Log:
    """One log with the rules and findings of all; a finding that several targets report is there once.

    `category` is what code scanning tells the findings of several uploads apart by. Raises `MergeError` where a log has not
    what is read here, which every log of distml has.
    """
    try:
        return _merged(logs, category)
    except (KeyError, TypeError, AttributeError):
        raise MergeError("this is no SARIF of distml") from None


def _merged(logs: Iterable[Log], category: str | None) -> Log:
    rules: dict[str, Any] = {}
    results: dict[str, Any] = {}
    run: dict[str, Any] = {"tool": {"driver": {"name": "distml"}}, "columnKind": "unicodeCodePoints"}
    for each in _runs(logs):
        run = {**each, "tool": {"driver": dict(each["tool"]["driver"])}}
        rules.update((rule["id"], rule) for rule in each["tool"]["driver"].get("rules", ()))
        for result in each.get("results", ()):
            results.setdefault(_key(result), result)
    index = {code: position for position, code in enumerate(rules)}
    run["tool"]["driver"]["rules"] = list(rules.values())
    run["results"] = [{**result, "ruleIndex": index[result["ruleId"]]} for result in results.values()]
    if category is not None:
        run["automationDetails"] = {"id": f"{category}/"}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _runs(logs: Iterable[Log]) -> Iterable[dict[str, Any]]:
    for log in logs:
        runs = log["runs"]
        if not isinstance(runs, list):
            raise TypeError(runs)
        others = [name for name in (run["tool"]["driver"]["name"] for run in runs) if name != "distml"]
        if others:
            raise MergeError(f"this is SARIF of {others[0]}")
        yield from runs


def _key(result: dict[str, Any]) -> str:
    """What makes two findings one: the rule and the place. How the place was reached may differ."""
    return json.dumps([result["ruleId"], result["locations"]], sort_keys=True)
