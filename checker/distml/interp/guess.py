"""Methods and attributes of values whose type is not known.

A parameter of an un-annotated function that is asked for `x.view(...)` is most
likely a tensor. What it gives is computed as if it were; that it could not
work proves nothing and is not reported, unless something else has shown that
the value is a tensor.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.calls import Arguments, call_op, hypothetical, unknown_call
from distml.ops import Call
from distml.ops.arraylike import shape_of
from distml.ops.registry import find_op
from distml.values import Const, Expr, Lib, LibMethod, Opaque, ShapeSeq, Tensor, Union, Value

if TYPE_CHECKING:
    from distml.interp.machine import Machine

TORCH_ONLY = frozenset(
    "view view_as permute unsqueeze contiguous expand expand_as chunk unbind detach cpu cuda "
    "float long half int bool bfloat16 double dim size masked_fill masked_fill_ softmax sigmoid "
    "relu tanh log_softmax bmm mm matmul addmm narrow unfold index_select gather scatter "
    "unsqueeze_ squeeze_ add_ mul_ sub_ div_ clamp clamp_ new_zeros new_ones new_full new_tensor "
    "type_as requires_grad_ to numel topk movedim unflatten amax amin rsqrt square exp log sqrt abs "
    "sin cos pow norm flip roll tril triu logsumexp argmax argmin einsum t reshape_as element_size".split()
)
SAME_IN_BOTH = frozenset(
    "reshape sum mean prod var std cumsum cumprod argmax argmin clip round dot flatten ravel "
    "squeeze swapaxes diagonal trace any all min max".split()
)
NUMPY_ONLY = frozenset("astype ravel tobytes argpartition ptp nonzero searchsorted".split())
ALSO_LAYERS = SAME_IN_BOTH | frozenset(
    "norm softmax log_softmax sigmoid relu tanh exp log sqrt rsqrt abs square sin cos pow unsqueeze "
    "float half int bool double long to size dim t".split()
)
"""Names that models give to their layers too: `block.norm(x)` says nothing of `block`."""


def guessed_attribute(vm: Machine, value: Opaque, name: str) -> Value | None:
    """An array attribute or method of an unknown value; None if arrays have none such."""
    if value is vm.frame.receiver:
        # The `self` of a class is what the class makes it.
        return None
    call = Call(vm, name, "array")
    if name == "shape":
        return ShapeSeq(shape_of(call, value))
    if name == "ndim":
        rank = shape_of(call, value).rank
        return None if rank is None else Const(rank)
    if name in ("T", "mT") and vm.get(("kind", value)) is not None:
        from distml.interp.attributes import find_attribute_of

        as_tensor = Tensor("torch", shape_of(call, value))
        return find_attribute_of(vm, as_tensor, name)
    if name in TORCH_ONLY or name in SAME_IN_BOTH or name in NUMPY_ONLY:
        return LibMethod(f"?.{name}", value)
    return None


def call_guessed(vm: Machine, callee: LibMethod, arguments: Arguments, node: ast.AST) -> Value:
    """Call a method of a value of unknown type."""
    name = callee.name[2:]
    receiver = callee.receiver
    kind = vm.get(("kind", receiver))
    if name == "view" and _is_dtype_view(arguments):
        return unknown_call(vm, arguments, node)
    if kind is None and name in ALSO_LAYERS and _may_take_array(arguments):
        return unknown_call(vm, arguments, node)
    lib = kind or _likely_library(vm, name)
    if lib is None:
        return unknown_call(vm, arguments, node)
    prefix = "numpy.ndarray" if lib == "numpy" else "torch.Tensor"
    full = f"{prefix}.{name}"
    if find_op(full) is None:
        return unknown_call(vm, arguments, node)
    if kind is not None:
        return call_op(vm, full, arguments, node, lib)
    if name in ("to", "type", "int", "float") and isinstance(receiver, Opaque | Expr):
        return receiver if name == "to" else hypothetical(vm, full, arguments, node, lib)
    return hypothetical(vm, full, arguments, node, lib)


def _may_take_array(arguments: Arguments) -> bool:
    """Whether something that may be an array is handed over, beside the receiver."""
    return arguments.open or any(isinstance(a, Tensor | Opaque | Expr | Union) for a in arguments.values()[1:])


def _is_dtype_view(arguments: Arguments) -> bool:
    """`x.view(np.uint8)`, `x.view("u1")`: what NumPy arrays have and many classes of it."""
    return "dtype" in arguments.kwargs or any(
        isinstance(a, Lib) or (isinstance(a, Const) and isinstance(a.value, str)) for a in arguments.args[1:]
    )


def _likely_library(vm: Machine, name: str) -> str | None:
    if name in NUMPY_ONLY and name not in SAME_IN_BOTH:
        return "numpy"
    used = vm.frame.module.source.text
    has_torch, has_numpy = "torch" in used, "numpy" in used
    if name in TORCH_ONLY and name not in SAME_IN_BOTH:
        return "torch" if has_torch else None
    if name in SAME_IN_BOTH:
        if has_torch and not has_numpy:
            return "torch"
        if has_numpy and not has_torch:
            return "numpy"
        return "torch" if vm.frame.name == "forward" else None
    return None
