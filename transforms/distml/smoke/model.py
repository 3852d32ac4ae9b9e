"""What a smoke run is asked and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Status = Literal["passed", "failed", "unknown"]


class SmokeError(Exception):
    """The run cannot be made as asked: a missing tool, a missing file, a request that makes no sense."""


@dataclass(frozen=True)
class Options:
    """How to run.

    `tolerance` is the largest relative difference of losses; `scale_lr` says whether the rewritten program multiplies
    its learning rate by the number of processes; `steps` counts optimizer steps, 0 for the whole script; `timeout` and
    `stall` are in seconds; `compare` runs the original in one process too; `still` turns shuffling and dropout off;
    `share_gpu` lets all processes use the first GPU.
    """

    np: int = 2
    backend: Literal["gloo", "nccl"] = "gloo"
    steps: int = 8
    launcher: Literal["auto", "horovodrun", "torchrun", "accelerate"] = "auto"
    timeout: float = 300.0
    stall: float = 45.0
    tolerance: float = 0.02
    scale_lr: Literal["linear", "none"] = "linear"
    compare: bool = True
    still: bool = True
    share_gpu: bool = False
    cwd: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """One thing that was looked at, and what was found."""

    name: str
    status: Status
    text: str


@dataclass(frozen=True)
class Speed:
    """Steps and samples a second over all processes; samples only where batches could be seen."""

    processes: int
    steps: float
    samples: float | None


@dataclass(frozen=True)
class Report:
    """The verdicts on one script.

    `scaling` is how many times more samples (or, where they are unknown, steps of the same work) a second all
    processes read together than one process with the large batch.
    """

    script: str
    launcher: str
    processes: int
    backend: str
    steps: int
    seconds: float
    verdicts: tuple[Verdict, ...]
    speeds: tuple[Speed, ...] = ()
    scaling: float | None = None
    output: str = ""
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not any(verdict.status == "failed" for verdict in self.verdicts)

    def status(self, name: str) -> Status:
        """The status of the verdict `name`."""
        return next(verdict.status for verdict in self.verdicts if verdict.name == name)
