"""Programs by number: which kinds of training there are, and how often."""

from __future__ import annotations

from horovod.surroundings import estimators, fits, loops, sessions
from horovod.surroundings.writing import Draft, Program

KINDS = (loops.tape, fits.fit, sessions.session, loops.tape, sessions.session, estimators.estimator)


def program(seed: int, scale: int = 1) -> Program:
    """The program of this number."""
    return KINDS[seed % len(KINDS)](Draft(seed, scale))
