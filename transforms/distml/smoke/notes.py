"""The folder into which the ranks of a run write, watched while they run."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from distml.smoke.records import read

STACKS = 0.7
"""Seconds that ranks get to write their stacks before they are killed."""


@dataclass(frozen=True)
class Notes:
    """The notes of `ranks` processes in `folder`."""

    folder: Path
    ranks: int

    def life(self) -> object:
        """The sizes of what was written."""
        return [entry.stat().st_size for entry in os.scandir(self.folder)]

    def begun(self) -> bool:
        """Whether a rank has read a batch, or begun a collective."""
        return any((self.folder / f"rank{rank}.begun").exists() for rank in range(self.ranks))

    def waiting(self) -> bool:
        """Whether every rank that is not at its end waits in a collective."""
        flags = [self.folder / f"rank{rank}.waiting" for rank in range(self.ranks)]
        return all(flag.is_file() and flag.read_bytes() == b"\1" for flag in flags)

    def ask(self) -> None:
        """Have the ranks write their stacks, and what torch noted."""
        (self.folder / "hang").touch()
        for record in (read(self.folder, rank) for rank in range(self.ranks)):
            if record.pid:
                with contextlib.suppress(OSError):
                    os.kill(record.pid, signal.SIGUSR1)
        time.sleep(STACKS)
