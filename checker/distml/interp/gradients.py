"""torch.autograd.Function: `forward` where it is applied, and `backward` for the gradients of the parameters that it gets.

https://docs.pytorch.org/docs/stable/notes/extending.html#how-to-use
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.callbacks import run_later
from distml.interp.calls import call_value, unknown_call
from distml.interp.findings import fail
from distml.interp.functions import run_returning
from distml.ops import Call, ShapeError
from distml.ops.torch.context import CONTEXT
from distml.values import Bound, Function, InstanceRecord, Lib, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.interp.machine import Machine


def _apply(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`Function.apply(*inputs)`"""
    cls, *inputs = arguments.args
    forward, setup, backward = (vm.attribute(cls, name) for name in ("forward", "setup_context", "backward"))
    if arguments.open or not isinstance(forward, Function | Bound):
        return unknown_call(vm, arguments, node)
    context = vm.allocate(InstanceRecord(Lib(CONTEXT), {}, exact=False))
    if isinstance(setup, Function | Bound):
        output = call_value(vm, forward, Arguments(inputs), node)
        call_value(vm, setup, Arguments([context, Tup(tuple(inputs)), output]), node)
    else:
        output = call_value(vm, forward, Arguments([context, *inputs]), node)
    if isinstance(backward, Function):
        _run_backward(vm, backward, [context, *_slopes(output)], inputs, node)
    return output


def _slopes(output: Value) -> list[Value]:
    """A gradient for each output, of its shape."""
    outputs = output.items if isinstance(output, Tup) else (output,)
    return [Tensor(each.lib, each.shape, each.dtype) if isinstance(each, Tensor) else each for each in outputs]


def _run_backward(vm: Machine, backward: Function, given: list[Value], inputs: list[Value], node: ast.AST) -> None:
    """The run that a parameter's gradient needs; what it changes, it may change at any later time."""
    wanted = {i: each for i, each in enumerate(inputs) if isinstance(each, Tensor) and each.parameter}
    if not wanted:
        return

    def returned(expression: ast.expr, value: Value) -> None:
        single = not isinstance(value, Tup)
        gradients = (value,) if isinstance(value, Tensor) else value.items if isinstance(value, Tup) else ()
        parts = expression.elts if isinstance(expression, ast.Tuple) and not single else []
        for place, gradient in enumerate(gradients):
            parameter = wanted.get(place)
            if parameter is not None and isinstance(gradient, Tensor) and not _expands(vm, parameter, gradient):
                text = f"the gradient of input {place} of {backward.name} is {gradient.shape!r}, "
                text += f"the parameter {parameter.shape!r}"
                part = parts[place] if len(parts) == len(gradients) else expression
                fail(vm, ShapeError("SHP206", text), _given_to(backward, part))

    before = vm.state
    vm.follow(lambda: run_returning(vm, backward, Arguments(given), node, returned), before.fork())
    vm.state = before
    run_later(vm, backward)


def _expands(vm: Machine, parameter: Tensor, gradient: Tensor) -> bool:
    """Whether a gradient may be summed to the shape of its parameter: that expands to it."""
    facts = Call(vm, "torch.autograd", "torch").facts
    needs, gets = facts.shape(parameter.shape), facts.shape(gradient.shape)
    if needs.dims is None or gets.rank is None:
        return True
    if gets.rank < len(needs.dims):
        return False
    pairs = zip(reversed(needs.dims), (facts.axis(gets, -1 - i) for i in range(len(needs.dims))), strict=True)
    return not any(a.constant not in (None, 1) and b is not None and a.differs(b) for a, b in pairs)


def _given_to(function: Function, expression: ast.expr) -> ast.expr:
    """What a returned name was given, where one line gives it something; else the name itself."""
    if not isinstance(expression, ast.Name):
        return expression
    stores = [
        node
        for node in ast.walk(function.node)
        if isinstance(node, ast.Name) and node.id == expression.id and not isinstance(node.ctx, ast.Load)
    ]
    lines = [node for node in ast.walk(function.node) if isinstance(node, ast.Assign) and stores == node.targets]
    return lines[0].value if lines else expression


GRADIENTS = {f"torch.autograd.{name}.apply": _apply for name in ("Function", "function.Function")}
"""What applies such a function."""
