"""Signatures of graphs: `tf.function(input_signature=...)` fixes what a function is given, whoever calls it.

https://www.tensorflow.org/api_docs/python/tf/function
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.ops.call import Call
from distml.values import Bound, Const, Function, Lib, Partial, Value

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from distml.interp.machine import Machine

NAME = "tensorflow.function"


def graph(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`tf.function(f, input_signature=...)`, or a decorator with options: the function itself."""
    function = arguments.args[0] if arguments.args else arguments.kwargs.get("func")
    if function is None or isinstance(function, Const):
        return Partial(Lib(NAME), (), tuple(arguments.kwargs.items()))
    bare = function.function if isinstance(function, Bound) else function
    signature = arguments.kwargs.get("input_signature")
    if isinstance(bare, Function) and signature is not None:
        vm.signatures[id(bare.node)] = signature
    return function


def stated(vm: Machine, function: Function, arguments: Sequence[ast.arg]) -> list[Value]:
    """What a function is given that nobody calls in sight: what its signature says, otherwise the unknown."""
    from distml.ops.bindings.tensorflow.data import specified

    signature = vm.signatures.get(id(function.node))
    call = Call(vm, NAME, "tensorflow")
    parts = list(call.items(signature) or ()) if signature is not None else []
    known = [specified(call, part) for part in parts[: len(arguments)]]
    known += [None] * (len(arguments) - len(known))
    return [vm.opaque(each.arg) if value is None else value for each, value in zip(arguments, known, strict=True)]
