"""torch.func: functions of functions: gradients, Jacobians, vmap, and modules as functions of their parameters.

https://docs.pytorch.org/docs/stable/func.api.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, TRUE, ZERO
from distml.ops.registry import op
from distml.ops.semantics.transforms import Axes, gradient, jacobian, map_over, traced
from distml.ops.semantics.trees import is_of_one, states
from distml.ops.torch.attributes import require_single
from distml.shapes import Dim
from distml.values import Lib, Many, Partial, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


@op("torch.vmap", "torch.func.vmap")
def vmap(
    call: Call, func: Value, in_dims: Value = ZERO, out_dims: Value = ZERO, *rest: Value, **options: Value
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.func.vmap.html"""
    return Partial(Lib("torch.func.vmap.__call__"), (func, in_dims, out_dims))


@op("torch.func.vmap.__call__")
def mapped_over(call: Call, func: Value, in_dims: Value, out_dims: Value, *args: Value, **kwargs: Value) -> Value:
    """torch.func.vmap(func)(*args): named arguments are given as they are."""
    return map_over(call, func, Axes(in_dims, out_dims, NONE), args, kwargs)


@op("torch.func.grad", "torch.func.grad_and_value")
def grad(call: Call, func: Value, argnums: Value = ZERO, has_aux: Value = FALSE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.func.grad.html"""
    return Partial(Lib(f"{call.name}.__call__"), (func, argnums, has_aux))


@op("torch.func.grad.__call__")
def gradient_of(call: Call, func: Value, argnums: Value, has_aux: Value, *args: Value, **kwargs: Value) -> Value:
    """torch.func.grad(func)(*args): of the shape of what is differentiated, with what else the function gives."""
    _, slope, aux = gradient(call, func, argnums, has_aux, args, kwargs)
    return slope if aux is None else Tup((slope, aux)) if call.flag(has_aux) else call.unknown()


@op("torch.func.grad_and_value.__call__")
def gradient_and_value(call: Call, func: Value, argnums: Value, has_aux: Value, *args: Value, **kwargs: Value) -> Value:
    """torch.func.grad_and_value(func)(*args): the gradient first."""
    made, slope, _ = gradient(call, func, argnums, has_aux, args, kwargs)
    return Tup((slope, made))


@op("torch.autograd.grad")
def gradients(
    call: Call,
    outputs: Value,
    inputs: Value,
    grad_outputs: Value = NONE,
    retain_graph: Value = NONE,
    create_graph: Value = FALSE,
    only_inputs: Value = TRUE,
    allow_unused: Value = FALSE,
    is_grads_batched: Value = FALSE,
    materialize_grads: Value = FALSE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html: a gradient for each input, of its shape. The
    gradient of an output is of the shape of the output (SHP104); one of a single element needs none (SHP308)."""
    if call.flag(is_grads_batched) is not False:
        return call.unknown()
    if grad_outputs == NONE and isinstance(outputs, Tensor):
        require_single(call, outputs)
    if isinstance(grad_outputs, Tensor) and isinstance(outputs, Tensor):
        left, right = call.shape(outputs), call.shape(grad_outputs)
        for one, other in zip(left.head, right.head, strict=False) if left.rank == right.rank else ():
            text = f"{call.text}: the output {left!r} and its gradient {right!r} differ: {{left}} and {{right}}"
            call.require_equal(one, other, "SHP104", text)
    unused = call.flag(allow_unused) is not False and call.flag(materialize_grads) is not True
    found = (inputs,) if isinstance(inputs, Tensor) else call.iterate(inputs)

    def like(value: Value) -> Value:
        made = call.tensor(call.shape(value), "float") if isinstance(value, Tensor) else call.unknown("gradient")
        return call.any_of(made, NONE) if unused else made

    if isinstance(found, Many):
        return Many(like(found.item), "tuple", found.length)
    return Tup(tuple(like(each) for each in found))


@op("torch.autograd.functional.jacobian", "torch.autograd.functional.hessian")
def jacobian_at(call: Call, func: Value, inputs: Value, *args: Value, **options: Value) -> Value:
    """torch.autograd.functional.jacobian(func, inputs): of one tensor; of several it is a tuple, which is not followed"""
    if not isinstance(inputs, Tensor):
        return call.unknown()
    return jacobian(call, func, ZERO, FALSE, (inputs,), {}, 2 if "hessian" in call.name else 1)


@op("torch.func.jacrev", "torch.func.jacfwd", "torch.func.hessian")
def derivative(
    call: Call, func: Value, argnums: Value = ZERO, has_aux: Value = FALSE, *rest: Value, **options: Value
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.func.jacrev.html"""
    return Partial(Lib(f"{call.name}.__call__"), (func, argnums, has_aux))


@op("torch.func.jacrev.__call__", "torch.func.jacfwd.__call__", "torch.func.hessian.__call__")
def jacobian_of(call: Call, func: Value, argnums: Value, has_aux: Value, *args: Value, **kwargs: Value) -> Value:
    """torch.func.jacrev(func)(*args), torch.func.hessian(func)(*args)"""
    return jacobian(call, func, argnums, has_aux, args, kwargs, 2 if "hessian" in call.name else 1)


@op("torch.func.jvp")
def jvp(call: Call, func: Value, primals: Value, tangents: Value, **options: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.func.jvp.html: the value and its change, of one shape."""
    items = call.items(primals)
    if items is None or options:
        return call.unknown()
    made = call.apply(func, *items)
    return Tup((made, traced(call, made)))


@op("torch.func.vjp")
def vjp(call: Call, func: Value, *primals: Value, **options: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.func.vjp.html: the value, and a function that is not followed."""
    made = call.apply(func, *primals)
    return call.unknown() if options else Tup((made, call.unknown()))


@op("torch.func.stack_module_state")
def stack_module_state(call: Call, models: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.func.stack_module_state.html"""
    listed = call.items(models)
    count = call.symbol("models", 1) if listed is None else Dim.of(len(listed))
    return Tup((states(call, count), states(call, count)))


@op("torch.func.functional_call")
def functional_call(
    call: Call,
    module: Value,
    parameter_and_buffer_dicts: Value,
    args: Value = NONE,
    kwargs: Value = NONE,
    **options: Value,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.func.functional_call.html: what the module gives, where the
    parameters are known to have its own shapes."""
    given = call.items(parameter_and_buffer_dicts) or (parameter_and_buffer_dicts,)
    listed = call.items(args) if isinstance(args, Tup) else None if call.is_none(args) is not False else (args,)
    if not all(is_of_one(call, each) for each in given) or listed is None or call.is_none(kwargs) is not True:
        return call.unknown()
    return call.apply(module, *listed)
