"""What a program prints and writes, done by rank 0 only."""

from __future__ import annotations

from distml.rewrites.horovod.plan import Plan


def on_rank_zero(plan: Plan) -> None:
    """Put output statements of the program under rank 0."""
