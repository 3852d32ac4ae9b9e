"""Where the elements of a tensor lie in memory, what `view` cannot do with them (SHP208), nor PyTorch (SHP209).

A tensor is packed if its elements lie in the order of its axes without gaps. Views move, drop or thin out axes over the same
memory; `view` asks for other axes over it, and there are some only where it need not step over a gap. The law of it: two
axes, the first of which does not begin where the second ends, stay apart; a boundary between axes of the result must be there.

Of which functions pack what they make is in the table of a library (`distml.ops.torch.strides`); what is not in it, and what
is made of a tensor whose strides are unknown, has unknown strides. Those of axes of size 1 do not matter for views, but a
convolution reads the order of its result from them: a tensor is packed only if they too are what packed ones are.
https://docs.pytorch.org/docs/stable/tensor_view.html
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from distml.ops.call import Note
from distml.ops.registry import find_attribute, find_op
from distml.ops.rules.index_parts import parse
from distml.ops.rules.laws import given, of_tensors
from distml.shapes import Dim, Shape, Symbol
from distml.values import NONE, PACKED, Const, Lib, ListRecord, Num, Prim, Ref, Slice, Tensor, Tup

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from distml.ops.call import Call
    from distml.values import Strides, Value

    Law = Callable[[Call, Sequence[Value], Mapping[str, Value], Shape], Strides | None]
    """The strides of a result, from the arguments and its shape."""

CODE = "SHP208"
LAWS: dict[str, Law] = {}
"""The qualified names of functions, methods, attributes and layers, and where the elements lie that they give."""


def laid_out(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> Any:
    """What a rule gave, with what is known of where its elements lie."""
    law = LAWS.get(call.name)
    if law is None:
        return result

    def laid(tensor: Tensor) -> Tensor:
        if tensor.strides is not None or any(tensor is arg for arg in args):
            return tensor
        strides = law(call, args, kwargs, call.facts.shape(tensor.shape))
        return tensor if strides is None else replace(tensor, strides=strides)

    return of_tensors(laid, result)


def strides_of(call: Call, value: Value) -> tuple[Dim, ...] | None:
    """The strides of a tensor in elements, None when unknown."""
    if not isinstance(value, Tensor) or value.strides is None:
        return None
    if value.strides != PACKED:
        return value.strides
    dims = call.facts.shape(value.shape).dims
    return None if dims is None else _packed(call, dims)


def _packed(call: Call, dims: Sequence[Dim]) -> tuple[Dim, ...]:
    strides = [Dim.of(1)]
    for dim in reversed(dims[1:]):
        strides.append(call.small(strides[-1] * dim).at(None))
    return tuple(reversed(strides[: len(dims)]))


def _made(call: Call, shape: Shape, strides: Sequence[Dim]) -> Strides | None:
    """Strides of a result, which may be packed."""
    if shape.dims is None or len(shape.dims) != len(strides):
        return None
    return PACKED if _packed(call, shape.dims) == tuple(strides) else tuple(strides)


def _first(args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    return given(args, kwargs, 0, "input", "self") or NONE


# --- what is made anew -------------------------------------------------------------------


def fresh(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """Packed, whatever it is made of; `memory_format` may ask for another order."""
    return None if "memory_format" in kwargs else PACKED


def contiguous(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """Packed, or the tensor itself where only axes of size 1 are not what they would be."""
    source = _first(args, kwargs)
    if "memory_format" in kwargs or len(args) > 1 or shape.dims is None:
        return None
    strides = strides_of(call, source)
    if strides is None:
        return PACKED if len(shape.dims) < 4 or all(dim.differs(1) for dim in shape.dims[1:]) else None
    pairs = zip(shape.dims, strides, _packed(call, shape.dims), strict=True)
    return tuple(strides) if all(dim == 1 or stride == tight for dim, stride, tight in pairs) else PACKED


def packed(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """Packed where all tensors that it is made of are."""
    values = (*args, *kwargs.values())
    return PACKED if "memory_format" not in kwargs and all(_is_packed(call, each) for each in values) else None


def _is_packed(call: Call, value: Value) -> bool:
    if isinstance(value, Tensor):
        return (value.lib == call.lib and value.strides == PACKED) or value.shape.rank == 0
    if isinstance(value, Tup) or (isinstance(value, Ref) and isinstance(call.world.record(value), ListRecord)):
        items = call.items(value)
        return items is not None and all(_is_packed(call, item) for item in items)
    return isinstance(value, Const | Num | Prim | Lib)


def joined(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """Packed; images and volumes may keep their channels last (torch.channels_last)."""
    return PACKED if shape.rank not in (None, 4, 5) else packed(call, args, kwargs, shape)


def weighted(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """Packed as the input is, unless the weights of a module were laid out in another order."""
    return None if call.world.get(FORMATTED) else packed(call, args, kwargs, shape)


FORMATTED = ("memory format", None)
"""The fact that a module was asked for another memory format: its weights, and what is made with them, may be in any."""


def alike(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """In the order of the first tensor, without its gaps."""
    source = _first(args, kwargs)
    if "memory_format" in kwargs or not isinstance(source, Tensor) or source.strides in (None, PACKED):
        return source.strides if isinstance(source, Tensor) and "memory_format" not in kwargs else None
    dims, strides = call.facts.shape(source.shape).dims, strides_of(call, source)
    return None if dims is None or strides is None else _closed_up(call, shape, dims, strides)


def perhaps_same(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """The tensor itself, or a copy in its order: with gaps in it, it may have them or not."""
    found = alike(call, args, kwargs, shape)
    return found if found == same(call, args, kwargs, shape) else None


def _closed_up(call: Call, shape: Shape, dims: Sequence[Dim], strides: Sequence[Dim]) -> Strides | None:
    """The strides without gaps; None where the order of the axes cannot be told, or elements are there many times."""
    steps = [stride.constant for stride in strides]
    places = [place for place, dim in enumerate(dims) if dim != 1]
    known = [step for step in (steps[place] for place in places) if step]
    if len(known) < len(places):
        return _in_symbols(dims, strides)
    if len(set(known)) < len(known):
        return None
    found, end = [Dim.of(1)] * len(dims), Dim.of(1)
    for place in sorted(places, key=lambda place: steps[place] or 0):
        found[place] = end.at(strides[place].origin)
        end = end * dims[place]
    return _made(call, shape, found)


def _in_symbols(dims: Sequence[Dim], strides: Sequence[Dim]) -> Strides | None:
    """The strides themselves where each axis begins where another one ends."""
    left = [(dim, stride) for dim, stride in zip(dims, strides, strict=True) if dim != 1]
    end = Dim.of(1)
    while left:
        found = next((pair for pair in left if pair[1] == end), None)
        if found is None:
            return None
        left.remove(found)
        end = end * found[0]
    return tuple(strides)


def elementwise(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """In the order that all tensors have, where they have one."""
    values = (*args, *kwargs.values())
    if packed(call, args, kwargs, shape) is not None:
        return PACKED
    tensors = [each for each in values if isinstance(each, Tensor) and not _is_row(each.shape)]
    if not tensors or not all(isinstance(each, Tensor | Const | Num | Prim) for each in values):
        return None
    first = tensors[0]
    one = all(each.strides == first.strides and each.shape == shape for each in tensors)
    return alike(call, (first,), {}, shape) if one else None


def _is_row(shape: Shape) -> bool:
    """Whether a tensor has no two axes, the order of which could decide that of a result."""
    return shape.dims is not None and sum(dim != 1 for dim in shape.dims) < 2


# --- views ----------------------------------------------------------------------------------


def same(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """The same elements."""
    source = _first(args, kwargs)
    return source.strides if isinstance(source, Tensor) else None


def moved(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """A view with its axes in another order: the function itself tells of marks in the place of sizes where each goes."""
    strides = strides_of(call, _first(args, kwargs))
    if strides is None or not args:
        return None
    marks = [Dim.symbol(Symbol("axis", call.world.serial(), 2)) for _ in strides]
    marked = Tensor(call.lib, Shape(tuple(marks)))
    rule = find_op(call.name) or find_attribute(call.name)
    result = None if rule is None else rule(call, marked, *args[1:], **kwargs)
    if not isinstance(result, Tensor) or result.shape.dims is None or not set(result.shape.dims) <= set(marks):
        return None
    return _made(call, shape, [strides[marks.index(dim)].at(None) for dim in result.shape.dims])


def in_order(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """A view with more or fewer axes of size 1."""
    source = _first(args, kwargs)
    strides = strides_of(call, source)
    if strides is None or not isinstance(source, Tensor) or shape.dims is None:
        return None
    old = [(dim, stride) for dim, stride in zip(call.facts.shape(source.shape).head, strides, strict=True) if dim != 1]
    if [dim for dim, _ in old] != [dim for dim in shape.dims if dim != 1]:
        return None
    rest = iter(old)
    return _with_new_axes(call, shape, [None if dim == 1 else next(rest)[1] for dim in shape.dims])


def narrowed(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """A part of a tensor along one of its axes."""
    strides = strides_of(call, _first(args, kwargs))
    return None if strides is None else _made(call, shape, [stride.at(None) for stride in strides])


def dropped(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """A part of a tensor at one place of the axis `dim`."""
    strides = strides_of(call, _first(args, kwargs))
    if strides is None:
        return None
    dim = given(args, kwargs, 1, "dim", "axis") or Const(0)
    axis = call.axis(dim, len(strides))
    return None if axis is None else _made(call, shape, [s.at(None) for i, s in enumerate(strides) if i != axis])


def taken(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """`x[...]`: a view by integers, slices and new axes, and a copy by arrays."""
    source = _first(args, kwargs)
    strides = strides_of(call, source)
    parts = None if strides is None or len(args) < 2 else parse(call, args[1], call.lib)
    kinds = {"unknown"} if parts is None else {part.kind for part in parts}
    if strides is None or parts is None or not kinds <= {"int", "slice", "none", "dots"}:
        return PACKED if _is_packed(call, source) and "unknown" not in kinds else None
    rest = len(strides) - sum(part.axes for part in parts)
    left: list[Dim | None] = list(strides)
    found: list[Dim | None] = []
    for part in parts:
        if part.kind == "none":
            found.append(None)
        elif part.kind == "dots":
            found, left = found + left[:rest], left[rest:]
        elif left:
            stride = left.pop(0)
            step = _step(call, part.value) if part.kind == "slice" else 0
            if step is None or stride is None:
                return None
            found += [stride * step] if step else []
    return _with_new_axes(call, shape, [*found, *left])


def _with_new_axes(call: Call, shape: Shape, strides: Sequence[Dim | None]) -> Strides | None:
    """Strides of which those of new axes are None: they begin where the next one ends."""
    if shape.dims is None or len(strides) != len(shape.dims):
        return None
    found: list[Dim] = []
    end = Dim.of(1)
    for dim, stride in zip(reversed(shape.dims), reversed(strides), strict=True):
        found.append(end if stride is None else stride.at(None))
        end = found[-1] * dim
    return _made(call, shape, found[::-1])


def _step(call: Call, index: Value) -> Dim | int | None:
    if not isinstance(index, Slice) or index.step == NONE:
        return 1
    return call.dim(index.step)


def expanded(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """A view in which an axis of size 1 is there many times."""
    source = _first(args, kwargs)
    strides = strides_of(call, source)
    if strides is None or not isinstance(source, Tensor) or shape.dims is None:
        return None
    old = call.facts.shape(source.shape).head
    found = [Dim.of(0)] * (len(shape.dims) - len(old))
    for before, stride, now in zip(old, strides, shape.dims[len(found) :], strict=True):
        if before != now and before != 1:
            return None
        found.append(stride.at(None) if before == now else Dim.of(0))
    return _made(call, shape, found)


def viewed(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """A view with other axes over the same elements, or a copy of them where there is none."""
    source = _first(args, kwargs)
    if not isinstance(source, Tensor) or source.strides in (None, PACKED):
        return source.strides if isinstance(source, Tensor) else None
    found = _over(call, source, shape)
    if found is not None:
        return _made(call, shape, found)
    return PACKED if gap_in(call, source, shape) is not None else None


def _over(call: Call, source: Tensor, shape: Shape) -> list[Dim] | None:
    """The strides of `shape` over the elements of `source`; None where there are none, or it cannot be told."""
    old, strides = call.facts.shape(source.shape).dims, strides_of(call, source)
    if old is None or strides is None or shape.dims is None:
        return None
    left = [(dim, stride) for dim, stride in zip(old, strides, strict=True) if dim != 1]
    found: list[Dim] = []
    count, base, reach = Dim.of(1), Dim.of(1), Dim.of(1)  # of the axes of the result that lie in one piece
    for dim in reversed(shape.dims):
        if count == reach and dim != 1:
            if not left:
                return None
            size, base = left.pop()
            count, reach = Dim.of(1), size
            while left and left[-1][1] == base * reach:
                reach = reach * left.pop()[0]
        found.append((base * count).at(None))
        count = count * dim
    return list(reversed(found)) if not left and count == reach else None


# --- what cannot be viewed ---------------------------------------------------------------------


def gap_in(call: Call, source: Value, shape: Shape) -> int | None:
    """The first axis of a tensor that does not begin where the next ends, though no axis of `shape` begins there either."""
    strides = strides_of(call, source)
    if strides is None or not isinstance(source, Tensor) or source.strides == PACKED or shape.dims is None:
        return None
    dims = [call.facts.dim(dim) for dim in call.facts.shape(source.shape).head]
    ends = _ends([call.facts.dim(dim) for dim in shape.dims])
    places = [place for place, dim in enumerate(dims) if dim != 1]
    for first, second in pairwise(places):
        apart = call.facts.dim(strides[first]).differs(call.facts.dim(strides[second] * dims[second]))
        if not apart or not dims[first].differs(1) or not dims[second].differs(1):
            continue
        size = _ends(dims[second:])[-1]
        if all(size.differs(end) for end in ends):
            return first
    return None


def _ends(dims: Sequence[Dim]) -> list[Dim]:
    """How many elements lie behind each boundary between axes."""
    found = [Dim.of(1)]
    for dim in reversed(dims):
        found.append(found[-1] * dim)
    return found


def require_forward(call: Call, array: Value) -> None:
    """Fail where PyTorch would have to take elements backwards (torch.from_numpy)."""
    strides = strides_of(call, array) if isinstance(array, Tensor) and array.strides != PACKED else None
    for axis, stride in enumerate(strides or ()):
        ahead = (-call.facts.dim(stride)).low
        if stride != 0 and ahead is not None and ahead >= 0 and call.shape(array).head[axis] != 0:
            call.fail(
                "SHP209",
                f"{call.text}: axis {axis} of {call.show(array)} goes backwards in memory, and tensors cannot",
                *(() if stride.origin is None else (Note("it is reversed here", stride.origin),)),
                hint="copy it before: .copy()",
            )


def require_view(call: Call, source: Value, shape: Shape) -> None:
    """Fail where `view` would have to copy (torch.Tensor.view)."""
    axis = gap_in(call, source, shape)
    if axis is None or not isinstance(source, Tensor) or any(dim == 0 for dim in shape.head):
        return
    strides = strides_of(call, source) or ()
    origin = strides[axis].origin if strides else None
    call.fail(
        CODE,
        f"{call.text}: {call.show(source)} cannot be viewed as {call.show(shape)} without a copy: axis {axis} and the next do"
        " not lie one after the other in memory",
        *(() if origin is None else (Note("its elements lie in this order since here", origin),)),
        hint="use .reshape(...), which copies where it must",
    )
