"""Methods and attributes of values whose type is not known.

A method's name alone decides nothing: `x.unsqueeze(0)` may be a list of tensors that the program has a class for. What
it would give if `x` were a tensor is an unknown value of that shape, which counts once something else shows that
it is a tensor: it is handed to a function or a layer of torch. Until then it may be indexed, added and asked for
whatever the program likes.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.calls import call_op, hypothetical, unknown_call
from distml.ops import Call
from distml.ops.arraylike import shape_of
from distml.ops.dialect import dialect
from distml.ops.registry import find_op
from distml.values import SHAPE, Const, Expr, Lib, LibMethod, Opaque, ShapeSeq, Tensor, Tup, Union, Value, claimed

if TYPE_CHECKING:
    from distml.interp.machine import Machine

TENSORS_ONLY = frozenset(
    "view view_as permute contiguous expand expand_as chunk unbind detach cpu cuda masked_fill masked_fill_ bmm mm matmul "
    "addmm narrow unfold index_select gather scatter unsqueeze_ squeeze_ add_ mul_ sub_ div_ clamp clamp_ new_zeros new_ones "
    "new_full new_tensor type_as requires_grad_ topk movedim unflatten amax amin flip roll tril triu logsumexp einsum "
    "reshape_as element_size".split()
)
"""What nothing but a tensor is asked for."""
ALSO_LAYERS = frozenset("unsqueeze softmax log_softmax sigmoid relu rsqrt t exp".split())
"""Nor this, but models give such names to layers too, which are handed an array."""
SIZES = frozenset("size dim numel".split())
"""What tells sizes, as `x.shape` does: of other classes too, and of all of them alike."""
SAME_SHAPE = frozenset("to float half double bfloat16 long int bool".split())
"""Conversions, of tensors and of models, which give themselves."""
METHODS = (
    TENSORS_ONLY
    | ALSO_LAYERS
    | SIZES
    | SAME_SHAPE
    | frozenset(
        "type tanh square log sqrt abs sin cos pow norm argmax argmin "
        "reshape sum mean prod var std cumsum cumprod clip round dot flatten ravel squeeze swapaxes diagonal trace any all "
        "min max astype tobytes argpartition ptp nonzero searchsorted".split()
    )
)
"""All that arrays are asked for. Many others have methods of these names too (`matrix.sum(1)`, `block.norm(x)`), so
they tell nothing unless something else shows that the receiver is an array."""


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
        as_tensor = Tensor("torch", shape_of(call, value))
        return vm.language.find_attribute_of(vm, as_tensor, name)
    if name in METHODS:
        return LibMethod(f"?.{name}", value)
    return None


def call_guessed(vm: Machine, callee: LibMethod, arguments: Arguments, node: ast.AST) -> Value:
    """Call a method of a value of unknown type."""
    name = callee.name[2:]
    receiver = callee.receiver
    kind = vm.get(("kind", receiver))
    lib = kind
    if kind is None and "torch" in vm.frame.module.source.text:
        told = TENSORS_ONLY | SIZES if _may_take_array(arguments) else TENSORS_ONLY | SIZES | ALSO_LAYERS
        lib = "torch" if name in told else None
    full = f"{dialect(lib or 'array').tensor}.{name}"
    if name == "view" and _is_dtype_view(arguments):
        return unknown_call(vm, arguments, node)
    if kind is None and name in SAME_SHAPE and (name == "to" or not _may_take_array(arguments)):
        return receiver
    if lib is None or find_op(full) is None:
        return unknown_call(vm, arguments, node)
    if kind is not None:
        return call_op(vm, full, arguments, node, lib)
    before = vm.state.fork()
    result = hypothetical(vm, full, arguments, node, lib)
    if name in SIZES:
        return _of_nobody_knows_what(result)
    # Nor does it say how many axes the receiver has.
    vm.state = before
    return _perhaps(vm, result, unknown_call(vm, arguments, node))


def _of_nobody_knows_what(sizes: Value) -> Value:
    """What `x.size()` gives: the sizes of a tensor, or what else a class calls its size, such as the number of a storage."""
    if isinstance(sizes, ShapeSeq):
        return replace(sizes, lib="array")
    return replace(sizes, kind=SHAPE) if isinstance(sizes, Tup) else sizes


def _perhaps(vm: Machine, result: Value, found: Value) -> Value:
    """What a method gives if its receiver is a tensor, as long as only its name says so: `found`, of that shape."""
    if isinstance(result, Tup) and isinstance(found, Opaque):
        return claimed(Tup(tuple(_perhaps(vm, item, vm.opaque(found.name, found.origin)) for item in result.items)))
    if isinstance(result, Tensor):
        vm.put(("shape", found), result.shape)
    return found


def _may_take_array(arguments: Arguments) -> bool:
    """Whether something that may be an array is handed over, beside the receiver."""
    return arguments.open or any(isinstance(a, Tensor | Opaque | Expr | Union) for a in arguments.values()[1:])


def _is_dtype_view(arguments: Arguments) -> bool:
    """`x.view(np.uint8)`, `x.view("u1")`: what NumPy arrays have and many classes of it."""
    return "dtype" in arguments.kwargs or any(
        isinstance(a, Lib) or (isinstance(a, Const) and isinstance(a.value, str)) for a in arguments.args[1:]
    )
