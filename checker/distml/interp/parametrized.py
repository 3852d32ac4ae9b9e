"""Tensors of a module that another module computes.

https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrize.register_parametrization.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.calls import call_op, call_value
from distml.interp.findings import fail
from distml.interp.typetests import has_attribute
from distml.ops import Call, ShapeError
from distml.values import Const, InstanceRecord, Ref, Tensor, Tup, Value

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from distml.interp.machine import Machine

_REGISTER = "torch.nn.utils.parametrize.register_parametrization"
_INVERSE = "right_inverse"


def _register(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """The module that is registered is called at once; unless `unsafe`, the tensor keeps its shape (SHP305)."""
    given = dict(zip(("module", "tensor_name", "parametrization"), arguments.args, strict=False)) | arguments.kwargs
    module, name, by = (given.get(each) for each in ("module", "tensor_name", "parametrization"))
    record = vm.record(module) if isinstance(module, Ref) else None
    held = record.attrs.get(str(name.value)) if isinstance(record, InstanceRecord) and isinstance(name, Const) else None
    made = None if by is None or not isinstance(held, Tensor) else _computed(vm, by, held, node)
    result = call_op(vm, _REGISTER, arguments, node, "torch")
    if made is None or not isinstance(held, Tensor) or not isinstance(module, Ref) or not isinstance(name, Const):
        return result
    record = vm.record(module)
    if given.get("unsafe", Const(False)) == Const(False):
        _keep_shape(vm, held, made, node)
    elif isinstance(record, InstanceRecord):
        vm.replace(module, record.having({str(name.value): made}))
    return result


def _computed(vm: Machine, by: Value, held: Tensor, node: ast.AST) -> Value | None:
    """What a parametrization makes of a tensor, or of what its inverse makes of that; None where it may have one."""
    inverse = has_attribute(vm, by, _INVERSE)
    if inverse is None:
        return None
    original: Value = held
    if inverse:
        original = call_value(vm, vm.language.get_attribute(vm, by, _INVERSE, node), Arguments([held]), node)
    return call_value(vm, by, Arguments([*original.items] if isinstance(original, Tup) else [original]), node)


def _keep_shape(vm: Machine, held: Tensor, made: Value, node: ast.AST) -> None:
    before, after = vm.facts.shape(held.shape), made.shape if isinstance(made, Tensor) else held.shape
    call = Call(vm, _REGISTER, "torch")
    text = f"the parametrization makes {after!r} of {before!r}"
    try:
        after = (
            call.of_rank(after, before.rank, what="what the parametrization makes")
            if before.rank is not None
            else before
        )
        for left, right in zip(before.dims or (), after.dims or (), strict=True):
            call.require_equal(left, right, "SHP305", text)
    except ShapeError as error:
        fail(vm, error, node)


PARAMETRIZED: dict[str, Callable[[Machine, Arguments, ast.AST], Value]] = {_REGISTER: _register}
"""What makes a module compute a tensor of another one."""
