"""keras: what training, evaluation and prediction ask of a model's data.

https://keras.io/api/models/model_training_apis
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from distml.ops.bindings.keras.losses import checked, own
from distml.ops.bindings.keras.models import LOSS, METRICS, MODEL, alike, parts, update
from distml.ops.bindings.tensorflow.data import element_of
from distml.ops.call import NONE
from distml.ops.registry import op
from distml.shapes import Dim, Shape
from distml.values import (
    Bound,
    Class,
    Const,
    DictRecord,
    Function,
    InstanceRecord,
    IteratorRecord,
    Lib,
    ListRecord,
    Opaque,
    Prim,
    Ref,
    Tensor,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from distml.ops.call import Call


@op(f"{MODEL}.compile")
def compile_(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """https://keras.io/api/models/model_training_apis/#compile-method: what counts for shapes are the loss and the metrics."""
    loss = options.get("loss", args[1] if len(args) > 1 else NONE)
    update(call, self, **{LOSS: loss, METRICS: options.get("metrics", NONE)})
    return NONE


def _batch(call: Call, value: Value, rows: Dim | None = None) -> Value:
    """Some rows of arrays, on their way through a model."""
    found, made = parts(call, value) or {}, {}
    rows = call.symbol("batch", 1) if rows is None else rows
    if len(found) == 1 and not isinstance(value, Tensor):
        return call.unknown()  # versions of Keras differ in whether they unwrap it
    for key, tensor in found.items():
        dims = call.shape(tensor).dims
        if not dims:
            return call.unknown()
        made[key] = call.tensor(Shape((rows, *dims[1:])), call.dtype(tensor), "tensorflow")
    return alike(call, value, made) if made else call.unknown()


def _same_length(call: Call, inputs: Tensor, labels: Tensor) -> None:
    one, other = call.shape(inputs), call.shape(labels)
    if not one.least or not other.least:
        return
    text = f"{call.text}: inputs {one!r} and labels {other!r} have different lengths: {{left}} and {{right}}"
    call.require_equal(call.facts.axis(one, 0), call.facts.axis(other, 0), "SHP502", text)


def _pass(call: Call, self: Value, inputs: Value, labels: Value) -> None:
    """A batch goes through the model, and its labels meet the output in the loss."""
    given, wanted = parts(call, inputs), parts(call, labels) or {}
    if not given:
        return
    for tensor in wanted.values():
        _same_length(call, next(iter(given.values())), tensor)
    data = _batch(call, inputs)
    output = NONE if isinstance(data, Opaque) else call.apply(self, data)
    if _own_loss(call, self, inputs, labels, output):
        return
    made = parts(call, output) or {}
    if made.keys() != wanted.keys():
        return
    attrs = call.attrs(self) or {}
    for key, tensor in made.items():
        known, shape = call.shape(wanted[key]), call.facts.shape(call.shape(tensor))
        if known.dims and shape.dims:
            _compared(call, _loss_of(call, attrs.get(LOSS, NONE), key), replace(wanted[key], shape=known), tensor)
            for metric in _functions(call, attrs.get(METRICS, NONE)) if len(made) == 1 else ():
                _compared(call, metric, replace(wanted[key], shape=known), tensor)


def _own_loss(call: Call, self: Value, inputs: Value, labels: Value, output: Value) -> bool:
    """Whether the program computes the loss of a batch itself: it is given the batch and the output for it by name."""
    method = call.world.attribute(self, "compute_loss")
    if not isinstance(method, Bound) or not isinstance(method.function, Function):
        return False
    rows = _rows_of(call, output)
    given = {"x": _batch(call, inputs, rows), "y": NONE if call.is_none(labels) else _wide(call, labels, rows)}
    more = {"y_pred": output, "sample_weight": call.unknown("sample_weight")}
    call.apply(method, kwargs={**given, **more})
    return True


def _rows_of(call: Call, output: Value) -> Dim:
    """The batch that an output is for."""
    shapes = [call.facts.shape(call.shape(each)) for each in (parts(call, output) or {}).values()]
    return shapes[0].dims[0] if shapes and shapes[0].dims else call.symbol("batch", 1)


def _compared(call: Call, loss: Value, labels: Tensor, output: Tensor) -> None:
    """A batch of labels and the output for it, in a loss of Keras or of the program."""
    shape = call.facts.shape(call.shape(output))
    rows = Shape((shape.head[0], *labels.shape.head[1:]))
    if not own(call, loss):
        checked(call, loss, rows, shape)
    elif rows.rank == shape.rank:  # else versions of Keras differ in which axis they add or take away
        call.apply(loss, call.tensor(rows, labels.dtype, "tensorflow"), output)


def _functions(call: Call, metrics: Value) -> list[Value]:
    """The metrics that are functions of the program: they are given what the loss is given."""
    return [each for each in call.items(metrics) or () if isinstance(each, Function)]


def _loss_of(call: Call, loss: Value, key: Value) -> Value:
    """The loss of one of the outputs: the one for all, or its own."""
    record = call.world.record(loss) if isinstance(loss, Ref) else None
    if isinstance(record, DictRecord):
        return record.items.get(key, NONE)
    items = call.items(loss) if isinstance(record, ListRecord) or isinstance(loss, Tup) else None
    if items is None:
        return loss
    place = key.value if isinstance(key, Const) else None
    return items[place] if isinstance(place, int) and place < len(items) else NONE


def _stepped(call: Call, data: Value, labels: Value) -> Value:
    """What a step of the program's own is given of arrays: a batch of inputs, and one of labels where there are any."""
    rows = call.symbol("batch", 1)
    inputs = _batch(call, data, rows)
    if call.is_none(labels):
        return inputs if isinstance(data, Tensor) else call.unknown()
    return Tup((inputs, _wide(call, labels, rows)))


def _wide(call: Call, labels: Value, rows: Dim) -> Value:
    """A batch of labels; versions of Keras differ in whether they add an axis to plain numbers."""
    found = parts(call, labels) or {}
    wide = found and all(call.shape(tensor).least > 1 for tensor in found.values())
    return _batch(call, labels, rows) if wide else call.unknown()


_PARTLY = frozenset({"steps", "steps_per_epoch", "validation_steps"})
"""The arguments that say how many batches are taken."""


def _handed_out(call: Call, data: Value, partly: bool) -> tuple[Value, ...] | None:
    """The first batch where data hand out batches: objects that are asked for them by number, generators, iterators; None for
    others, as for arrays. If only some batches are taken, which of them are is not known.

    https://keras.io/api/utils/python_utils/#pydataset-class
    """
    record = call.world.record(data) if isinstance(data, Ref) else None
    if not isinstance(record, InstanceRecord | IteratorRecord) or element_of(call, data) is not None:
        return None
    asked = call.world.attribute(data, "__getitem__")
    if isinstance(record, InstanceRecord) and not (isinstance(asked, Bound) and _is_sequence(call, record)):
        return None
    if isinstance(asked, Bound):
        batch = call.apply(asked, Prim("int") if partly else Const(0))
    else:
        items = call.world.iterate(data)
        batch = (*items, NONE)[0] if isinstance(items, tuple) else items.item
    several = call.items(batch) if isinstance(batch, Tup) or _is_list(call, batch) else None
    return (batch,) if several is None else several


def _is_sequence(call: Call, record: InstanceRecord) -> bool:
    """Whether an object is of a class of the program that hands out batches by number, as Keras wants it."""
    cls: Any = call.world.record(Ref(record.cls.address)) if isinstance(record.cls, Class) else None
    names = [base.name.split(".") for base in getattr(cls, "mro", ()) if isinstance(base, Lib)]
    return any(name[0] in ("keras", "tensorflow") and name[-1] in ("Sequence", "PyDataset") for name in names)


def _is_list(call: Call, value: Value) -> bool:
    return isinstance(value, Ref) and isinstance(call.world.record(value), ListRecord)


def _trained_on(
    call: Call, self: Value, data: Value, labels: Value, step: str, options: dict[str, Value] | None = None
) -> None:
    """Batches go through a step of the program's own, or through the model and its loss."""
    given = options or {}
    batch = _handed_out(call, data, not _PARTLY.isdisjoint(given))
    weighted = any(not call.is_none(given.get(name, NONE)) for name in ("sample_weight", "class_weight"))
    if batch is not None:
        data, labels = (*batch, NONE, NONE)[:2]
        weighted = weighted or bool(batch[2:])
    element = element_of(call, data)
    method = call.world.attribute(self, step)
    if isinstance(method, Bound) and isinstance(method.function, Function):
        if not weighted:  # a step is given weights beside inputs and labels
            call.apply(method, _stepped(call, data, labels) if element is None else element)
        return
    pair = (data, labels) if element is None else element.items if isinstance(element, Tup) else (element,)
    _pass(call, self, pair[0], pair[1] if len(pair) > 1 else NONE)


@op(f"{MODEL}.fit")
def fit(call: Call, self: Value, x: Value = NONE, y: Value = NONE, *args: Value, **options: Value) -> Value:
    """https://keras.io/api/models/model_training_apis/#fit-method"""
    _trained_on(call, self, x, y, "train_step", options)
    held = options.get("validation_data", NONE)
    pair = call.items(held) if isinstance(held, Tup) else None
    if pair is not None and len(pair) >= 2:
        _trained_on(call, self, pair[0], pair[1], "test_step")
    elif pair is None and held != NONE:
        _trained_on(call, self, held, NONE, "test_step", options)
    return call.unknown("history")


@op(f"{MODEL}.evaluate", f"{MODEL}.train_on_batch", f"{MODEL}.test_on_batch")
def evaluate(call: Call, self: Value, x: Value = NONE, y: Value = NONE, *args: Value, **options: Value) -> Value:
    """https://keras.io/api/models/model_training_apis/#evaluate-method"""
    _trained_on(call, self, x, y, "train_step" if "train" in call.name else "test_step", options)
    return call.unknown("metrics")


@op(f"{MODEL}.fit_generator", f"{MODEL}.evaluate_generator")
def of_generator(
    call: Call, self: Value, generator: Value, steps: Value = NONE, *args: Value, **options: Value
) -> Value:
    """What `fit` and `evaluate` do, for so many batches: https://keras.io/2.15/api/models/model_training_apis"""
    return (fit if "fit" in call.name else evaluate)(call, self, generator, steps=steps, **options)


@op(f"{MODEL}.predict", f"{MODEL}.predict_generator", f"{MODEL}.predict_on_batch")
def predict(call: Call, self: Value, x: Value = NONE, *args: Value, **options: Value) -> Value:
    """https://keras.io/api/models/model_training_apis/#predict-method: an array of NumPy, one row an input."""
    batch, element = _handed_out(call, x, "steps" in options), element_of(call, x)
    if batch is not None:
        element = Tup(batch)
    given = element.items[0] if isinstance(element, Tup) and element.items else element if element is not None else x
    data = _batch(call, given)
    output = NONE if isinstance(data, Opaque) else call.apply(self, data)
    first = next(iter((parts(call, given) or {}).values()), None)
    rows = None if element is not None or first is None else call.facts.axis(call.shape(first), 0)
    count = call.symbol("rows") if rows is None else rows
    made = parts(call, output)
    shapes = {key: call.shape(tensor) for key, tensor in (made or {}).items()}
    if made is None or not all(shape.dims for shape in shapes.values()):
        return call.unknown()
    arrays = {key: call.tensor(Shape((count, *shapes[key].head[1:])), made[key].dtype, "numpy") for key in made}
    return alike(call, output, arrays)
