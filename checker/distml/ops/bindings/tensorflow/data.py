"""tensorflow: tf.data: what one element of a data set is, and how many there are.

https://www.tensorflow.org/api_docs/python/tf/data/Dataset
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.bindings.tensorflow.dtypes import asked_kind
from distml.ops.call import NONE, ShapeError
from distml.ops.registry import layer, op
from distml.ops.rules.axes import replace_axes
from distml.ops.rules.dataset import batch_count, batch_size, last_batch, unlike
from distml.ops.rules.kinds import element_kind
from distml.ops.rules.widths import as_wide
from distml.shapes import Dim
from distml.values import Const, DictRecord, InstanceRecord, Lib, ListRecord, Many, Num, Prim, Ref, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call

NAME = "tensorflow.data.Dataset"
ELEMENT, LENGTH, LAST, SIZES = "__element__", "__length__", "__last__", "__sizes__"
"""What one element is, how many there are; where the last one is unlike the others, what it is, and the sizes of both batches."""


@layer(NAME)
class Dataset:
    """https://www.tensorflow.org/api_docs/python/tf/data/Dataset: made by its own functions only."""

    bases = ()


def element_of(call: Call, dataset: Value) -> Value | None:
    """What one element is; None where it is not known."""
    return (call.attrs(dataset) or {}).get(ELEMENT)


def length_of(call: Call, dataset: Value) -> Dim | None:
    """How many elements there are."""
    found = (call.attrs(dataset) or {}).get(LENGTH)
    return call.dim(found) if isinstance(found, Const | Num) else None


def made(call: Call, element: Value | None, length: Dim | None, last: dict[str, Value] | None = None) -> Value:
    """A data set of such elements, of which the last one may be unlike the others."""
    if element is None:
        return call.unknown("dataset")
    attrs = {ELEMENT: element, LENGTH: Prim("int") if length is None else call.number(length), **(last or {})}
    return call.world.allocate(InstanceRecord(Lib(NAME), attrs))


def mapped(
    call: Call, structure: Value, change: Callable[[Tensor], Value | None], *, lists: bool = False
) -> Value | None:
    """The same tuples and dicts around other tensors; None where one of them is not known.

    A list is a tensor in a dataset; where `lists` is set it is a structure, as in `tf.nest`.
    """
    record = call.world.record(structure) if isinstance(structure, Ref) else None
    whole = call.items(structure) if isinstance(structure, Tup) or (lists and isinstance(record, ListRecord)) else None
    if whole is not None:
        parts = [mapped(call, item, change, lists=lists) for item in whole]
        known = [part for part in parts if part is not None]
        made = Tup(tuple(known)) if isinstance(structure, Tup) else call.list_of(known)
        return made if len(known) == len(parts) else None
    if isinstance(record, DictRecord) and record.exact:
        items = {key: mapped(call, item, change, lists=lists) for key, item in record.items.items()}
        full = {key: item for key, item in items.items() if item is not None}
        return call.world.allocate(DictRecord(full)) if len(full) == len(items) else None
    tensor = None if lists and isinstance(record, ListRecord) else as_tensor(call, structure)
    return None if tensor is None else change(tensor)


def as_tensor(call: Call, value: Value) -> Tensor | None:
    """A value as a tensor of TensorFlow; None where nothing shows what it is."""
    if isinstance(value, Tensor):
        return Tensor("tensorflow", value.shape, value.dtype, width=value.width)
    record = call.world.record(value) if isinstance(value, Ref) else None
    if isinstance(value, Const | Num | Prim | Many) or isinstance(record, ListRecord):
        return Tensor("tensorflow", call.shape(value), element_kind(call, value))
    return None


def alike(call: Call, one: Value, other: Value) -> bool:
    """Whether two structures hold tensors of the same shapes."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return call.facts.shape(one.shape) == call.facts.shape(other.shape)
    ours, theirs = call.items(one), call.items(other)
    if ours is None or theirs is None or len(ours) != len(theirs):
        return False
    return all(alike(call, a, b) for a, b in zip(ours, theirs, strict=True))


@op(f"{NAME}.from_tensor_slices")
def from_tensor_slices(call: Call, tensors: Value, name: Value = NONE) -> Value:
    """An element for each index of the first axes, which are of one length (SHP502)."""
    lengths: list[tuple[Dim, Tensor]] = []

    def row(tensor: Tensor) -> Value | None:
        size = call.facts.axis(tensor.shape, 0)
        if size is None:
            return None
        lengths.append((size, tensor))
        return as_wide(call.tensor(replace_axes(call, tensor.shape, 0, 1, ()), tensor.dtype), tensor)

    element = mapped(call, tensors, row)
    for size, tensor in lengths[1:]:
        first = lengths[0]
        text = (
            f"{call.text}: {call.show(first[1])} and {call.show(tensor)} have different lengths: {{left}} and {{right}}"
        )
        call.require_equal(first[0], size, "SHP502", text)
    return made(call, element, lengths[0][0] if lengths else None)


@op(f"{NAME}.from_tensors")
def from_tensors(call: Call, tensors: Value, name: Value = NONE) -> Value:
    """One element."""
    return made(call, mapped(call, tensors, lambda tensor: tensor), Dim.of(1))


@op(f"{NAME}.range")
def range_(call: Call, *args: Value, **options: Value) -> Value:
    """Numbers, one an element."""
    length = call.dim(args[0]) if len(args) == 1 else None
    return made(call, call.tensor([], "int"), length)


@op(f"{NAME}.zip")
def zipped(call: Call, *args: Value, datasets: Value = NONE, name: Value = NONE) -> Value:
    """Elements side by side."""
    given = args or (datasets,)
    items = call.items(given[0]) if len(given) == 1 else given
    elements = [element_of(call, dataset) for dataset in items or ()]
    known = [element for element in elements if element is not None]
    lengths = [length_of(call, dataset) for dataset in items or ()]
    same = lengths[0] if lengths and all(length == lengths[0] for length in lengths) else None
    return made(call, Tup(tuple(known)) if known and len(known) == len(elements) else None, same)


def _last(call: Call, self: Value, change: Callable[[Value], Value | None]) -> dict[str, Value]:
    """What a change makes of the elements before the last and of the last; nothing where all are alike, or where it fails."""
    attrs = call.attrs(self) or {}
    try:
        changed = [change(each) for each in call.items(attrs.get(LAST, NONE)) or ()]
    except ShapeError:
        return {}
    both = tuple(each for each in changed if each is not None)
    return {LAST: Tup(both), SIZES: attrs[SIZES]} if len(both) == 2 else {}


def _same(call: Call, self: Value) -> Value:
    """The same elements in the same order and number."""
    return made(call, element_of(call, self), length_of(call, self), _last(call, self, lambda last: last))


def _shuffled(call: Call, self: Value) -> Value:
    """The same elements in the same number."""
    return made(call, element_of(call, self), length_of(call, self))


def _fewer(call: Call, self: Value) -> Value:
    """Like elements, in a number that is not known."""
    return made(call, element_of(call, self), None)


def taken(call: Call, self: Value, count: Value) -> Value:
    """At most so many elements."""
    length, asked = length_of(call, self), call.dim(count)
    sizes = [size.constant for size in (length, asked) if size is not None]
    known = [size for size in sizes if size is not None and size >= 0]
    return made(call, element_of(call, self), Dim.of(min(known)) if len(known) == 2 else None)


def batched(call: Call, self: Value, size: Value, drop: Value) -> Value:
    """So many elements on a new first axis; the last batch may be smaller unless it is dropped."""
    length, asked, dropped = length_of(call, self), call.dim(size), call.flag(drop)
    first = batch_size(call, length, asked, dropped)

    def rows(size: Dim) -> Value | None:
        def row(tensor: Tensor) -> Value:
            shape = call.facts.shape(tensor.shape)
            return as_wide(call.tensor(replace_axes(call, shape, 0, 0, (size,)), tensor.dtype), tensor)

        return None if element is None else mapped(call, element, row)

    element, left = element_of(call, self), last_batch(length, asked, dropped)
    last: dict[str, Value] = {}
    if left is not None and asked is not None:
        full, smaller = rows(asked), rows(left)
        if full is not None and smaller is not None:
            last = {LAST: Tup((full, smaller)), SIZES: Tup((call.number(left), call.number(asked)))}
    return made(call, rows(first), batch_count(length, asked, dropped), last)


def padded(call: Call, self: Value, size: Value, shapes: Value, values: Value, drop: Value) -> Value:
    """So many elements on a new first axis, each filled up to the sizes that are asked for, or to those of the longest."""
    element = element_of(call, self)
    if element is None or call.is_none(shapes) is None:
        return call.unknown("dataset")
    asked = None if call.is_none(shapes) else shapes
    full = filled(call, element, asked)
    return batched(call, made(call, full, length_of(call, self)), size, drop)


def filled(call: Call, element: Value, asked: Value | None) -> Value | None:
    """An element whose axes are filled up to the sizes that are asked for."""
    if isinstance(element, Tup):
        wanted = (None,) * len(element.items) if asked is None else call.items(asked)
        if wanted is None or len(wanted) != len(element.items):
            return None
        parts = [filled(call, part, one) for part, one in zip(element.items, wanted, strict=True)]
        known = [part for part in parts if part is not None]
        return Tup(tuple(known)) if len(known) == len(parts) else None
    sizes = None if asked is None else call.items(asked)
    tensor = as_tensor(call, element)
    if tensor is None or (asked is not None and sizes is None):
        return None
    shape = (
        call.facts.shape(tensor.shape) if sizes is None else call.of_rank(tensor.shape, len(sizes), what="an element")
    )
    dims = [_longest(call, dim, None if sizes is None else sizes[at]) for at, dim in enumerate(shape.dims or ())]
    return as_wide(call.tensor(dims, tensor.dtype), tensor) if shape.dims is not None else None


def _longest(call: Call, dim: Dim, asked: Value | None) -> Dim:
    """The size of a filled axis: what is asked for, else that of all elements if it is one, else some number."""
    wanted = None if asked is None or call.is_none(asked) is not False else call.dim(asked)
    if wanted is not None and wanted.constant is not None and wanted.constant >= 0:
        return wanted
    return dim if dim.constant is not None else call.symbol("longest", 1)


def handed(call: Call, function: Value, element: Value) -> Value:
    """What a function gives for an element, whose parts are its arguments."""
    return call.apply(function, *(element.items if isinstance(element, Tup) else (element,)))


def windowed(call: Call, self: Value, size: Value, drop: Value) -> Value:
    """A data set of data sets of so many elements; the last ones may be shorter unless they are dropped."""
    element = element_of(call, self)
    if element is None:
        return call.unknown("dataset")
    length = call.dim(size) if call.flag(drop) else None
    if isinstance(element, Tup):
        return made(call, Tup(tuple(made(call, part, length) for part in element.items)), None)
    return made(call, made(call, element, length), None)


def flattened(call: Call, self: Value, function: Value) -> Value:
    """The elements of the data sets that a function makes of each element."""
    element = element_of(call, self)
    if element is None:
        return call.unknown("dataset")
    inner = handed(call, function, element)
    return made(call, element_of(call, inner), None)


@layer("tensorflow.TensorSpec")
class TensorSpec:
    """https://www.tensorflow.org/api_docs/python/tf/TensorSpec"""

    bases = ()

    @staticmethod
    def init(call: Call, shape: Value, dtype: Value = NONE, name: Value = NONE) -> dict[str, Value]:
        """What it says."""
        return {"shape": shape, "dtype": dtype}


def from_generator(call: Call, types: Value, shapes: Value, signature: Value) -> Value:
    """Elements as the signature, or types and shapes, say; in a number that is not known."""
    if call.is_none(signature) is False:
        return made(call, specified(call, signature), None)
    return made(call, None if call.is_none(types) is not False else _typed(call, types, shapes), None)


def _typed(call: Call, types: Value, shapes: Value) -> Value | None:
    """Tensors of these types and shapes; of any shape for None."""
    if isinstance(types, Tup):
        given = (NONE,) * len(types.items) if call.is_none(shapes) else call.items(shapes)
        if given is None or len(given) != len(types.items):
            return None
        parts = [_typed(call, one, shape) for one, shape in zip(types.items, given, strict=True)]
        known = [part for part in parts if part is not None]
        return Tup(tuple(known)) if len(known) == len(parts) else None
    kind = asked_kind(call, types, None)
    return None if kind is None else _sized(call, shapes, kind)


def _sized(call: Call, shape: Value, kind: str | None) -> Value:
    """A tensor of a shape in which None stands for any size."""
    sizes = call.items(shape)
    if sizes is None:
        return call.unranked(kind)
    dims = [call.symbol("size") if call.is_none(size) is not False else call.dim(size) for size in sizes]
    return call.tensor(dims, kind)


def specified(call: Call, spec: Value) -> Value | None:
    """The tensor, or tuple of tensors, that a `TensorSpec` or a tuple of them stands for; None where that is not known."""
    record = call.world.record(spec) if isinstance(spec, Ref) else None
    if isinstance(record, InstanceRecord) and record.cls == Lib("tensorflow.TensorSpec"):
        return _sized(call, record.attrs["shape"], asked_kind(call, record.attrs["dtype"], "float"))
    items = call.items(spec) if isinstance(spec, Tup) else None
    parts = [specified(call, item) for item in items or ()]
    known = [part for part in parts if part is not None]
    return Tup(tuple(known)) if known and len(known) == len(parts) else None


def unbatched(call: Call, self: Value) -> Value:
    """The rows of each element."""
    element = element_of(call, self)

    def row(tensor: Tensor) -> Value | None:
        return as_wide(call.tensor(replace_axes(call, tensor.shape, 0, 1, ()), tensor.dtype), tensor)

    return made(call, None if element is None else mapped(call, element, row), None)


def applied(call: Call, self: Value, function: Value) -> Value:
    """What a function makes of each element; a tuple is given to it item by item."""
    element = element_of(call, self)
    if element is None:
        return call.unknown("dataset")

    def change(element: Value) -> Value | None:
        result = handed(call, function, element)
        items = call.items(result) if isinstance(result, Tup) else None
        return mapped(call, Tup(items) if items is not None else result, lambda tensor: tensor)

    changed = change(element)
    return made(call, changed, length_of(call, self), _last(call, self, change))


def filtered(call: Call, self: Value, predicate: Value) -> Value:
    """Some of the elements."""
    element = element_of(call, self)
    if element is not None:
        try:
            handed(call, predicate, element)
        except ShapeError:
            return call.unknown("dataset")
    return _fewer(call, self)


_ROOT = f"{NAME}."
bind(_same, "self -buffer_size=None -name=None", f"{_ROOT}prefetch")
bind(_shuffled, "self -buffer_size=None -seed=None -reshuffle_each_iteration=None -name=None", f"{_ROOT}shuffle")
bind(_same, "self -filename='' -name=None", f"{_ROOT}cache")
bind(_same, "self -options -name=None", f"{_ROOT}with_options")
bind(_fewer, "self -count=None -name=None", f"{_ROOT}repeat")
bind(_fewer, "self -count -name=None", f"{_ROOT}skip")
bind(_fewer, "self -num_shards -index -name=None", f"{_ROOT}shard")
bind(taken, "self count -name=None", f"{_ROOT}take")
bind(
    batched,
    "self batch_size drop_remainder=False -num_parallel_calls=None -deterministic=None -name=None",
    f"{_ROOT}batch",
)
bind(
    padded,
    "self batch_size padded_shapes=None padding_values=None drop_remainder=False -name=None",
    f"{_ROOT}padded_batch",
)
bind(windowed, "self size -shift=None -stride=1 drop_remainder=False -name=None", f"{_ROOT}window")
bind(flattened, "self map_func -name=None", f"{_ROOT}flat_map")
bind(
    flattened,
    "self map_func -cycle_length=None -block_length=None -num_parallel_calls=None -deterministic=None -name=None",
    f"{_ROOT}interleave",
)
bind(
    from_generator,
    "-generator output_types=None output_shapes=None -args=None output_signature=None -name=None",
    f"{_ROOT}from_generator",
)
bind(unbatched, "self -name=None", f"{_ROOT}unbatch")
bind(applied, "self map_func -num_parallel_calls=None -deterministic=None -name=None", f"{_ROOT}map")
bind(filtered, "self predicate -name=None", f"{_ROOT}filter")


@op(f"{NAME}.__iter__", f"{NAME}.as_numpy_iterator")
def iterate(call: Call, self: Value) -> Value:
    """The elements, all of them alike."""

    def given(element: Value) -> Value | None:
        if not call.name.endswith("numpy_iterator"):
            return element
        return mapped(call, element, lambda tensor: Tensor("numpy", tensor.shape, tensor.dtype))

    element, found = element_of(call, self), _last(call, self, given)
    item = None if element is None else given(element)
    last = None
    if found:
        left, size = (call.dim(each) for each in call.items(found[SIZES]) or (NONE, NONE))
        before, smaller = call.items(found[LAST]) or (NONE, NONE)
        last = None if left is None else unlike(smaller, before, left, size, "drop_remainder")
    return Many(call.unknown("element") if item is None else item, "iterator", length_of(call, self), last=last)


@op(f"{NAME}.__len__", f"{NAME}.cardinality")
def length(call: Call, self: Value) -> Value:
    """How many there are."""
    found = length_of(call, self)
    return Prim("int") if found is None else call.number(found)
