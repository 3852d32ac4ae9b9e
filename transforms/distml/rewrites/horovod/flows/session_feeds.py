"""The placeholders that a training step is fed, and which of them take data."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from distml.rewrites.horovod.flows.session_draws import draws, fed_back
from distml.rewrites.horovod.flows.session_frames import reached, taken, targets
from distml.rewrites.horovod.flows.session_graph import Graph, Run
from distml.rewrites.horovod.flows.session_optimizers import optimizers
from distml.training.around import last_given, owner_of
from distml.training.callsites import argument, called
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import elements, is_given, is_literal, nodes_in
from distml.training.values import Box, Constant, Foreign

_ABOUT = re.compile(
    r"tensorflow\.(reduce_mean|reduce_sum|losses\.\w+|add_n|Variable|get_variable|summary\.\w+|metrics\.\w+"
    r"|train\.(get_or_create_global_step|get_global_step|\w+_decay))\(\)(\[\])?"
)
_PLACEHOLDER = re.compile(r".*placeholder\(\)")
_LEAST = 4
"""Samples that are written out in the program: fewer are not divided."""


@dataclass(frozen=True, eq=False)
class Feed:
    """One entry of a `feed_dict`; `key` is None where the dictionary is made elsewhere, and `value` all of it."""

    key: ast.expr | None
    value: ast.expr


def entries(run: Run, graph: Graph) -> list[Feed]:
    """What a step is fed, without rates, flags and other constants."""
    if run.feeds is None:
        return []
    program = graph.program
    owner = owner_of(run.call, program)
    found = _shown(run.feeds, owner, program)
    if not isinstance(run.feeds, ast.Constant | ast.Dict) and not _displays(run.feeds, owner, program):
        found.append(Feed(None, run.feeds))
    rates = _rates(graph)
    found = [each for each in found if _is_data(each, rates, program) and not _is_state(each, program)]
    return [each for each in found if not _is_computed(each, owner, graph)]


def written(run: Run, program: Program) -> list[Feed]:
    """All that a step is fed by entries that are written out, rates and flags too."""
    return _shown(run.feeds, owner_of(run.call, program), program) if run.feeds is not None else []


def _is_computed(feed: Feed, owner: ast.AST, graph: Graph) -> bool:
    """Whether an entry is what the graph has computed before, and nothing is drawn for it."""
    reach = reached([feed.value], owner, taken(feed.value, graph.program))
    return any(fed_back(part, graph) for part in reach.parts) and not draws(reach, owner, graph)


def carries(run: Run, graph: Graph) -> bool:
    """Whether a step is fed a state that an earlier one gave, so that batches must follow each other."""
    return any(_is_state(each, graph.program) for each in written(run, graph.program))


def _is_state(feed: Feed, program: Program) -> bool:
    """Whether an entry is the state of recurrent cells and no data."""
    if feed.key is None or placeholder(feed, program) is not None:
        return False
    return any(called(each, program) == "zero_state" for each in program.sources(feed.key))


def _shown(feeds: ast.expr, owner: ast.AST, program: Program) -> list[Feed]:
    """The entries that are written out: in a display, and by item."""
    found: list[Feed] = []
    for part in _displays(feeds, owner, program):
        found += [Feed(key, value) for key, value in zip(part.keys, part.values, strict=True)]
    if isinstance(feeds, ast.Name):
        for node in nodes_in(owner, ast.Assign):
            if isinstance(node.targets[0], ast.Subscript):
                target = node.targets[0]
                if isinstance(target.value, ast.Name) and target.value.id == feeds.id:
                    found.append(Feed(target.slice, node.value))
    return found


def _displays(feeds: ast.expr, owner: ast.AST, program: Program) -> list[ast.Dict]:
    """The dictionaries that are written out for a feed, here or where its variable is assigned: if just before, there alone."""
    if isinstance(feeds, ast.Dict):
        return [feeds]
    if not isinstance(feeds, ast.Name):
        return []
    last = last_given(feeds, program)
    made = [last] if last is not None else nodes_in(owner, ast.Assign)
    return [each.value for each in made if isinstance(each.value, ast.Dict) and feeds.id in targets(each.targets[0])]


@remembered
def _rates(graph: Graph) -> set[ast.AST]:
    """The placeholders that rates come from."""
    found: set[ast.AST] = set()
    for call in optimizers(graph):
        rate = argument(call, 0, "learning_rate")
        if rate is not None:
            found |= {node for node in graph.program.sources(rate) if isinstance(node, ast.Call)}
    return found


def placeholder(feed: Feed, program: Program) -> ast.Call | None:
    """The call that makes the placeholder of an entry."""
    return next(iter(program.made(feed.key, _PLACEHOLDER)), None)


def _is_data(feed: Feed, rates: set[ast.AST], program: Program) -> bool:
    made = placeholder(feed, program)
    if made is not None and (made in rates or _scalar(made)):
        return False
    values = program.of(feed.value)
    return not (values and all(isinstance(value, Constant) for value in values))


def _scalar(made: ast.Call) -> bool:
    """Whether a placeholder holds one number: its shape is empty, or its type that of a flag."""
    shape, kind = argument(made, 1, "shape"), argument(made, 0, "dtype")
    empty = isinstance(shape, ast.List | ast.Tuple) and not shape.elts
    return empty or (kind is not None and ast.unparse(kind).rpartition(".")[2] in ("bool", "bool_"))


def sliceable(feed: Feed, program: Program) -> bool | None:
    """Whether a placeholder takes a part of its data: None where nobody knows, False where it takes no data."""
    made = placeholder(feed, program)
    if made is None or isinstance(feed.value, ast.Dict):
        return None
    shape = argument(made, 1, "shape")
    if any(_short(each) for each in program.of(feed.value)):
        return None
    if isinstance(shape, ast.List | ast.Tuple) and shape.elts:
        first = shape.elts[0]
        return True if is_literal(first, None) else None
    if taken_from(feed, program) is not None:
        return True
    if is_given(shape):
        return None
    values = program.of(feed.value)
    arrays = [v for v in values if isinstance(v, Box) or (isinstance(v, Foreign) and v.name.startswith("numpy."))]
    return True if arrays and len(arrays) == len(values) else None


def taken_from(feed: Feed, program: Program) -> ast.Attribute | None:
    """The shape of an array by which a placeholder is made: `tf.placeholder(tf.float32, data.shape)`."""
    made = placeholder(feed, program)
    shape = argument(made, 1, "shape") if made is not None else None
    return shape if isinstance(shape, ast.Attribute) and shape.attr == "shape" else None


def _short(value: object) -> bool:
    """Whether a value is a list that is written out, or an array of one, with too little in it to be divided."""
    node = getattr(value, "node", None)
    if isinstance(node, ast.Call) and node.args and isinstance(value, Foreign) and value.name.startswith("numpy."):
        node = node.args[0]
    return isinstance(node, ast.List | ast.Tuple) and len(node.elts) < _LEAST


def averaged(graph: Graph) -> bool:
    """Whether the loss is an average over the samples that are fed, as far as the program says.

    It is not where it adds up all elements, or where the graph is made for a certain number of samples.
    """
    program = graph.program
    for update in graph.updates:
        for node in graph.sources(update):
            names = program.callee(node)
            if "tensorflow.reduce_sum" in names and isinstance(node, ast.Call) and not _along_axis(node):
                return False
            if "builtins.len" in names:
                return False
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
                return False
    return True


def summed_up(run: Run, graph: Graph) -> bool:
    """Whether what a step gives beside training are numbers about the batch, and not something for each sample."""
    fetched = elements(run.fetches)
    return all(graph.trains(each) or graph.program.matches(each, _ABOUT) for each in fetched)


def _along_axis(call: ast.Call) -> bool:
    return len(call.args) > 1 or any(k.arg in ("axis", "reduction_indices", "axes") for k in call.keywords)
