"""How a program is to be made distributed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Backend = Literal["horovod", "ddp", "accelerate"]
Framework = Literal["auto", "tensorflow", "keras", "torch"]
Scale = Literal["linear", "none"]
Shard = Literal["auto", "steps", "none"]


@dataclass(frozen=True, slots=True)
class Options:
    """`scale_lr`: the rate times the number of ranks, or as it is. `shard`: every rank a part of the data and equally many
    steps; only fewer steps; or neither. `warmup`: epochs over which Keras raises the rate, 0 for none.
    """

    backend: Backend = "horovod"
    framework: Framework = "auto"
    scale_lr: Scale = "linear"
    shard: Shard = "auto"
    warmup: int = 0

    @property
    def wraps_models(self) -> bool:
        """Whether a wrapped model averages gradients, not a wrapped optimizer."""
        return self.backend != "horovod"
