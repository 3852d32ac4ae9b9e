"""Input pipelines in the graph: `tf.data` iterators and the queues before them."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects import tf_data
from distml.rewrites.horovod.aspects.purposes import TRAINING, purposes
from distml.rewrites.horovod.flows.session_graph import Graph, Run
from distml.rewrites.horovod.plan import Note, Plan, Refuse
from distml.source.nodes import walk
from distml.training.around import block_of
from distml.training.callsites import argument, called
from distml.training.program import Program
from distml.training.syntax import is_given, is_literal, method_name, values_given

_MAKES = frozenset({"make_one_shot_iterator", "make_initializable_iterator", "make_initializer"})
_PRODUCERS = re.compile(
    r"tensorflow\.train\.(string_input_producer|slice_input_producer|input_producer|range_input_producer)"
)
_READS = re.compile(r"Reader|read|queue|Queue|py_func|get_next|[Dd]ataset|parse|decode|batch|input|data|load")

_DRAWS = re.compile(
    r"tensorflow\.(random\.\w+|random_\w+|truncated_normal|multinomial|(contrib\.)?distributions\..*\.sample)"
)
_VARIABLES = re.compile(r"tensorflow\.(Variable|get_variable)")

_OWN = Note("random numbers of its own for each rank", "with one seed all ranks draw the same noise", "seed-by-rank")
_FILES = Note(
    "an order of its own for each rank",
    "ranks that read the same examples in the same order compute one gradient many times",
    "shard-data",
)


def divide(plan: Plan, graph: Graph, run: Run) -> bool:
    """Divide the data sets that a step takes its batch from among the ranks; False where nobody can see them.

    Raises `Refuse` (HVD212) where there are none.
    """
    program, sources = plan.program, _sources(graph)
    found = queued = False
    for data in _trained_on(sources, graph):
        seen = tf_data.shard(plan, data)
        queued |= seen
        found |= seen and not tf_data.is_one(data, program)
    for call in dict.fromkeys(sources):
        if program.matches(call.func, _PRODUCERS):
            found |= _shuffled(plan, call)
            queued = True
    if not found and not queued and not any(_READS.search(called(call, program)) for call in sources):
        if _noise(sources, program):
            _apart(plan)
            return True
        raise Refuse(
            "HVD213",
            run.call,
            "every step computes the same result from constants: there is no data to shard",
            "run several such programs, each in its own process",
        )
    if not found and not queued:
        plan.warn(
            "HVD302",
            run.call,
            "cannot determine where this step reads its data; every rank may read the same data",
            "read each rank's part only, for instance with `dataset.shard`",
        )
    return found


def share(plan: Plan, graph: Graph) -> bool:
    """Divide the data sets that steps read in the graph beside what they are fed; False where there are none."""
    divided = [tf_data.shard(plan, data) for data in _trained_on(_sources(graph), graph)]
    return any(divided)


def _sources(graph: Graph) -> list[ast.Call]:
    """What the steps are computed from."""
    return [node for update in graph.updates for node in graph.sources(update) if isinstance(node, ast.Call)]


def _trained_on(sources: list[ast.Call], graph: Graph) -> list[ast.expr]:
    """The data sets behind them, those for training alone where some are."""
    datasets = [data for call in dict.fromkeys(sources) for data in _datasets(call, graph)]
    return [each for each in datasets if TRAINING in purposes(each, graph.program)] or datasets


def _noise(sources: list[ast.Call], program: Program) -> bool:
    """Whether a step draws what it computes with in the graph, as that of a generator does: not only its first weights."""
    drawn = {each for each in sources if program.matches(each.func, _DRAWS)}
    made = [each for each in sources if program.matches(each.func, _VARIABLES)]
    given = (part for each in made for part in values_given(each))
    return bool(drawn - {source for part in given for source in program.sources(part)})


def _apart(plan: Plan) -> None:
    """Give each rank a seed of its own, where the program gives one to the graph."""
    for call in plan.program.calls_of("tensorflow.set_random_seed", "tensorflow.random.set_random_seed"):
        seed = argument(call, 0, "seed")
        if seed is not None:
            plan.patch(seed).wrap(seed, f"{{}} + {plan.world(seed).rank}", _OWN)


def _datasets(call: ast.Call, graph: Graph) -> list[ast.expr]:
    """The data sets behind an iterator."""
    program = graph.program
    name = method_name(call)
    if name in _MAKES and isinstance(call.func, ast.Attribute):
        return [call.args[0] if _is_function(call, program) and call.args else call.func.value]
    if name in ("from_structure", "from_string_handle"):
        return _initialized(call, graph)
    return []


def _is_function(call: ast.Call, program: Program) -> bool:
    names = program.names(call.func)
    return any(name.startswith("tensorflow.data.make_") for name in names)


def _initialized(iterator: ast.Call, graph: Graph) -> list[ast.expr]:
    """What an iterator without data is given for the steps that are taken, later."""
    program, found = graph.program, {}
    for call in program.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "make_initializer" and call.args:
            if iterator in program.made(call.func.value):
                found[call.args[0]] = _begins_steps(call, graph)
    return [data for data, trains in found.items() if trains] or [*found]


def _begins_steps(made: ast.Call, graph: Graph) -> bool:
    """Whether steps are taken between the run of an initializer and that of the next one."""
    program = graph.program
    runs = [call for call in program.calls if method_name(call) == "run"]
    for call in runs:
        if not any(made in program.made(each) for each in call.args):
            continue
        statement = program.statement(call)
        block = block_of(statement, program)
        for later in block[block.index(statement) + 1 :]:
            inside = set(walk(later))
            if any(run.call in inside for run in graph.runs):
                return True
            if any(_initializes(each, program) for each in inside):
                break
    return False


def _initializes(node: ast.AST, program: Program) -> bool:
    """Whether a call runs the initializer of an iterator."""
    if not isinstance(node, ast.Call) or method_name(node) != "run":
        return False
    return any(name.endswith(".make_initializer()") for each in node.args for name in program.names(each))


def _shuffled(plan: Plan, call: ast.Call) -> bool:
    """Let a queue give each rank its own order; False where it has none."""
    if plan.options.shard != "auto":
        return True
    shuffle, seed = argument(call, 2, "shuffle"), argument(call, 3, "seed")
    if is_literal(shuffle, False):
        plan.warn(
            "HVD302",
            call,
            "every rank reads the same examples in the same order here",
            "give each rank its part of the inputs, such as `files[rank::size]`",
        )
        return False
    if is_given(seed):
        plan.patch(seed).wrap(seed, f"{{}} + {plan.world(call).rank}", _FILES)
    elif any(plan.program.calls_of("tensorflow.set_random_seed", "tensorflow.random.set_random_seed")):
        plan.patch(call).keyword(call, "seed", plan.world(call).rank, _FILES)
    return True
