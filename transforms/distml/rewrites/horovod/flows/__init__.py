"""One module for each kind of training loop; `FLOWS` names them in the order they are looked for."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from distml.rewrites.horovod.plan import Flow

FLOWS: tuple[str, ...] = ("tape", "fit", "session", "monitored", "estimator", "pytorch")


def flows() -> tuple[Flow, ...]:
    """The flows, imported when they are asked for."""
    return tuple(cast(Flow, import_module(f"{__name__}.{name}").FLOW) for name in FLOWS)
