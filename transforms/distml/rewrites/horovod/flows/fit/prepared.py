"""What a TensorFlow program draws before training, such as a split: alike on all ranks, whatever draws it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from itertools import count

from distml.rewrites.horovod.aspects.drawing import draws, generators, is_own
from distml.rewrites.horovod.aspects.one_order import agreed
from distml.rewrites.horovod.aspects.orders import is_unseeded
from distml.rewrites.horovod.aspects.purposes import TRAINING, purposes
from distml.rewrites.horovod.flows.fit.seeds import ALIKE, SEED, begin, is_seeded
from distml.rewrites.horovod.flows.session_graph import graph_of
from distml.rewrites.horovod.plan import Plan
from distml.training.ahead import Ahead
from distml.training.around import turns_around
from distml.training.callers import Reach
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.values import Class, Constant, Foreign

_TENSORS = re.compile(
    r"tensorflow\.random\.(shuffle|(stateless_)?uniform|normal|truncated_normal|categorical)|keras\.utils\.split_dataset"
    r"|tensorflow\.data\..*\.shuffle"
)
"""What draws with a seed of its own, or that of TensorFlow, by which ranks draw noise as well."""
_PARTS = re.compile(r"tensorflow\.data\..*\.skip")
_TABLES = re.compile(r"(sklearn|pandas)\..*")
_VARIABLES = frozenset({"tensorflow.Variable()", "tensorflow.compat.v1.Variable()"})


def in_sessions(plan: Plan) -> None:
    """Seed what draws on the host before a session takes steps; what its graph draws is drawn in each step."""
    steps = (run.call for run in graph_of(plan.program).runs)
    _alike(plan, [*(loop.node for loop in plan.loops), *steps], graph=True)


def alike(plan: Plan) -> None:
    """Seed what draws before training, where the program does not."""
    _alike(plan, [loop.node for loop in plan.loops], graph=False)


def _alike(plan: Plan, steps: Iterable[ast.AST], graph: bool) -> None:
    program = plan.program
    reach = Reach(program, steps)
    before = Ahead(program, reach, reach, lambda function: _of_model(function, program))
    ahead = [each for each in program.calls if plan.may_change(each) and before.holds(each)]
    if graph:
        ahead = [each for each in ahead if not program.matches(each.func, _TENSORS)]
    made = {maker for call in ahead for maker in generators(call, program)}
    shuffled = {each for call in ahead if program.matches(call.func, _PARTS) for each in program.sources(call)}
    numbers = count()
    for call in program.ordered(ahead):
        seed = argument(
            call, 0 if call in made or program.names(call.func) & {*SEED.values()} else -1, "seed", "random_state"
        )
        if seed is not None and is_own(seed, program):
            if not graph:  # a session would have to be there
                plan.patch(seed).wrap(seed, agreed(plan, seed), ALIKE)
        elif call in made and is_unseeded(call, program):
            plan.patch(call).argument(call, "0", ALIKE)
        elif program.matches(call.func, _TENSORS) and _none(seed, program):
            pipeline = any(name.startswith("tensorflow.data.") for name in program.names(call.func))
            if call in shuffled if pipeline else _divided(call, program):
                plan.patch(call).keyword(call, "seed", str(next(numbers)), ALIKE)
        else:
            _globally(plan, call)


def _globally(plan: Plan, call: ast.Call) -> None:
    """Seed a call, or the generators of the libraries that it draws from."""
    for kind in sorted(draws(call, plan.program)):
        if not is_seeded(plan.program, kind) and plan.program.matches(call.func, _TABLES):
            plan.patch(call).keyword(call, "random_state", "0", ALIKE)
        elif not is_seeded(plan.program, kind):
            begin(plan, call, kind)


def _none(given: ast.expr | None, program: Program) -> bool:
    return given is None or program.of(given) == {Constant(None)}


def _divided(call: ast.Call, program: Program) -> bool:
    """Whether what is drawn may be of the data that ranks divide: no weight, and no noise of each turn of a loop, which would
    be the same in all of them where the loop is traced.
    """
    turns = any(turns_around(call, program))
    return not turns and not _weight(call, program) and TRAINING in purposes(call, program)


def _weight(call: ast.Call, program: Program) -> bool:
    """Whether what is drawn becomes a variable, which rank 0 gives to the others."""
    return any(program.names(above) & _VARIABLES for above in program.ancestors(call))


def _of_model(function: ast.AST, program: Program) -> bool:
    owner = program.parent(function)
    lineage = program.lineage(Class(owner)) if isinstance(owner, ast.ClassDef) else ()
    return any(isinstance(base, Foreign) and base.name.startswith(("keras.", "tensorflow.")) for base in lineage)
