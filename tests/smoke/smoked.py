"""`distml smoke` of rewritten programs, whose processes are forked from those that hold their framework."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from unittest import mock

from distml.smoke import processes
from distml.smoke.launch import PROBE
from distml.smoke.model import Options, Report
from distml.smoke.processes import Ended
from distml.smoke.run import smoke_text

from spmd.running import started


def smoked(original: str, rewritten: str, *, python: str, options: Options) -> Report:
    """What `smoke_text` says of two ranks, without a launcher: `test_flows` runs those."""
    with mock.patch.object(processes, "run", _run):
        return smoke_text(original, rewritten, python=python, options=options)


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str], *_: object) -> Ended:
    began, at = time.monotonic(), command.index(str(PROBE))
    found = started(command[at:], folder, command[0], alone=at == 1, **environment)
    status = next((each.status for each in found if each.status), 0)
    return Ended(status, "", "".join(each.text + each.errors for each in found), time.monotonic() - began)
