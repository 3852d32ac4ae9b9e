"""What the starting process asks of the probe, read from the file named in DISTML_SMOKE_PLAN."""

from __future__ import annotations

import json
import os
from typing import Any

VARIABLE = "DISTML_SMOKE_PLAN"
RANKS = ("HOROVOD_RANK", "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
SIZES = ("HOROVOD_SIZE", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")


class Plan:
    """What to note, and what to change in the script's world.

    `factor` multiplies batch sizes, and `rate` learning rates: one process that stands for several. `still` turns
    shuffling and dropout off, so that batches and losses can be compared. `load` names weights to start from, after
    `load_step` steps. `share_gpu` puts all processes on the first GPU.
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        self.folder = str(fields["folder"])
        self.steps = int(fields.get("steps", 0))
        self.factor = int(fields.get("factor", 1))
        self.rate = float(fields.get("rate", 1.0))
        self.still = bool(fields.get("still", True))
        self.share_gpu = bool(fields.get("share_gpu", False))
        self.seed = int(fields.get("seed", 0))
        self.load: str | None = fields.get("load")
        self.load_step = int(fields.get("load_step", 0))
        self.parent = int(fields.get("parent", 0))
        self.rank = first_number(RANKS, 0)
        self.size = first_number(SIZES, 1)

    def file(self, name: str) -> str:
        """A file of this rank in the folder of the run."""
        return os.path.join(self.folder, f"rank{self.rank}.{name}")


def first_number(names: Any, default: int) -> int:
    """The first of the environment variables `names` that is set."""
    for name in names:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return default


def read() -> Plan:
    """The plan of this process."""
    with open(os.environ[VARIABLE], encoding="utf-8") as file:
        return Plan(json.load(file))
