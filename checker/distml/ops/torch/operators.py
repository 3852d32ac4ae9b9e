"""torch: the operators of Python on tensors, called with (left, right) as they stand in the source.

https://docs.pytorch.org/docs/stable/tensors.html; `x += y` keeps the shape of `x`.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from distml.ops.call import Call
from distml.ops.registry import op
from distml.ops.rules.elements import combined, mapped
from distml.ops.rules.kinds import floating, kind_of, promote, real
from distml.ops.rules.pointwise import elementwise, fits_into, foreign, title, ufunc, warn_difference
from distml.ops.torch.pointwise import assigning, written
from distml.values import Prim, Ref, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

_ARITHMETIC = ("add", "mul", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift", "pow")
_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")


def _same(kind: str | None) -> str | None:
    return kind


def _bool(kind: str | None) -> str | None:
    return "bool"


def _operator(kind: Callable[[str | None], str | None]) -> Callable[..., Value]:
    def operator(call: Call, left: Value, right: Value) -> Value:
        """`left + right` and its like: the operands broadcast."""
        if foreign(call, left) or foreign(call, right):
            return call.unknown()
        content = combined(call, ufunc(call), left, right)
        made = kind(promote((kind_of(left), kind_of(right))))
        return Tensor(call.lib, elementwise(call, left, right), made, content=content)

    return operator


def _compared(call: Call, left: Value, right: Value) -> Value:
    """`left == right` and its like; nothing that is no number is equal to a tensor."""
    if any(foreign(call, v) or isinstance(v, Tup | Ref) for v in (left, right)):
        return Prim("bool")
    return call.tensor(elementwise(call, left, right), "bool")


def _difference(call: Call, left: Value, right: Value) -> Value:
    """`left - right`"""
    if foreign(call, left) or foreign(call, right):
        return call.unknown()
    shape = elementwise(call, left, right)
    warn_difference(call, call.shape(left), call.shape(right))
    content = combined(call, "subtract", left, right)
    return Tensor(call.lib, shape, promote((kind_of(left), kind_of(right))), content=content)


def _inplace(plain: Callable[..., Value]) -> Callable[..., Value]:
    def operator(call: Call, left: Value, right: Value) -> Value:
        """`left += right` and its like: the left operand keeps its shape."""
        with assigning(call) if isinstance(left, Tensor) else nullcontext():
            result = plain(call, left, right)
        if not isinstance(left, Tensor) or not isinstance(result, Tensor):
            return result
        target = call.shape(left)
        message = f"{title(call)}: {call.show(right)} does not broadcast into {target!r}, which cannot change its shape"
        fits_into(call, result.shape, target, message=message)
        return written(call, left)

    return operator


def _register() -> None:
    plain = {name: _operator(_same) for name in _ARITHMETIC}
    plain |= {"truediv": _operator(floating), "sub": _difference, "div": _operator(floating)}
    for name, function in plain.items():
        op(f"torch.Tensor.__{name}__", f"torch.Tensor.__r{name}__")(function)
        op(f"torch.Tensor.__i{name}__")(_inplace(function))
    for name in _COMPARE:
        op(f"torch.Tensor.__{name}__")(_compared)


_register()


@op("torch.Tensor.__neg__", "torch.Tensor.__pos__", "torch.Tensor.__invert__")
def unary(call: Call, self: Value) -> Value:
    """`-x`, `+x`, `~x`"""
    return Tensor(call.lib, call.shape(self), kind_of(self), content=mapped(call, ufunc(call), self))


@op("torch.Tensor.__abs__")
def absolute(call: Call, self: Value) -> Value:
    """`abs(x)`"""
    return Tensor(call.lib, call.shape(self), real(kind_of(self)), content=mapped(call, "absolute", self))


@op("torch.Tensor.__contains__")
def contains(call: Call, self: Value, element: Value) -> Value:
    """`element in x`"""
    return Prim("bool")
