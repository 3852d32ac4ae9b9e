"""Input pipelines in the graph: `tf.data` iterators and the queues before them."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects import tf_data
from distml.rewrites.horovod.flows.session_graph import Graph, Run
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.values import Foreign

_MAKES = frozenset({"make_one_shot_iterator", "make_initializable_iterator", "make_initializer"})
_PRODUCERS = re.compile(
    r"tensorflow\.train\.(string_input_producer|slice_input_producer|input_producer|range_input_producer)"
)
_READS = re.compile(r"Reader|read|queue|Queue|py_func|get_next|[Dd]ataset|parse|decode|batch|input|data|load")
_EVALUATES = re.compile(r"test|val|dev|eval", re.IGNORECASE)
_OTHERS = re.compile(r"(^|[._])(test|val|valid|validation|dev|eval)(_?(data|dataset|set|ds))?$", re.IGNORECASE)
"""Names of data sets that models share with the one they are trained on, and that no step is taken on."""

_FILES = Note(
    "an order of its own for each rank",
    "ranks that read the same examples in the same order compute one gradient many times",
    "shard-data",
)


def divide(plan: Plan, graph: Graph, run: Run) -> bool:
    """Divide the data sets that a step takes its batch from among the ranks; False where nobody can see them.

    Raises `Refuse` (HVD212) where there are none.
    """
    program = plan.program
    sources = [node for update in graph.updates for node in graph.sources(update) if isinstance(node, ast.Call)]
    found = queued = False
    datasets = [data for call in dict.fromkeys(sources) for data in _datasets(call, program)]
    for data in [each for each in datasets if not _OTHERS.search(ast.unparse(each))] or datasets:
        found |= tf_data.shard(plan, data)
    for call in dict.fromkeys(sources):
        if any(_PRODUCERS.fullmatch(name) for name in program.names(call.func)):
            found |= _shuffled(plan, call)
            queued = True
    if not found and not queued and not any(_READS.search(ast.unparse(call.func)) for call in sources):
        raise Refuse(
            "HVD213",
            run.call,
            "every step computes the same from constants: there is no data to divide among ranks",
            "run several such programs, each in its own process",
        )
    if not found and not queued:
        plan.warn(
            "HVD302",
            run.call,
            "nobody can see where this step takes its data from, so that every rank may read the same",
            "let each rank read its part, for instance with `dataset.shard`",
        )
    return found


def _datasets(call: ast.Call, program: Program) -> list[ast.expr]:
    """The data sets behind an iterator."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name in _MAKES and isinstance(call.func, ast.Attribute):
        return [call.args[0] if _is_function(call, program) and call.args else call.func.value]
    if name in ("from_structure", "from_string_handle"):
        return [each for each in _initialized(call, program) if not _EVALUATES.search(ast.unparse(each))]
    return []


def _is_function(call: ast.Call, program: Program) -> bool:
    names = program.names(call.func)
    return any(name.startswith("tensorflow.data.make_") for name in names)


def _initialized(iterator: ast.Call, program: Program) -> list[ast.expr]:
    """What an iterator without data is given later."""
    found = []
    for call in program.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "make_initializer" and call.args:
            if any(isinstance(v, Foreign) and v.node is iterator for v in program.of(call.func.value)):
                found.append(call.args[0])
    return found


def _shuffled(plan: Plan, call: ast.Call) -> bool:
    """Let a queue give each rank its own order; False where it has none."""
    if plan.options.shard != "auto":
        return True
    shuffle, seed = argument(call, 2, "shuffle"), argument(call, 3, "seed")
    if isinstance(shuffle, ast.Constant) and shuffle.value is False:
        plan.warn(
            "HVD302",
            call,
            "every rank reads the same examples in the same order here",
            "give each rank its part of the inputs, such as `files[rank::size]`",
        )
        return False
    if seed is not None and not (isinstance(seed, ast.Constant) and seed.value is None):
        plan.patch(seed).wrap(seed, f"{{}} + {plan.world(call).rank}", _FILES)
    elif any(plan.program.calls_of("tensorflow.set_random_seed", "tensorflow.random.set_random_seed")):
        plan.patch(call).keyword(call, "seed", plan.world(call).rank, _FILES)
    return True
