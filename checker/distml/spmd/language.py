"""What Python's constructs mean for one rank, handed down to the modules that need each other.

A module that stands below what it needs asks the run: `run.language.value(run, scope, node)`; see `interp/language`.
"""

from __future__ import annotations

from distml.spmd.blocks import resume
from distml.spmd.calls import evaluate_call, invoke
from distml.spmd.expressions import value
from distml.spmd.loops import comprehension
from distml.spmd.statements import assign, execute


class Language:
    """One function a construct; each takes the run first."""

    value = staticmethod(value)
    evaluate_call = staticmethod(evaluate_call)
    invoke = staticmethod(invoke)
    comprehension = staticmethod(comprehension)
    resume = staticmethod(resume)
    assign = staticmethod(assign)
    execute = staticmethod(execute)


LANGUAGE = Language()
