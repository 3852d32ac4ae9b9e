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
    if isinstance(module, Ref) and isinstance(record, InstanceRecord) and isinstance(name, Const) and by is not None:
        label = str(name.value)
        held = record.attrs.get(label)
        made = _computed(vm, by, held, node) if isinstance(held, Tensor) else None
        result = call_op(vm, _REGISTER, arguments, node, "torch")
        if made is not None and isinstance(held, Tensor):
            if given.get("unsafe", Const(False)) == Const(False):
                _keep_shape(vm, held, made, node)
            elif isinstance(record := vm.record(module), InstanceRecord):
                vm.replace(module, record.having({label: made}))
        return result
    return call_op(vm, _REGISTER, arguments, node, "torch")


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
