"""What a person is asked, rank 0 asks, and all ranks go on with the answer: all must come to the question."""

from __future__ import annotations

import ast
from collections.abc import Callable

from distml.rewrites.horovod.aspects.anchors import started
from distml.rewrites.horovod.aspects.outputs import is_pause
from distml.rewrites.horovod.aspects.setup import start_of
from distml.rewrites.horovod.aspects.spelling import horovod_of
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.aspects.versions import modern
from distml.rewrites.horovod.aspects.written import all_come_to
from distml.rewrites.horovod.flows.session_gathering import Spelling
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.program import Program

_ASKED = Note("input read by rank 0", "the other ranks have no terminal", "agree-on-decisions")


def questions(program: Program) -> list[ast.Call]:
    """The calls that ask a person, and whose answer is read."""
    asking = (each for each in program.calls if "builtins.input" in program.names(each.func))
    return [each for each in asking if not is_pause(each, program)]


def ask(plan: Plan, call: ast.Call, first: Callable[[ast.AST, str], str]) -> None:
    """Have rank 0 ask; `first` spells what an expression, given as text, is on rank 0."""
    if started(plan, call):
        plan.patch(call).wrap(call, first(call, f"{{}} if {plan.world(call).first} else None"), _ASKED)


def in_tensorflow(plan: Plan) -> None:
    """The same in programs of TensorFlow, where all ranks come to a question; HVD306 names the others."""
    asking = [each for each in questions(plan.program) if plan.may_change(each)]
    if start_of(plan) == "torch" or not asking:
        return
    uniform = Uniform(plan.program, plan.dealt)
    for call in asking:
        if all_come_to(call, plan, uniform):
            ask(plan, call, lambda node, code: _first(plan, node, code))
        else:
            what = "every rank asks this question, and may go on with an answer of its own or without one"
            plan.warn("HVD306", call, what, "ask before training begins, where all ranks come to it")


def _first(plan: Plan, node: ast.AST, code: str) -> str:
    """What an expression is on rank 0: sent beside the graph where there is one."""
    if start_of(plan) == "session" or not modern(plan.program):
        return f"{Spelling(plan).gathering(node)}({code})[0]"
    return f"{horovod_of(plan, node)}.broadcast_object({code})"
