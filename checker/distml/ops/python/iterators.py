"""The module `itertools`."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from distml.ops.call import FALSE, NONE, ONE, UNKNOWN, ZERO, Call
from distml.ops.python.arithmetic import operate
from distml.ops.python.folding import MAX_ITEMS
from distml.ops.python.iterating import (
    ENDLESS,
    drawn,
    few,
    item_of,
    iterate,
    iterator,
    next_of,
    side_by_side,
    sort_keys,
)
from distml.ops.python.likeness import either, low_of
from distml.ops.python.sequences import filtered, mapped, zipped
from distml.ops.registry import op
from distml.values import Const, IteratorRecord, Many, Num, Ref, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from distml.shapes import Dim


def _known(call: Call, rows: Iterable[Sequence[Value]]) -> Value | None:
    """An iterator over tuples, unless they are too many."""
    found = [Tup(tuple(row)) for row in itertools.islice(rows, MAX_ITEMS + 1)]
    return iterator(call, found) if len(found) <= MAX_ITEMS else None


@op("itertools.chain")
def chain(call: Call, *iterables: Value) -> Value:
    """itertools.chain(*iterables): https://docs.python.org/3/library/itertools.html#itertools.chain"""
    return _chained(call, [drawn(call, value) for value in iterables])


@op("itertools.chain.from_iterable")
def from_iterable(call: Call, iterable: Value, /) -> Value:
    """chain.from_iterable(iterable): https://docs.python.org/3/library/itertools.html#itertools.chain.from_iterable"""
    values = drawn(call, iterable)
    if isinstance(values, Many):
        inner = drawn(call, item_of(call, values) or values.item)
        item = item_of(call, inner)
        return iterator(call, Many(call.unknown("item") if item is None else item))
    return _chained(call, [drawn(call, value) for value in values])


def _chained(call: Call, parts: Sequence[tuple[Value, ...] | Many]) -> Value:
    known = [part for part in parts if isinstance(part, tuple)]
    if len(known) == len(parts) and sum(map(len, known)) <= MAX_ITEMS:
        return iterator(call, [value for part in known for value in part])
    items = [item_of(call, part) for part in parts]
    length = _sum_of_lengths(parts)
    return iterator(call, Many(either(call, [item for item in items if item is not None]), "iterable", length))


def _sum_of_lengths(parts: Sequence[tuple[Value, ...] | Many]) -> Dim | None:
    total: Any = 0
    for part in parts:
        length = part.length if isinstance(part, Many) else len(part)
        if length is None:
            return None
        total = length + total
    return None if isinstance(total, int) else total


@op("itertools.product")
def product(call: Call, *iterables: Value, repeat: Value = ONE) -> Value:
    """itertools.product(*iterables): https://docs.python.org/3/library/itertools.html#itertools.product"""
    times = call.const(repeat, int)
    parts = [drawn(call, value) for value in iterables]
    known = [part for part in parts if isinstance(part, tuple)]
    if times is not UNKNOWN and 0 <= times <= 12 and len(known) == len(parts):
        found = _known(call, itertools.product(*known, repeat=times))
        if found is not None:
            return found
    return _rows_of(call, parts, 1 if times is UNKNOWN else times, exact=times is not UNKNOWN)


def _rows_of(call: Call, parts: Sequence[tuple[Value, ...] | Many], times: int, *, exact: bool) -> Value:
    items = [item_of(call, part) for part in parts] * min(max(times, 0), 12)
    known = [item for item in items if item is not None]
    if not exact or len(known) < len(items) or times > 12:
        return iterator(call, Many(call.unknown("item")))
    return iterator(call, Many(Tup(tuple(known))))


def _selections(call: Call, iterable: Value, r: Value, choose: Callable[..., Iterable[Any]]) -> Value:
    values = drawn(call, iterable)
    count = call.const(r, int)
    if isinstance(values, tuple) and count is not UNKNOWN and 0 <= count <= 64:
        found = _known(call, choose(values, count))
        if found is not None:
            return found
    if count is UNKNOWN or not 0 <= count <= 64:
        return iterator(call, Many(call.unknown("item")))
    items = [item_of(call, values) for _ in range(count)]
    return iterator(call, Many(Tup(tuple(item for item in items if item is not None))))


@op("itertools.combinations")
def combinations(call: Call, iterable: Value, r: Value) -> Value:
    """itertools.combinations(iterable, r): https://docs.python.org/3/library/itertools.html#itertools.combinations"""
    return _selections(call, iterable, r, itertools.combinations)


@op("itertools.combinations_with_replacement")
def with_replacement(call: Call, iterable: Value, r: Value) -> Value:
    """combinations_with_replacement: https://docs.python.org/3/library/itertools.html"""
    return _selections(call, iterable, r, itertools.combinations_with_replacement)


@op("itertools.permutations")
def permutations(call: Call, iterable: Value, r: Value = NONE) -> Value:
    """itertools.permutations(iterable, r): https://docs.python.org/3/library/itertools.html#itertools.permutations"""
    values = drawn(call, iterable)
    if r == NONE and isinstance(values, tuple):
        found = _known(call, itertools.permutations(values)) if len(values) <= 7 else None
        item = either(call, values) if values else NONE
        return found or iterator(call, Many(Tup((item,) * len(values))))
    if isinstance(values, tuple):
        return _selections(call, Tup(values), r, itertools.permutations)
    return iterator(call, Many(call.unknown("item")))


@op("itertools.count")
def count(call: Call, start: Value = ZERO, step: Value = ONE) -> Value:
    """itertools.count(start, step): https://docs.python.org/3/library/itertools.html#itertools.count"""
    first, by = call.dim(start), low_of(call, step)
    if first is None:
        return iterator(call, Many(call.unknown("i"), ENDLESS))
    low = first.low if by is not None and by >= 0 else None
    return iterator(call, Many(Num(call.symbol("i", low)), ENDLESS))


@op("itertools.cycle")
def cycle(call: Call, iterable: Value, /) -> Value:
    """itertools.cycle(iterable): https://docs.python.org/3/library/itertools.html#itertools.cycle"""
    values = drawn(call, iterable)
    item = values.item if isinstance(values, Many) else item_of(call, values)
    if item is None:
        return iterator(call, ())
    if isinstance(values, Many):
        # Of nothing, nothing comes: it is endless only if there is an item.
        some = values.length is not None and (values.length.low or 0) > 0
        return iterator(call, Many(item, ENDLESS if some else "iterable", None, values.same))
    return iterator(call, Many(item, ENDLESS, None, len(set(values)) == 1))


@op("itertools.repeat")
def repeat(call: Call, object: Value, times: Value | None = None) -> Value:
    """itertools.repeat(object, times): https://docs.python.org/3/library/itertools.html#itertools.repeat"""
    if times is None:
        return iterator(call, Many(object, ENDLESS, None, True))
    number = call.const(times, int)
    if number is not UNKNOWN and number <= MAX_ITEMS:
        return iterator(call, (object,) * number)
    length = call.dim(times)
    positive = length is not None and length.low is not None and length.low >= 0
    return iterator(call, Many(object, "iterable", length if positive else None, True))


@op("itertools.islice")
def islice(call: Call, iterable: Value, *bounds: Value) -> Value:
    """itertools.islice(iterable, stop): https://docs.python.org/3/library/itertools.html#itertools.islice"""
    limits = [None if bound == NONE else call.const(bound, int) for bound in bounds]
    known = UNKNOWN not in limits and all(limit is None or 0 <= limit <= MAX_ITEMS for limit in limits)
    record = call.world.record(iterable) if isinstance(iterable, Ref) else None
    if isinstance(record, IteratorRecord) and isinstance(iterable, Ref) and len(limits) == 1 and known:
        taken = _taken(call, iterable, limits[0])
        if taken is not None:
            return iterator(call, taken)
    values = drawn(call, iterable)
    if isinstance(values, tuple) and known:
        return iterator(call, list(itertools.islice(values, *limits)))
    item = item_of(call, values)
    return iterator(call, () if item is None else Many(item))


def _taken(call: Call, ref: Ref, stop: int | None) -> list[Value] | None:
    """The first items of an iterator, which moves on; None when their number is not known."""
    record = call.world.record(ref)
    if stop is None or not isinstance(record, IteratorRecord) or not (record.endless or record.items is not None):
        return None
    taken: list[Value] = []
    while len(taken) < stop and isinstance(record, IteratorRecord):
        item = next_of(call, ref, record)
        if item is None:
            break
        taken.append(item)
        record = call.world.record(ref)
    return taken


@op("itertools.accumulate")
def accumulate(call: Call, iterable: Value, func: Value = NONE, *, initial: Value = NONE) -> Value:
    """itertools.accumulate(iterable, func): https://docs.python.org/3/library/itertools.html#itertools.accumulate"""
    values = few(call, drawn(call, iterable))
    if isinstance(values, Many):
        return iterator(call, Many(call.unknown("item"), values.kind))
    found = [] if initial == NONE else [initial]
    for value in values:
        if not found:
            found.append(value)
        elif func == NONE:
            found.append(operate(call, "+", found[-1], value))
        else:
            found.append(call.apply(func, found[-1], value))
    return iterator(call, found)


@op("itertools.zip_longest")
def zip_longest(call: Call, *iterables: Value, fillvalue: Value = NONE) -> Value:
    """itertools.zip_longest(*iterables): https://docs.python.org/3/library/itertools.html#itertools.zip_longest"""
    parts = side_by_side(call, iterables)
    known = [part for part in parts if isinstance(part, tuple)]
    if len(known) == len(parts):
        return iterator(call, [Tup(row) for row in itertools.zip_longest(*known, fillvalue=fillvalue)])
    items = [item_of(call, part) for part in parts]
    columns = [fillvalue if item is None else either(call, [item, fillvalue]) for item in items]
    return iterator(call, Many(Tup(tuple(columns))))


@op("itertools.starmap")
def starmap(call: Call, function: Value, iterable: Value, /) -> Value:
    """itertools.starmap(function, iterable): https://docs.python.org/3/library/itertools.html#itertools.starmap"""
    return mapped(call, function, drawn(call, iterable), spread=True)


@op("itertools.filterfalse")
def filterfalse(call: Call, predicate: Value, iterable: Value, /) -> Value:
    """itertools.filterfalse(predicate, iterable): https://docs.python.org/3/library/itertools.html"""
    return filtered(call, predicate, drawn(call, iterable), wanted=False)


@op("itertools.takewhile")
def takewhile(call: Call, predicate: Value, iterable: Value, /) -> Value:
    """itertools.takewhile(predicate, iterable): https://docs.python.org/3/library/itertools.html#itertools.takewhile"""
    return _run(call, predicate, few(call, drawn(call, iterable)), take=True)


@op("itertools.dropwhile")
def dropwhile(call: Call, predicate: Value, iterable: Value, /) -> Value:
    """itertools.dropwhile(predicate, iterable): https://docs.python.org/3/library/itertools.html#itertools.dropwhile"""
    return _run(call, predicate, few(call, drawn(call, iterable)), take=False)


def _run(call: Call, predicate: Value, values: tuple[Value, ...] | Many, *, take: bool) -> Value:
    if isinstance(values, tuple):
        for position, value in enumerate(values):
            truth = call.world.truth(call.apply(predicate, value))
            if truth is False:
                return iterator(call, values[:position] if take else values[position:])
            if truth is None:
                return iterator(call, Many(either(call, values)))
        return iterator(call, values if take else ())
    return iterator(call, Many(values.item, "iterable", None, values.same))


@op("itertools.compress")
def compress(call: Call, data: Value, selectors: Value) -> Value:
    """itertools.compress(data, selectors): https://docs.python.org/3/library/itertools.html#itertools.compress"""
    rows = iterate(call, zipped(call, [drawn(call, data), drawn(call, selectors)]))
    if isinstance(rows, Many):
        return iterator(call, Many(call.unknown("item")))
    pairs = [row.items for row in rows if isinstance(row, Tup)]
    truths = [call.world.truth(pair[1]) for pair in pairs]
    if None in truths:
        return iterator(call, Many(either(call, [pair[0] for pair in pairs])))
    return iterator(call, [pair[0] for pair, truth in zip(pairs, truths, strict=True) if truth])


@op("itertools.pairwise")
def pairwise(call: Call, iterable: Value, /) -> Value:
    """itertools.pairwise(iterable): https://docs.python.org/3/library/itertools.html#itertools.pairwise"""
    values = drawn(call, iterable)
    if isinstance(values, tuple):
        return iterator(call, [Tup(pair) for pair in itertools.pairwise(values)])
    items = [item_of(call, values) or values.item for _ in range(2)]
    return iterator(call, Many(Tup(tuple(items)), values.kind))


@op("itertools.batched")
def batched(call: Call, iterable: Value, n: Value, *, strict: Value = FALSE) -> Value:
    """itertools.batched(iterable, n): https://docs.python.org/3/library/itertools.html#itertools.batched"""
    values = drawn(call, iterable)
    size = call.const(n, int)
    if isinstance(values, tuple) and size is not UNKNOWN and size > 0:
        starts = range(0, len(values), size)
        return iterator(call, [Tup(values[start : start + size]) for start in starts])
    item = item_of(call, values)
    return iterator(call, () if item is None else Many(Many(item, "tuple")))


@op("itertools.tee")
def tee(call: Call, iterable: Value, n: Value = Const(2), /) -> Value:
    """itertools.tee(iterable, n): https://docs.python.org/3/library/itertools.html#itertools.tee"""
    values = drawn(call, iterable)
    times = call.const(n, int)
    if times is UNKNOWN or not 0 <= times <= 16:
        return call.unknown()
    return Tup(tuple(iterator(call, values) for _ in range(times)))


@op("itertools.groupby")
def groupby(call: Call, iterable: Value, key: Value = NONE) -> Value:
    """itertools.groupby(iterable, key): https://docs.python.org/3/library/itertools.html#itertools.groupby"""
    values = drawn(call, iterable)
    sort_keys(call, key, values)
    item = item_of(call, values)
    if item is None:
        return iterator(call, ())
    return iterator(call, Many(Tup((call.unknown("key"), Many(item)))))
