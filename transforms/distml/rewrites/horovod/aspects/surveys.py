"""Datasets that are gone through as a whole, for what must be alike on every rank: a vocabulary, a mean.

A layer that is adapted to one rank's part of the data knows other words than those of the other ranks, and weights that are
averaged belong to different words. https://www.tensorflow.org/api_docs/python/tf/keras/layers/TextVectorization#adapt
"""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects.pipelines import paths
from distml.rewrites.horovod.aspects.purposes import TRAINING, purposes
from distml.training.callers import run_by
from distml.training.callsites import called
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.values import Box, Foreign

_SURVEYS = frozenset(
    {"adapt", "compute_word_piece_vocabulary", "compute_sentence_piece_proto", "bert_vocab_from_dataset"}
)
"""What makes a vocabulary, or other statistics, of a dataset."""

_COLLECTS = frozenset({"add", "update"})
_COUNTERS = ("builtins.", "collections.")
_LEARNS = re.compile(r"build|corpus|vocab|token|fit|count|max|mean|update|^set$", re.IGNORECASE)
"""The name of a function that learns from what a comprehension gives it."""


@remembered
def surveyed(program: Program) -> frozenset[ast.expr]:
    """The expressions that make datasets which something is learned from other than by training."""
    found = [*_adapted(program), *_collected(program)]
    return frozenset(node for data in found for path in paths(data, program) for node in path.nodes)


def _adapted(program: Program) -> list[ast.expr]:
    """What layers are adapted to, and vocabularies made of."""
    calls = [call for call in program.calls if called(call, program) in _SURVEYS]
    return [(call.args or [call.keywords[0].value])[0] for call in calls if call.args or call.keywords]


def _collected(program: Program) -> list[ast.expr]:
    """What comprehensions go through for a function that learns from them, and loops that put items into sets and counters."""
    nodes = [*program.nodes(ast.AST)]
    loops = [
        node.iter for node in nodes if isinstance(node, ast.For) and any(_collects(each, program) for each in node.body)
    ]
    given = [part for call in program.calls if _learns(call, program) for part in call.args]
    parts = [each for part in given for each in getattr(part, "generators", ())]
    return [*loops, *(each.iter for each in parts)]


def _learns(call: ast.Call, program: Program) -> bool:
    """Whether a call learns something of what it is given: by the name a library gives it, or as no part of training."""
    if not run_by(call, program):
        return bool(_LEARNS.search(called(call, program)))
    parts = [each for each in call.args if hasattr(each, "generators")]
    return bool(parts) and not any(TRAINING in purposes(each, program) for each in parts)


def _collects(statement: ast.stmt, program: Program) -> bool:
    """Whether a statement of a loop adds to a set or a counter, or to what nobody knows."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr not in _COLLECTS:
        return False
    values = program.of(call.func.value)
    return not values or any(
        isinstance(each, Box) or (isinstance(each, Foreign) and each.name.startswith(_COUNTERS)) for each in values
    )
