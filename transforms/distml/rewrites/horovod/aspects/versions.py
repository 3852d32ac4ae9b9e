"""Which version of its libraries a program is written for, as far as what it calls and imports says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import nodes_in
from distml.training.values import Foreign

_FIRST = re.compile(
    r"tensorflow\.(Session|InteractiveSession|placeholder|layers\.|get_variable|variable_scope|app\.|logging\.|flags\."
    r"|ConfigProto|contrib\.|global_variables_initializer|train\.\w*(Optimizer|_decay|get_global_step|Hook|Session)\b"
    r"|losses\.|metrics\.\w+$|set_random_seed|gfile\.|summary\.(FileWriter|merge)|enable_eager|estimator\.inputs"
    r"|truncated_normal|random_normal|log$|to_float|to_int32|parse_single_example|decode_raw)"
)


@remembered
def modern(program: Program) -> bool:
    """Whether `tensorflow` is that of TensorFlow 2: the program uses none of the names that only the first has."""
    return not any(_FIRST.match(name) for call in program.calls for name in _plain(call, program))


def _plain(call: ast.Call, program: Program) -> Iterator[str]:
    """The names of what is called, unless they are reached through `compat.v1`."""
    first = call.func
    while isinstance(first, ast.Attribute):
        if first.attr == "v1":
            return
        first = first.value
    # What an object is asked says nothing: `optimizer.minimize` is the same, however the optimizer was reached.
    module = any(isinstance(value, Foreign) and value.node is None for value in program.of(first))
    if isinstance(first, ast.Name) and module and "tensorflow.compat.v1" not in program.names(first):
        yield from program.names(call.func)


@remembered
def keras_alone(program: Program) -> bool:
    """Whether a program of TensorFlow 1 uses the package `keras`, which has another session than that of TensorFlow has."""
    trees = [unit.tree for unit in program.units.values()]
    named = [alias.name for tree in trees for each in nodes_in(tree, ast.Import) for alias in each.names]
    named += [each.module or "" for tree in trees for each in nodes_in(tree, ast.ImportFrom) if not each.level]
    return not modern(program) and any(name.partition(".")[0] == "keras" for name in named)
