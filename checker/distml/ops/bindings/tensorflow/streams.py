"""tensorflow: tf.data: data sets that carry a state, and those that are made of others.

https://www.tensorflow.org/api_docs/python/tf/data/Dataset
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.bindings.tensorflow.data import NAME, alike, element_of, filled, filtered, length_of, made, mapped
from distml.ops.rules.widths import as_wide
from distml.values import Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


def scanned(call: Call, self: Value, state: Value, function: Value) -> Value:
    """What a function gives besides the next state, which is like the one before."""
    begun, element = _tensors(call, state), element_of(call, self)
    pair = None if begun is None or element is None else call.items(call.apply(function, begun, element))
    if begun is None or pair is None or len(pair) != 2:
        return call.unknown("dataset")
    after = _tensors(call, pair[0])
    kept = after is not None and alike(call, begun, after)
    return made(call, _tensors(call, pair[1]) if kept else None, length_of(call, self))


def reduced(call: Call, self: Value, state: Value, function: Value) -> Value:
    """The state behind all elements, which is like the first."""
    begun, element = _tensors(call, state), element_of(call, self)
    if begun is None or element is None:
        return call.unknown()
    after = _tensors(call, call.apply(function, begun, element))
    return begun if after is not None and alike(call, begun, after) else call.unknown()


def numbered(call: Call, self: Value) -> Value:
    """Each element behind its number."""
    element = element_of(call, self)
    return made(call, None if element is None else Tup((call.tensor([], "int"), element)), length_of(call, self))


def joined(call: Call, self: Value, other: Value) -> Value:
    """One data set behind another: elements of which kind, where both have the same."""
    return _one_of(call, (self, other))


def drawn(call: Call, datasets: Value) -> Value:
    """Elements of several data sets, in some order."""
    return _one_of(call, call.items(datasets) or ())


def _one_of(call: Call, datasets: tuple[Value, ...]) -> Value:
    elements = [element_of(call, each) for each in datasets]
    first = elements[0] if elements else None
    same = first is not None and all(each is not None and alike(call, first, each) for each in elements)
    return made(call, first if same else None, None)


def grouped(call: Call, self: Value, reduce: Value) -> Value:
    """The elements of what a function makes of a key and a data set of the elements that have it."""
    element = element_of(call, self)
    if element is None:
        return call.unknown("dataset")
    inner = call.apply(reduce, call.tensor([], "int"), made(call, element, None))
    return made(call, element_of(call, inner), None)


def bucketed(call: Call, self: Value, shapes: Value, ragged: Value) -> Value:
    """Batches of elements that are about as long as each other, filled up."""
    element = element_of(call, self)
    if element is None or call.flag(ragged) is not False:
        return call.unknown("dataset")
    full = filled(call, element, None if call.is_none(shapes) is not False else shapes)
    batch = call.symbol("batch", 1)

    def rows(tensor: Tensor) -> Value:
        return as_wide(call.tensor(call.facts.framed((batch,), tensor.shape), tensor.dtype), tensor)

    return made(call, None if full is None else mapped(call, full, rows), None)


def _tensors(call: Call, structure: Value) -> Value | None:
    items = call.items(structure) if isinstance(structure, Tup) else None
    return mapped(call, structure if items is None else Tup(items), lambda tensor: tensor)


_ROOT = f"{NAME}."
bind(scanned, "self initial_state scan_func -name=None", f"{_ROOT}scan")
bind(reduced, "self initial_state reduce_func -name=None", f"{_ROOT}reduce")
bind(numbered, "self -start=0 -name=None", f"{_ROOT}enumerate")
bind(joined, "self dataset -name=None", f"{_ROOT}concatenate")
bind(filtered, "self predicate -name=None", f"{_ROOT}take_while")
bind(
    grouped, "self -key_func reduce_func -window_size=None -window_size_func=None -name=None", f"{_ROOT}group_by_window"
)
bind(lambda call, self, function: call.apply(function, self), "self transformation_func", f"{_ROOT}apply")
bind(lambda call, self: element_of(call, self) or call.unknown(), "self -name=None", f"{_ROOT}get_single_element")
bind(
    drawn,
    "datasets -weights=None -seed=None -stop_on_empty_dataset=False -rerandomize_each_iteration=None",
    f"{_ROOT}sample_from_datasets",
)
bind(drawn, "datasets -choice_dataset -stop_on_empty_dataset=True", f"{_ROOT}choose_from_datasets")
bind(
    bucketed,
    "self -element_length_func -bucket_boundaries -bucket_batch_sizes padded_shapes=None -padding_values=None"
    " -pad_to_bucket_boundary=False no_padding=False -drop_remainder=False -name=None",
    f"{_ROOT}bucket_by_sequence_length",
)
