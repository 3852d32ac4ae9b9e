"""tensorflow: gradients, and functions that run functions.

https://www.tensorflow.org/api_docs/python/tf/GradientTape
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.bindings.tensorflow.data import alike, mapped
from distml.ops.call import NONE
from distml.ops.registry import layer, op
from distml.ops.rules.axes import replace_axes
from distml.values import Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call
    from distml.shapes import Dim

_TAPE = "tensorflow.GradientTape"


@layer(_TAPE)
class GradientTape:
    """https://www.tensorflow.org/api_docs/python/tf/GradientTape"""

    bases = ()

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
        """Nothing that shapes depend on."""
        return {}


@op(f"{_TAPE}.__enter__")
def enter(call: Call, self: Value) -> Value:
    """The tape itself."""
    return self


@op(f"{_TAPE}.__exit__", f"{_TAPE}.watch", f"{_TAPE}.reset")
def silent(call: Call, self: Value, *args: Value) -> Value:
    """Nothing."""
    return NONE


@op(f"{_TAPE}.gradient")
def gradient(call: Call, self: Value, target: Value, sources: Value, *args: Value, **options: Value) -> Value:
    """A gradient has the shape of what it is taken by."""
    return slopes(call, sources)


def _by_each(call: Call, sources: Value, slope: Callable[[Tensor], Value]) -> Value:
    if isinstance(sources, Tensor):
        return slope(sources)
    items = call.items(sources)
    if items is None or not all(isinstance(item, Tensor) for item in items):
        return call.unknown()
    return call.list_of([slope(item) for item in items if isinstance(item, Tensor)])


@op(f"{_TAPE}.jacobian")
def jacobian(call: Call, self: Value, target: Value, sources: Value, *args: Value, **options: Value) -> Value:
    """The axes of the target, then those of what it is taken by."""
    ahead = call.shape(target).dims

    def slope(source: Tensor) -> Value:
        own = call.shape(source).dims
        known = None if ahead is None or own is None else (*ahead, *own)
        return call.unranked(source.dtype) if known is None else call.tensor(known, source.dtype)

    return _by_each(call, sources, slope)


@op(f"{_TAPE}.batch_jacobian")
def rows_jacobian(call: Call, self: Value, target: Value, source: Value, *args: Value, **options: Value) -> Value:
    """A Jacobian for each row; both have as many (SHP104)."""
    made, given = call.shape(target), call.shape(source)
    text = f"{call.text}: {call.show(target)} has {{left}} rows, {call.show(source)} has {{right}}"
    call.require_equal(call.facts.axis(made, 0), call.facts.axis(given, 0), "SHP104", text)
    known = None if made.dims is None or given.dims is None else (*made.dims, *given.dims[1:])
    return call.unranked() if known is None else call.tensor(known, "float")


def slopes(call: Call, sources: Value) -> Value:
    """tf.gradients: of the shapes of what they are taken by."""
    return _by_each(call, sources, lambda source: call.tensor(call.shape(source), source.dtype))


bind(
    lambda call, sources: slopes(call, call.list_of([sources]) if isinstance(sources, Tensor) else sources),
    "-ys xs -grad_ys=None -name='gradients' -gate_gradients=False -aggregation_method=None -stop_gradients=None"
    " -unconnected_gradients=None -colocate_gradients_with_ops=False",
    "tensorflow.gradients",
)


@op("tensorflow.cond")
def cond(call: Call, pred: Value, true_fn: Value = NONE, false_fn: Value = NONE, name: Value = NONE) -> Value:
    """What either function gives."""
    known = call.const(pred, bool)
    if isinstance(known, bool):
        return call.apply(true_fn if known else false_fn)
    return call.unknown()


def _rows(call: Call, elems: Value) -> tuple[Value | None, Dim | None]:
    """One slice of each tensor along the first axis, and how many there are."""
    sizes: list[Dim] = []

    def row(tensor: Tensor) -> Value | None:
        size = call.facts.axis(tensor.shape, 0)
        if size is None:
            return None
        sizes.append(size)
        return call.tensor(replace_axes(call, tensor.shape, 0, 1, ()), tensor.dtype)

    return mapped(call, elems, row, lists=True), sizes[0] if sizes else None


def _stacked(call: Call, made: Value, count: Dim | None, kind: Value = NONE) -> Value:
    """What every step gave, on a new first axis; another type than the elements' is asked for by its name."""

    first = () if count is None else (count,)

    def under(tensor: Tensor) -> Value:
        shape = replace_axes(call, call.facts.shape(tensor.shape), 0, 0, first)
        return call.tensor(shape, tensor.dtype if call.is_none(kind) else None)

    found = mapped(call, made, under, lists=True) if first else None
    return call.unknown() if found is None else found


def map_fn(call: Call, fn: Value, elems: Value, dtype: Value, signature: Value) -> Value:
    """tf.map_fn: the function of each slice, stacked."""
    row, count = _rows(call, elems)
    if row is None:
        return call.unknown()
    return _stacked(call, call.apply(fn, row), count, dtype if call.is_none(signature) else signature)


def scan(call: Call, fn: Value, elems: Value, initializer: Value) -> Value:
    """tf.scan: what was made of all slices so far, for each of them; it keeps its shape."""
    row, count = _rows(call, elems)
    begun = row if call.is_none(initializer) else mapped(call, initializer, lambda tensor: tensor, lists=True)
    if row is None or begun is None:
        return call.unknown()
    made = mapped(call, call.apply(fn, begun, row), lambda tensor: tensor, lists=True)
    return _stacked(call, begun, count) if made is not None and alike(call, begun, made) else call.unknown()


def _after(call: Call, before: Value, made: Value) -> Value:
    """A variable behind a loop: a tensor keeps the shape that the body keeps; what is no tensor is what the body made."""
    if isinstance(before, Tensor):
        same = isinstance(made, Tensor) and alike(call, before, made)
        return call.tensor(before.shape, before.dtype) if same else call.unranked()
    ours, theirs = call.items(before), call.items(made)
    if ours is None or theirs is None or len(ours) != len(theirs):
        return made
    return Tup(tuple(_after(call, one, other) for one, other in zip(ours, theirs, strict=True)))


def while_loop(call: Call, body: Value, variables: Value) -> Value:
    """tf.while_loop: the variables, whose shapes are known as far as the body keeps them."""
    given = call.items(variables)
    if given is None:
        return call.unknown()
    tensors = [mapped(call, item, lambda t: call.tensor(t.shape, t.dtype), lists=True) for item in given]
    begun = [item if tensor is None else tensor for item, tensor in zip(given, tensors, strict=True)]
    made = call.apply(body, *begun)
    after = _after(call, Tup(tuple(begun)), Tup((made,)) if len(begun) == 1 and call.items(made) is None else made)
    return after if call.items(after) is not None else call.unknown()


bind(
    map_fn,
    "fn elems dtype=None -parallel_iterations=None -back_prop=True -swap_memory=False -infer_shape=True -name=None"
    " fn_output_signature=None",
    "tensorflow.map_fn",
)
bind(
    lambda call, fn, elems: map_fn(call, fn, elems, NONE, NONE),
    "fn elems -fallback_to_while_loop=True -warn=True",
    "tensorflow.vectorized_map",
)
bind(
    scan,
    "fn elems initializer=None -parallel_iterations=10 -back_prop=True -swap_memory=False -infer_shape=True -reverse=False"
    " -name=None",
    "tensorflow.scan",
)
bind(
    while_loop,
    "-cond body loop_vars -shape_invariants=None -parallel_iterations=10 -back_prop=True -swap_memory=False"
    " -maximum_iterations=None -name=None",
    "tensorflow.while_loop",
)
