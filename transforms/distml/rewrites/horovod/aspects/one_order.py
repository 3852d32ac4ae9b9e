"""The order of the elements of a `tf.data` pipeline: one on all ranks, that parts can be taken of.

https://www.tensorflow.org/api_docs/python/tf/data/Dataset#shuffle
"""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects.pipelines import Path, functions_of
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.around import turns_around
from distml.training.callers import upwards
from distml.training.syntax import is_literal, nodes_in
from distml.training.values import Value

_SAME_ORDER = Note(
    "shuffled alike on every rank",
    "the parts that ranks take are disjoint only if all of them see the elements in one order",
    "shard-data",
)
_SHUFFLED = re.compile(r"keras\..*_dataset_from_directory|tensorflow\.data\.Dataset\.list_files")
_PARALLEL = frozenset({"map", "interleave"})
_LOOSE = frozenset({"deterministic", "experimental_deterministic"})


def one_order(plan: Plan, path: Path, cut: int) -> None:
    """Let what a path gives up to a cut come in one order on every rank."""
    for node, method in zip(path.nodes[: cut + 1], path.methods, strict=False):
        if method == "shuffle" and isinstance(node, ast.Call):
            _seeded(plan, path, node)
    if _PARALLEL & set(path.methods[: cut + 1]):
        _kept_in_order(plan, path)
    _source_in_order(plan, path)


def _kept_in_order(plan: Plan, path: Path) -> None:
    """Let nothing give elements in the order in which they happen to be ready."""
    program, held = plan.program, set[Value]()
    for node, method in zip(path.nodes, path.methods, strict=True):
        if isinstance(node, ast.Call):
            loose = next((each.value for each in node.keywords if each.arg == "deterministic"), None)
            if is_literal(loose, False):
                plan.patch(node).keyword(node, "deterministic", "True", _SAME_ORDER)
            held |= {*program.of(node.args[0])} if method == "with_options" and node.args else set()
    for unit in program.units.values() if held else ():
        for given in nodes_in(unit.tree, ast.Assign):
            target = given.targets[0]
            if isinstance(target, ast.Attribute) and target.attr in _LOOSE and is_literal(given.value, False):
                if {*program.of(target.value)} & held:
                    plan.patch(given).wrap(given.value, "True", _SAME_ORDER)


def _seeded(plan: Plan, path: Path, call: ast.Call) -> None:
    """Let a shuffle give every rank the same order."""
    if len(call.args) < 2 and not any(keyword.arg in ("seed", None) for keyword in call.keywords):
        plan.patch(call).keyword(call, "seed", _seed(plan, path, call), _SAME_ORDER)


def _seed(plan: Plan, path: Path, call: ast.Call) -> str:
    """One for all ranks: a number, or one that is drawn where datasets are made in a loop, each of which has another order."""
    made = [call, *(each for each in path.nodes if functions_of(each, plan.program))]
    again = any(any(turns_around(each, plan.program)) for each in upwards(made, plan.program))
    if not again or in_graph(plan):
        return "0"
    return agreed(plan, call).format(f"{spell(plan, call, 'random.getrandbits')}(31)")


def agreed(plan: Plan, node: ast.expr) -> str:
    """How a number of rank 0 comes to all ranks."""
    world = plan.world(node)
    keras = all(loop.start == "keras" for loop in plan.loops)
    return f"int({world.module}.broadcast({{}}, root_rank=0))" if keras else f"{world.module}.broadcast_object({{}})"


def _source_in_order(plan: Plan, path: Path) -> None:
    """Let the source give its elements in one order on every rank."""
    first = path.unpacked.value if path.unpacked else path.nodes[0]
    while isinstance(first, ast.Subscript):
        first = first.value
    if not isinstance(first, ast.Call):
        return
    said = {keyword.arg: keyword.value for keyword in first.keywords}
    shuffle = said.get("shuffle")
    never = is_literal(shuffle, False)
    if _SHUFFLED.fullmatch(path.source) and not never and "seed" not in said and None not in said:
        if not (path.source.endswith("list_files") and len(first.args) > 1):
            plan.patch(first).keyword(first, "seed", "0", _SAME_ORDER)
    if path.source.endswith("make_csv_dataset") and not never and not {"shuffle_seed", None} & set(said):
        plan.patch(first).keyword(first, "shuffle_seed", "0", _SAME_ORDER)
    if "shuffle_files" in said:
        plan.patch(first).keyword(first, "shuffle_files", "False", _SAME_ORDER)


def in_graph(plan: Plan) -> bool:
    """Whether the program builds a graph, in which the length of a dataset is no number."""
    return any(loop.start == "session" for loop in plan.loops)
