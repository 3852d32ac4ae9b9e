"""torch: what calls a program's function once with inputs given to it, to record what it computes.

https://docs.pytorch.org/docs/stable/onnx.html, https://docs.pytorch.org/docs/stable/export.html. Exporting to ONNX puts a
model into evaluation mode for that call.
"""

from __future__ import annotations

from distml.ops.call import NONE, Call
from distml.ops.registry import op
from distml.values import Const, DictRecord, Ref, Tensor, Value


def _inputs(call: Call, value: Value) -> tuple[Value, ...] | None:
    """The arguments that a tensor, a tuple or a list of inputs stands for; None where that is not known."""
    if isinstance(value, Tensor):
        return (value,)
    items = None if value == NONE else call.items(value)
    named = items and isinstance(items[-1], Ref) and isinstance(call.world.record(items[-1]), DictRecord)
    return None if named else items


@op("torch.jit.trace")
def trace(call: Call, func: Value = NONE, example_inputs: Value = NONE, *args: Value, **options: Value) -> Value:
    """torch.jit.trace(func, example_inputs) calls func once; it gives what computes the same"""
    inputs = None if "example_kwarg_inputs" in options else _inputs(call, example_inputs)
    if inputs is not None:
        call.apply(func, *inputs)
    return func


@op("torch.export.export")
def export(call: Call, mod: Value, args: Value = NONE, kwargs: Value = NONE, **options: Value) -> Value:
    """torch.export.export(mod, args) calls mod once"""
    inputs = _inputs(call, args)
    if kwargs == NONE and inputs is not None and not isinstance(args, Tensor):
        call.apply(mod, *inputs)
    return call.unknown()


@op("torch.onnx.export")
def onnx(call: Call, model: Value, args: Value = NONE, f: Value = NONE, *rest: Value, **options: Value) -> Value:
    """torch.onnx.export(model, args, file) calls the model once, in evaluation mode"""
    inputs = _inputs(call, args)
    if inputs is None or rest or not {"kwargs", "training"}.isdisjoint(options):
        return call.unknown()
    training = call.world.attribute(model, "training")
    mode = call.world.attribute(model, "train")
    if mode is not None:
        call.apply(mode, Const(False))
    call.apply(model, *inputs)
    if mode is not None and training is not None:
        call.apply(mode, training)
    return call.unknown()
