"""The progress bar appears on long runs only, and leaves nothing behind."""

from __future__ import annotations

import io

import pytest

from distml.report import progress


def test_short_runs_show_nothing() -> None:
    stream = io.StringIO()
    bar = progress.Progress(stream)
    bar(1, 2)
    bar.clear()
    assert stream.getvalue() == ""


def test_long_runs_show_a_bar_and_remove_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    stream = io.StringIO()
    bar = progress.Progress(stream)
    bar(1, 2)
    bar(2, 2)
    assert stream.getvalue() == "\r\x1b[K[###############...............] 1/2 files", "at most ten times a second"
    bar.clear()
    assert stream.getvalue().endswith("\r\x1b[K")
