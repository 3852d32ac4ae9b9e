"""What the code of a callback does to training: whether it changes its course, or only writes."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from distml.rewrites.horovod.aspects.destinations import opens_to_write
from distml.rewrites.horovod.aspects.drawing import is_own
from distml.rewrites.horovod.aspects.outputs import kind_of
from distml.source.nodes import walk
from distml.training.program import Program
from distml.training.syntax import method_name, targets_of

_CHANGING = frozenset(
    "set_value assign set_weights load_weights reset_states apply_gradients restore assign_add assign_sub".split()
)
_CHANGED = frozenset({"stop_training", "lr", "learning_rate", "trainable", "momentum"})
_COSTLY = frozenset({"predict", "predict_on_batch", "savefig", "imsave", "imwrite", "save", "save_weights", "save_img"})
_BATCH_ENDS = frozenset("on_batch_end on_train_batch_end on_batch_begin on_train_batch_begin".split())


class Judgment(NamedTuple):
    """`decides`: it changes the model, its rate, or when training ends. `by_batch`: where it does so within an epoch.

    `by_process`: the conditions by which it ends training elsewhere and that are other ones in each process.
    `writes`: it makes files or pictures, or has the model predict for somebody to look at.
    """

    decides: bool
    writes: bool
    by_batch: tuple[ast.Assign | ast.AugAssign, ...]
    by_process: tuple[ast.expr, ...]


def judged(code: Iterable[ast.AST], program: Program) -> Judgment:
    """Read the bodies of classes or functions."""
    decides = writes = False
    by_batch: list[ast.Assign | ast.AugAssign] = []
    by_process: list[ast.expr] = []
    for owner in code:
        for node in walk(owner):
            if isinstance(node, ast.Assign | ast.AugAssign):
                changed = {each.attr for each in targets_of(node) if isinstance(each, ast.Attribute)} & _CHANGED
                decides = decides or bool(changed)
                if "stop_training" in changed:
                    by_batch += [node] if _in_batch(node, program) else []
                    by_process += _own_reason(node, program)
            elif isinstance(node, ast.Call):
                method = method_name(node)
                decides = decides or method in _CHANGING
                writes = (
                    writes or method in _COSTLY or kind_of(node, program) == "file" or opens_to_write(node, program)
                )
    return Judgment(decides, writes, tuple(by_batch), tuple(dict.fromkeys(by_process)))


def _own_reason(node: ast.stmt, program: Program) -> list[ast.expr]:
    """The outermost condition for a statement between epochs that depends on a process: on its clock, say."""
    if _in_batch(node, program):
        return []
    function = program.function(node)
    tests = [each.test for each in program.ancestors(node) if isinstance(each, ast.If)]
    inside = [each for each in tests if program.function(each) is function]
    return [each for each in inside if is_own(each, program)][-1:]


def _in_batch(node: ast.stmt, program: Program) -> bool:
    function = program.function(node)
    return function is not None and function.name in _BATCH_ENDS
