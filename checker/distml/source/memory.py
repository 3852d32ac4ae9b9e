"""The memory of this process: its limits, how they are told of, and how often garbage is looked for."""

from __future__ import annotations

import gc
from functools import cache

MEBIBYTE = 1 << 20


def limit_now() -> int | None:
    """The limit on the address space of this process in bytes; None for none, or where it is not told."""
    try:
        import resource
    except ImportError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


@cache
def given_memory() -> int | None:
    """Bytes of address space that the system allows this process (`ulimit -v`), before it limits itself; None for any."""
    return limit_now()


def limits_itself() -> bool:
    """Whether the limit on this process is its own, `memory-limit`, and not one that it was started with."""
    return limit_now() != given_memory()


def memory_of_system() -> tuple[str, str]:
    """Which limit of the system on memory was met, and the remedy."""
    given = given_memory()
    if given is None:
        return "when the system had no more memory", "give it more, or use fewer --jobs"
    return f"at {given // MEBIBYTE} MiB of memory, all that the system allows it (ulimit -v)", "raise that limit"


def collect_seldom() -> None:
    """Look for garbage less often, and never in what there is now: syntax trees and shapes are many and live long.

    It saves a tenth of the processor time of a run, a fifth of that of a process with torch in it.
    """
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
