"""Pointwise operations: operands broadcast, a result that is written in place cannot grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.shapes import Shape
from distml.solver.formula import either, equal
from distml.values import Const, DictRecord, InstanceRecord, Prim, Ref, SetRecord

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.shapes import Dim
    from distml.values import Value

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**"}
_SIGNS |= {"and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "matmul": "@"}
_SIGNS |= {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


UFUNCS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "mod",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
"""What NumPy calls the functions of two elements behind Python's operators."""
_OF_ONE = {"neg": "negative", "pos": "positive", "abs": "absolute"}


def ufunc(call: Call) -> str:
    """What NumPy calls the function that is called: `subtract` for `__sub__`, `__rsub__` and `sub`."""
    last = call.name.rpartition(".")[2]
    bare = last.strip("_")
    turned = UFUNCS.get(bare[1:], bare) if last.startswith("__") else bare
    return UFUNCS.get(bare) or _OF_ONE.get(bare, turned)


def foreign(call: Call, value: Value) -> bool:
    """Whether an operand has operators of its own, or none that a tensor knows."""
    if isinstance(value, Const):
        return not isinstance(value.value, int | float | complex)
    if isinstance(value, Prim):
        return value.kind in ("str", "bytes")
    if isinstance(value, Ref):
        return isinstance(call.world.record(value), InstanceRecord | DictRecord | SetRecord)
    return False


def title(call: Call) -> str:
    """What to call the operation in a message: `+` for `__add__`, else the call's own text."""
    name = call.text.rpartition(".")[2]
    if not (name.startswith("__") and name.endswith("__")):
        return call.text
    bare = name.strip("_")
    for candidate, suffix in ((bare, ""), (bare[1:], "=" if bare[:1] == "i" else "")):
        if candidate in _SIGNS:
            return f"`{_SIGNS[candidate]}{suffix}`"
    return call.text


def elementwise(call: Call, *values: Value) -> Shape:
    """The shape of an operation on elements of all `values`, which broadcast."""
    return call.broadcast(*(call.shape(value) for value in values), message=title(call))


def fits_into(
    call: Call, value: Shape, target: Shape, drops_ones: bool = False, code: str = "SHP305", message: str | None = None
) -> None:
    """Require that `value` broadcasts to `target` without changing it.

    `drops_ones` is the rule of `x[...] = value`: leading axes of size 1 that the
    target lacks are dropped.
    """
    value, target = call.facts.shape(value), call.facts.shape(target)
    if target.dims is None:
        # Only axes that both are known to have, from the back, can contradict.
        ends, sizes = target.tail, value.tail if value.dims is None else value.dims
    else:
        ends, sizes = target.dims, value.tail if value.dims is None else value.dims
        surplus = (len(value.dims) if value.dims is not None else value.least) - len(ends)
        if surplus > 0 and not (drops_ones and all(not d.differs(1) for d in sizes[: len(sizes) - len(ends)])):
            _refuse(call, value, target, code, message)
    pairs = list(zip(reversed(sizes), reversed(ends), strict=False))
    for size, end in pairs if call.world.watched else ():
        call.state(either(equal(size, end), equal(size, 1)), code, f"{call.text}: {size} is to fit into {end}")
    if any(size.differs(end) and size.differs(1) for size, end in pairs):
        _refuse(call, value, target, code, message)


def _refuse(call: Call, value: Shape, target: Shape, code: str, message: str | None) -> None:
    call.fail(
        code,
        message or f"{title(call)}: {value!r} does not broadcast into {target!r}, which cannot change its shape",
        *call.notes(*value.head, *value.tail, *target.head, *target.tail),
    )


def warn_difference(call: Call, left: Shape, right: Shape) -> None:
    """SHP504 for (N, 1) - (N,) that nothing in the source shows to be meant.

    A column made with `[:, None]`, `unsqueeze`, `keepdim` or `view(-1, 1)` has a 1
    that comes from that expression; only a plain 1 written as a size (a layer with
    one output, an array asked for with one column) may be an oversight.
    """
    left, right = call.facts.shape(left), call.facts.shape(right)
    column, row = (left, right) if len(left.head) > len(right.head) else (right, left)
    if column.dims is None or row.dims is None or len(column.dims) != 2 or len(row.dims) != 1:
        return
    count, one = column.dims
    if one != 1 or one.origin is None or one.origin.text != "1" or row.dims[0] != count or count in (0, 1):
        return
    call.warn(
        "SHP504",
        f"{title(call)}: {left!r} and {right!r} broadcast to [{count}, {count}]: "
        "every element of one meets every element of the other",
        *call.notes(one, *_origins(count, row.dims[0])),
        hint=f"make both [{count}], or write `[:, None]` where all pairs are wanted",
    )


def _origins(*dims: Dim) -> list[Dim]:
    return [dim for dim in dims if dim.origin is not None]
