"""einops: rearrange, reduce, repeat, einsum, pack, unpack.

https://einops.rocks/api/rearrange/ and the pages beside it.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from distml.ops.call import UNKNOWN, Call
from distml.ops.einops.matching import Match
from distml.ops.einops.pattern import MalformedError, Side, parse_side, read_side
from distml.ops.registry import op
from distml.ops.rules import einsum as sums
from distml.ops.rules.counts import divide
from distml.ops.rules.join import parts_of, stack
from distml.ops.rules.kinds import counted, if_float
from distml.shapes import Dim, Shape
from distml.values import Const, DictRecord, Ref, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable


def made(call: Call, source: Value, shape: Shape) -> Tensor:
    """A tensor of the library and element kind of `source`."""
    items = call.items(source) if not isinstance(source, Tensor) else None
    first = items[0] if items else source
    lib = first.lib if isinstance(first, Tensor) else "array"
    return call.tensor(shape, call.dtype(first), lib)


def input_shape(call: Call, tensor: Value) -> Shape:
    """The shape of a tensor, or of a list of tensors, which count as stacked."""
    if isinstance(tensor, Ref | Tup):
        return stack(call, parts_of(call, tensor), Const(0))
    return call.shape(tensor)


def _unknown(call: Call, tensor: Value) -> Value:
    return made(call, tensor, call.facts.unknown_shape())


@op("einops.rearrange", "einops.einops.rearrange")
def rearrange(call: Call, tensor: Value, pattern: Value, **axes_lengths: Value) -> Value:
    """einops.rearrange(tensor, pattern, **axes_lengths)"""
    text = call.const(pattern, str)
    if text is UNKNOWN:
        return _unknown(call, tensor)
    match = Match(call, text, axes_lengths)
    one_sided = sorted({*match.left.names} ^ {*match.right.names})
    if one_sided:
        match.fail(f"{', '.join(one_sided)} on one side only")
    if match.left.numbers or match.right.numbers:
        match.fail("a number other than 1 stands for no axis here")
    match.read(input_shape(call, tensor))
    return made(call, tensor, match.write(match.right))


_REDUCED: dict[str, Callable[[str | None], str | None]] = {
    **dict.fromkeys(("min", "max"), lambda kind: kind),
    "sum": counted,
    **dict.fromkeys(("any", "all"), lambda kind: "bool"),
}
"""A reduction, and the kind that it gives of a kind; of others it is known for floats."""


@op("einops.reduce", "einops.einops.reduce")
def reduce(call: Call, tensor: Value, pattern: Value, reduction: Value, **axes_lengths: Value) -> Value:
    """einops.reduce(tensor, pattern, reduction, **axes_lengths): a reduction may also be `rearrange` or `repeat`"""
    kind = call.const(reduction)
    if kind in ("rearrange", "repeat"):
        return (rearrange if kind == "rearrange" else repeat)(call, tensor, pattern, **axes_lengths)
    text = call.const(pattern, str)
    if text is UNKNOWN:
        return _unknown(call, tensor)
    match = Match(call, text, axes_lengths)
    extra = sorted({*match.right.names} - {*match.left.names})
    if extra and kind is UNKNOWN:
        return _unknown(call, tensor)  # a function reduces; a text that is not known may say `repeat`
    if extra:
        match.fail(f"{', '.join(extra)} on the right only")
    match.read(input_shape(call, tensor))
    result = made(call, tensor, match.write(match.right))
    told = _REDUCED.get(kind, if_float) if isinstance(kind, str) else if_float
    return call.tensor(result.shape, told(result.dtype), result.lib)


@op("einops.repeat", "einops.einops.repeat")
def repeat(call: Call, tensor: Value, pattern: Value, **axes_lengths: Value) -> Value:
    """einops.repeat(tensor, pattern, **axes_lengths)"""
    text = call.const(pattern, str)
    if text is UNKNOWN:
        return _unknown(call, tensor)
    match = Match(call, text, axes_lengths)
    lost = sorted({*match.left.names} - {*match.right.names})
    if lost:
        match.fail(f"{', '.join(lost)} on the left only")
    unsized = sorted({*match.right.names} - {*match.left.names} - {*axes_lengths})
    if unsized:
        match.fail(f"no size is given for {', '.join(unsized)}", hint=f"add {unsized[0]}=...")
    match.read(input_shape(call, tensor))
    return made(call, tensor, match.write(match.right))


@op("einops.einsum", "einops.einops.einsum")
def einsum(call: Call, *tensors_and_pattern: Value) -> Value:
    """einops.einsum(tensor, ..., pattern): einsum with names of any length"""
    *tensors, pattern = tensors_and_pattern
    text = call.const(pattern, str)
    if text is UNKNOWN or not tensors:
        return call.unranked()
    try:
        left, right = _sum_sides(text)
    except MalformedError as wrong:
        call.fail("SHP207", f"{call.text}: '{text}': {wrong}")
    if len(left) != len(tensors):
        call.fail("SHP207", f"{call.text}: '{text}' names {len(left)} tensors, gets {len(tensors)}")
    shape = sums.contract(call, f"'{text}'", left, [call.shape(t) for t in tensors], right)
    return made(call, tensors[0], shape)


def _sum_sides(text: str) -> tuple[list[sums.Labels], sums.Labels]:
    left, arrow, right = text.partition("->")
    if not arrow:
        raise MalformedError("einsum needs '->'")
    return [_labels(read_side(side)) for side in left.split(",")], _labels(parse_side(right))


def _labels(side: Side) -> sums.Labels:
    if any(len(group) != 1 for group in side.groups):
        raise MalformedError("no parentheses in einsum")
    names = tuple(group[0] for i, group in enumerate(side.groups) if i != side.at)
    return sums.Labels(names, side.at)


@op("einops.parse_shape", "einops.einops.parse_shape")
def parse_shape(call: Call, x: Value, pattern: Value) -> Value:
    """einops.parse_shape(x, pattern): the sizes by name, without those named `_`"""
    text = call.const(pattern, str)
    if text is UNKNOWN:
        return call.unknown()
    names = text.split()
    shape = call.facts.of_rank(call.shape(x), len(names), tuple(names)) if "..." not in names else None
    if shape is None and "..." not in names:
        call.fail("SHP207", f"{call.text}: '{text}' is {len(names)} axes, the tensor is {call.show(x)}")
    if shape is None:
        return call.unknown()
    sizes: dict[Value, Value] = {Const(n): call.number(d) for n, d in zip(names, shape.head, strict=True) if n != "_"}
    return call.world.allocate(DictRecord(sizes))


@op("einops.asnumpy")
def asnumpy(call: Call, tensor: Value) -> Value:
    """einops.asnumpy(tensor)"""
    return call.tensor(call.shape(tensor), call.dtype(tensor), "numpy")


@op("einops.pack", "einops.packing.pack")
def pack(call: Call, tensors: Value, pattern: Value) -> Value:
    """einops.pack(tensors, pattern): the axes under `*` made one, then joined along it"""
    text, items = call.const(pattern, str), call.items(tensors)
    if text is UNKNOWN or items is None or "*" not in text.split():
        return Tup((_unknown(call, tensors), call.unknown()))
    front, behind = _around_star(text)
    total, fixed = Dim.of(0), [None] * (front + behind)
    shapes: list[Value] = []
    sizes: list[Dim | None] = [*fixed]
    for item in items:
        shape = call.shape(item)
        if call.facts.at_least(shape, front + behind) is None:
            call.fail("SHP207", f"{call.text}: '{text}' needs at least {front + behind} axes, gets {call.show(shape)}")
        dims = call.facts.shape(shape).dims
        if dims is None:
            return Tup((_ranked(call, items[0], front + 1 + behind), call.unknown()))
        inside = dims[front : len(dims) - behind]
        total = total + prod(inside, start=Dim.of(1))
        shapes.append(Tup(tuple(call.number(d) for d in inside), "size"))
        sizes = _agreed(call, text, sizes, dims[:front] + dims[len(dims) - behind :])
    packed = [d if d is not None else call.symbol("size") for d in sizes]
    result = Shape((*packed[:front], call.small(total), *packed[front:]))
    return Tup((made(call, items[0], result), call.list_of(shapes)))


def _ranked(call: Call, source: Value, rank: int) -> Value:
    return made(call, source, Shape(tuple(call.symbol("size") for _ in range(rank))))


def _around_star(text: str) -> tuple[int, int]:
    names = text.split()
    front = names.index("*")
    return front, len(names) - front - 1


def _agreed(call: Call, text: str, sizes: list[Dim | None], dims: tuple[Dim, ...]) -> list[Dim | None]:
    for size, dim in zip(sizes, dims, strict=True):
        call.require_equal(
            size,
            dim,
            "SHP207",
            f"{call.text}: '{text}': the tensors differ, {{left}} and {{right}}",
        )
    return list(dims)


@op("einops.unpack", "einops.packing.unpack")
def unpack(call: Call, tensor: Value, packed_shapes: Value, pattern: Value) -> Value:
    """einops.unpack(tensor, packed_shapes, pattern): what `pack` joined, taken apart"""
    text, listed = call.const(pattern, str), call.items(packed_shapes)
    if text is UNKNOWN or listed is None or "*" not in text.split():
        return call.unknown()
    front, behind = _around_star(text)
    shape = call.facts.of_rank(call.shape(tensor), front + 1 + behind)
    if shape is None:
        call.fail("SHP207", f"{call.text}: '{text}' is {front + 1 + behind} axes, the tensor is {call.show(tensor)}")
    groups = [call.sizes(value) for value in listed]
    filled = _filled(call, text, shape.head[front], groups)
    head, tail = shape.head[:front], shape.head[front + 1 :]
    return call.list_of(
        [
            _unknown(call, tensor) if group is None else made(call, tensor, Shape(head + group + tail))
            for group in filled
        ]
    )


def _filled(
    call: Call, text: str, total: Dim, groups: list[tuple[Dim | None, ...] | None]
) -> list[tuple[Dim, ...] | None]:
    """The shapes with unknown sizes made symbols; a single -1 gets what the others leave."""
    known = [g for g in groups if g is not None and None not in g and -1 not in g]
    counts = [prod((d for d in g if d is not None), start=Dim.of(1)) for g in known]
    left = total - sum(counts, Dim.of(0))
    if len(known) == len(groups):
        call.require_equal(
            total,
            sum(counts, Dim.of(0)),
            "SHP207",
            f"{call.text}: '{text}': the parts need {{right}} elements, the axis has {{left}}",
        )
    single = len(known) == len(groups) - 1
    return [None if g is None else _one_filled(call, g, left if single else None) for g in groups]


def _one_filled(call: Call, group: tuple[Dim | None, ...], left: Dim | None) -> tuple[Dim, ...]:
    rest = prod((d for d in group if d is not None and d != -1), start=Dim.of(1))
    gap = None if left is None or None in group else divide(left, rest)
    fresh = gap if gap is not None else call.symbol("size")
    return tuple(fresh if d == -1 else call.symbol("size") if d is None else d for d in group)
