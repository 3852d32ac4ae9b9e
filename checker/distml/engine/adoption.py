"""Old code must not block: findings of a baseline, and findings on lines that did not change, are left out of a report."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NamedTuple

from distml.diagnostics.model import Diagnostic, Span
from distml.engine.config import Config, ConfigError
from distml.engine.results import Baselined, Report
from distml.engine.run import UNFINISHED
from distml.engine.selection import ALWAYS

Update = Literal["", "write", "shrink"]


class Wishes(NamedTuple):
    """What to leave out. `baseline`: a path, empty for none. `update`: what its file is to become. `since`: a revision."""

    baseline: str = ""
    update: Update = ""
    since: str | None = None


def wishes(config: Config, baseline: str | None, update: Update = "", since: str | None = None) -> Wishes:
    """What a command was asked for, with the baseline of the configuration where it named none."""
    path = baseline if baseline is not None else config.baseline and os.path.join(config.folder, config.baseline)
    if baseline == "" or "\0" in path:
        raise ConfigError(
            "the path of the baseline is empty" if not path else "the path of the baseline has a NUL in it"
        )
    if update and not path:
        raise ConfigError(f"--{_OPTIONS[update]} needs --baseline FILE, or `baseline` in [tool.distml]")
    return Wishes(path, update, since)


_OPTIONS = {"write": "write-baseline", "shrink": "update-baseline"}


def adopt(report: Report, config: Config, wanted: Wishes) -> Report:
    """The report without what is left out. Raises `ConfigError` for a baseline or a revision that cannot be read."""
    touched = _touched(report, wanted.since) if wanted.since is not None else None
    if wanted.baseline:
        report = _against(report, config, wanted, touched)
    if touched is None:
        return report
    kept = tuple(filter(touched, report.diagnostics))
    return report._replace(diagnostics=kept, unchanged=len(report.diagnostics) - len(kept))


def _against(report: Report, config: Config, wanted: Wishes, touched: Callable[[Diagnostic], bool] | None) -> Report:
    from distml.engine.baseline import base_of, compare, dump, read

    path, base = wanted.baseline, base_of(wanted.baseline, config)
    fresh = wanted.update == "write" and not os.path.lexists(path)
    if not fresh and not os.path.lexists(path):
        raise ConfigError(f"{path}: there is no such baseline; --write-baseline creates it")
    before, entries = (None, {}) if fresh else read(path)
    compared = compare(report, entries, base, config, touched)
    kept = {key: count - compared.obsolete.get(key, 0) for key, count in entries.items()}
    data, obsolete = None, sum(compared.obsolete.values())
    if wanted.update == "write":
        kept = {key: max(kept.get(key, 0), compared.found.get(key, 0)) for key in {*kept, *compared.found}}
        compared = compare(report, kept, base, config)
    if wanted.update:
        data = dump(kept)
    old = len(report.diagnostics) - len(compared.new)
    return report._replace(
        diagnostics=compared.new, baseline=Baselined(path, old, obsolete, data if data != before else None, before)
    )


def _touched(report: Report, since: str) -> Callable[[Diagnostic], bool]:
    """Whether a finding, or a place that explains it, touches a line that changed."""
    from distml.git.lines import RevisionError, changed_lines
    from distml.source.places import Places
    from distml.source.reading import UnreadableError, read_bytes

    contents: dict[str, bytes] = {}
    paths = {each.path for finding in report.diagnostics for each in _spans(finding)}
    for path in {os.path.realpath(each) for each in paths}:
        with suppress(UnreadableError):  # what cannot be read has changed, for all that is known
            contents[path] = report.overlay[path] if path in report.overlay else read_bytes(path, path, 1 << 30)
    try:
        changed = changed_lines(os.curdir, since, contents)
    except RevisionError as error:
        raise ConfigError(f"--since: {error}") from None

    places = Places(report.overlay)

    def is_in(span: Span) -> bool:
        lines, span = changed.get(os.path.realpath(span.path)), places.in_file(span)[0]
        return lines is None or any(
            each.start <= max(span.line, span.end_line) and span.line < each.stop for each in lines
        )

    def touched(finding: Diagnostic) -> bool:
        if finding.code in ALWAYS or (finding.code.startswith(UNFINISHED) and _changed(finding.span.path)):
            return True
        return any(map(is_in, _spans(finding)))

    def _changed(path: str) -> bool:
        return bool(changed.get(os.path.realpath(path), True))

    return touched


def _spans(finding: Diagnostic) -> list[Span]:
    return [finding.span, *(each.span for each in finding.related)]
