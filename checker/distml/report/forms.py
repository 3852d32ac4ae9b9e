"""The forms of a report by name; a form is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from distml.engine.results import Report
from distml.report.context import Context

Render = Callable[[Report, Context], Iterator[str]]

FORMS = {
    "text": "distml.report.text",
    "concise": "distml.report.concise",
    "json": "distml.report.as_json",
    "sarif": "distml.report.sarif",
    "github": "distml.report.github",
    "markdown": "distml.report.markdown",
    "junit": "distml.report.junit",
    "gitlab": "distml.report.gitlab",
}


STATISTICS = {"text": "render", "json": "render_json"}


def statistics(name: str) -> Render:
    """The function that renders the counts of a report, one of `STATISTICS`."""
    render: Render = getattr(import_module("distml.report.statistics"), STATISTICS[name])
    return render


def form(name: str) -> Render:
    """The function that renders a report in the form `name`, one of `FORMS`."""
    render: Render = import_module(FORMS[name]).render
    return render
