"""What `distml check` does with its baseline at the end of a run: write it, or say what it no longer needs."""

from __future__ import annotations

from distml.engine.adoption import Update
from distml.engine.config import ConfigError
from distml.engine.results import Baselined
from distml.report.printing import complain
from distml.report.summary import count


def conclude(baseline: Baselined, update: Update) -> None:
    """Write the file where that was asked for. Raises `ConfigError` where it cannot be written."""
    from distml.writing.files import File, WriteError, roots_of, write_files

    if baseline.data is not None:
        try:
            write_files([File(baseline.path, baseline.data, baseline.before)], roots_of([baseline.path]))
        except WriteError as error:
            raise ConfigError(str(error)) from None
    gone = count(baseline.obsolete, "finding")
    if update:
        removed = f"; {gone} removed" if baseline.obsolete else ""
        complain(f"distml: {baseline.path}: {count(baseline.hidden, 'finding')} of this run in the baseline{removed}")
    elif baseline.obsolete:
        complain(f"distml: {baseline.path}: {gone} no longer found; --update-baseline removes them")
