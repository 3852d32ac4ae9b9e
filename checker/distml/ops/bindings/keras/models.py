"""keras: Input, Sequential, functional models.

https://keras.io/api/models
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.ops.bindings.keras.base import LAYER, options_kept, placeholder
from distml.ops.bindings.keras.names import INPUT_SHAPE
from distml.ops.call import NONE
from distml.ops.registry import attribute, layer, op
from distml.shapes import Dim, Shape, Symbol
from distml.values import (
    Const,
    DictRecord,
    InstanceRecord,
    ListRecord,
    Many,
    Opaque,
    Ref,
    Tensor,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from distml.ops.call import Call

Attrs = dict[str, Value]
MODEL, SEQUENTIAL = "keras.Model", "keras.Sequential"
_NAME = "name of an input"
INPUTS, OUTPUTS, ITEMS, LOSS, METRICS = "__inputs__", "__outputs__", "__items__", "__loss__", "__measured__"
NETWORK = "__network__"
"""The attribute that names one of the well-known networks, whose layers have names and sizes of their own."""


@op("keras.Input", "keras.layers.Input")
def make_input(
    call: Call,
    shape: Value = NONE,
    batch_size: Value = NONE,
    *args: Value,
    batch_shape: Value = NONE,
    name: Value = NONE,
    **options: Value,
) -> Value:
    """https://keras.io/api/layers/core_layers/input"""
    made = _placed(call, shape, batch_size, options.get("batch_input_shape", batch_shape))
    if isinstance(name, Const) and name.value is not None:
        call.world.put((_NAME, made.ident), name)
    return made


def _placed(call: Call, shape: Value, batch_size: Value, whole: Value) -> Tensor:
    given = call.is_none(whole) is False
    items = call.items(whole if given else shape)
    if items is None or (given and not items):
        return call.unranked("float")
    return placeholder(call, items[1:], items[0]) if given else placeholder(call, items, batch_size)


@layer("keras.layers.InputLayer")
class InputLayer:
    """https://keras.io/api/layers/core_layers/input"""

    bases = (LAYER,)

    @staticmethod
    def init(
        call: Call,
        shape: Value = NONE,
        batch_size: Value = NONE,
        *args: Value,
        input_shape: Value = NONE,
        **options: Value,
    ) -> Attrs:
        """The shape without its batch."""
        given = shape if call.is_none(shape) is False else input_shape
        items = call.items(given)
        return {} if items is None else {INPUT_SHAPE: Tup(items)}

    @staticmethod
    def forward(call: Call, attrs: Attrs, inputs: Value, *args: Value, **options: Value) -> Value:
        """The input itself."""
        return inputs


@layer(MODEL)
class Model:
    """https://keras.io/api/models/model: with inputs and outputs a graph, else what a subclass defines."""

    bases = (LAYER,)

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> Attrs:
        """The placeholders that it begins with and the tensors it ends with."""
        given = dict(zip(("inputs", "outputs"), args, strict=False)) | kwargs
        own = options_kept(kwargs)
        if "inputs" not in given or "outputs" not in given:
            return own
        return {**own, INPUTS: given["inputs"], OUTPUTS: given["outputs"]}

    @staticmethod
    def forward(call: Call, attrs: Attrs, inputs: Value, *args: Value, **options: Value) -> Value:
        """The outputs for inputs of these sizes."""
        if INPUTS not in attrs:
            return call.unknown()
        wanted, given = parts(call, attrs[INPUTS]), parts(call, inputs)
        if wanted is None or given is None or parts(call, attrs[OUTPUTS]) is None:
            return call.unknown()
        sizes: dict[Symbol, Dim] = {}
        same = wanted.keys() == given.keys()
        names = {key: key if same else call.world.get((_NAME, each.ident)) for key, each in wanted.items()}
        # What is given by names that are not known may be any of them.
        for key, name in names.items() if given.keys() >= set(names.values()) else ():
            _fit(call, wanted[key], call.shape(given[name]), sizes)
        if _is_one_in_a_list(call, attrs[OUTPUTS]):
            return call.unknown()
        return _with_sizes(call, attrs[OUTPUTS], sizes, _oldest(call, tuple(wanted.values())))


def _is_one_in_a_list(call: Call, outputs: Value) -> bool:
    """Whether a model was given `[output]`: called, it gives the tensor in Keras 2 and a list of it in Keras 3."""
    several = isinstance(outputs, Ref) and not isinstance(call.world.record(outputs), DictRecord)
    return several and len(call.items(outputs) or ()) == 1


def parts(call: Call, structure: Value) -> dict[Value, Tensor] | None:
    """The tensors of one input, a list or a dict of them, by place or name; None where they are not all known."""
    record = call.world.record(structure) if isinstance(structure, Ref) else None
    items = (structure,) if isinstance(structure, Tensor) else call.items(structure)
    if items is None:
        return None
    places: list[Value] = [Const(place) for place in range(len(items))]
    found = record.items if isinstance(record, DictRecord) else dict(zip(places, items, strict=True))
    known = {key: item for key, item in found.items() if isinstance(item, Tensor)}
    return known if len(known) == len(found) else None


def alike(call: Call, structure: Value, made: dict[Value, Tensor]) -> Value:
    """These tensors, arranged as others are."""
    if isinstance(structure, Tensor):
        return made[Const(0)]
    record = call.world.record(structure) if isinstance(structure, Ref) else None
    if isinstance(record, DictRecord):
        return call.world.allocate(DictRecord(dict(made)))
    tensors = tuple(made.values())
    return replace(structure, items=tensors) if isinstance(structure, Tup) else call.list_of(tensors)


def _listed(call: Call, structure: Value) -> tuple[Tensor, ...] | None:
    """The tensors of one input or of several; None where they are not all known."""
    found = parts(call, structure)
    return None if found is None else tuple(found.values())


def _oldest(call: Call, inputs: tuple[Tensor, ...]) -> int:
    """Symbols that are younger than this were made for one run of the graph."""
    serials = [symbol.serial for tensor in inputs for dim in call.shape(tensor).head for symbol in dim.symbols()]
    return min(serials, default=0)


def _fit(call: Call, wanted: Tensor, given: Shape, sizes: dict[Symbol, Dim]) -> None:
    """An input is as the placeholder says; a missing last axis of size 1 is added, one too many dropped (SHP301). A size that the
    graph leaves open is the same in all inputs of which it says so (SHP104)."""
    spec, given = call.shape(wanted), call.facts.shape(given)
    if spec.dims is None or given.dims is None:
        return
    dims = given.dims
    if len(dims) == len(spec.dims) - 1 and spec.dims[-1] == 1:
        dims = (*dims, Dim.of(1))
    elif len(dims) == len(spec.dims) + 1 and not dims[-1].differs(1):
        dims = dims[:-1]
    if len(dims) != len(spec.dims):
        text = f"{call.text} was made for inputs {spec!r}, gets {given!r}"
        call.fail("SHP301", text, *call.notes(*spec.dims, *given.dims))
    for axis, (one, other) in enumerate(zip(spec.dims, dims, strict=True)):
        symbol = one.lone
        if symbol is not None:
            text = f"{call.text} has inputs whose axis {axis} is of one size, gets {{left}} and {{right}}"
            call.require_equal(sizes.setdefault(symbol, other), other, "SHP104", text)
        elif one.constant is not None:
            text = f"{call.text} was made for inputs {spec!r}, gets {given!r}: axis {axis} has {{right}}, not {{left}}"
            call.require_equal(one, other, "SHP401", text)


def _with_sizes(call: Call, outputs: Value, sizes: dict[Symbol, Dim], oldest: int) -> Value:
    """The outputs of a graph where its placeholders have these sizes; what else was unknown in it is so anew."""
    made = {}
    for key, tensor in (parts(call, outputs) or {}).items():
        shape = call.shape(tensor)
        for symbol in [symbol for dim in shape.dims or () for symbol in dim.symbols()]:
            if symbol not in sizes and symbol.serial >= oldest:
                (fresh,) = call.symbol(symbol.name, symbol.low).symbols()
                sizes[symbol] = Dim.symbol(fresh)
        dims = None if shape.dims is None else tuple(dim.substitute(sizes) for dim in shape.dims)
        made[key] = (
            call.unranked(tensor.dtype) if dims is None else call.tensor(Shape(dims), tensor.dtype, "tensorflow")
        )
    return alike(call, outputs, made)


@layer(SEQUENTIAL)
class Sequential:
    """https://keras.io/api/models/sequential: layers in a row, built at once where the input is declared."""

    bases = (MODEL,)

    @staticmethod
    def init(call: Call, layers: Value = NONE, *args: Value, **options: Value) -> Attrs:
        """The layers, and what they make of the declared input."""
        empty = call.is_none(layers)
        items = () if empty else call.items(layers)
        if items is None:
            return {ITEMS: call.world.allocate(ListRecord(None))}
        attrs: Attrs = {**options_kept(options), ITEMS: call.list_of(())}
        for item in items:
            attrs = _added(call, attrs, item)
        return attrs

    @staticmethod
    def forward(call: Call, attrs: Attrs, inputs: Value, *args: Value, **options: Value) -> Value:
        """Each layer on the result of the one before."""
        items = call.items(attrs.get(ITEMS, NONE))
        if items is None:
            return call.unknown()
        declared = attrs.get(INPUTS)
        if OUTPUTS in attrs and not isinstance(attrs[OUTPUTS], Tensor):
            # Building it failed, or gave what is not followed: a mistake is told once.
            return call.unknown()
        if isinstance(declared, Tensor) and isinstance(inputs, Tensor):
            _fit(call, declared, call.shape(inputs), {})
            inputs = _like(call, declared, inputs)
        for item in items:
            inputs = call.apply(item, inputs)
        return inputs


def _like(call: Call, declared: Tensor, given: Tensor) -> Tensor:
    """An input with the axis of size 1 that the declared one has more or less."""
    spec, shape = call.shape(declared), call.shape(given)
    if spec.dims is None or shape.dims is None or len(spec.dims) == len(shape.dims):
        return given
    dims = (*shape.dims, Dim.of(1)) if len(spec.dims) > len(shape.dims) else shape.dims[:-1]
    return call.tensor(Shape(dims), given.dtype, "tensorflow")


def _added(call: Call, attrs: Attrs, item: Value) -> Attrs:
    """The attributes of a Sequential with one layer more."""
    items = call.items(attrs[ITEMS])
    if isinstance(item, Tensor) and not items:
        return {**attrs, INPUTS: item, OUTPUTS: item}
    if isinstance(item, Opaque | Many) or items is None:
        rest = {key: value for key, value in attrs.items() if key not in (INPUTS, OUTPUTS)}
        return {**rest, ITEMS: call.world.allocate(ListRecord(None))}
    if not items and OUTPUTS not in attrs:
        declared = call.items((call.attrs(item) or {}).get(INPUT_SHAPE, NONE))
        if declared is not None:
            made = placeholder(call, declared)
            attrs = {**attrs, INPUTS: made, OUTPUTS: made}
    if isinstance(attrs.get(OUTPUTS), Tensor):
        attrs = {**attrs, OUTPUTS: call.apply(item, attrs[OUTPUTS])}
    return {**attrs, ITEMS: call.list_of((*items, item))}


def update(call: Call, self: Value, **changes: Value) -> None:
    """Set attributes of a model."""
    record = call.world.record(self) if isinstance(self, Ref) else None
    if isinstance(self, Ref) and isinstance(record, InstanceRecord):
        call.world.replace(self, record.having(changes))


@attribute(f"{MODEL}.input_shape", f"{MODEL}.output_shape", f"{SEQUENTIAL}.input_shape", f"{SEQUENTIAL}.output_shape")
def model_shape(call: Call, self: Value) -> Value:
    """https://keras.io/api/models/model: of one tensor, with None where each input may have a size of its own"""
    tensor = (call.attrs(self) or {}).get(INPUTS if call.name.endswith("input_shape") else OUTPUTS)
    shape = call.shape(tensor) if isinstance(tensor, Tensor) else None
    if shape is None or shape.dims is None:
        return call.unknown()
    return Tup(tuple(call.unknown("size") if dim.constant is None else call.number(dim) for dim in shape.dims))


_ENDS = {"input": INPUTS, "inputs": INPUTS, "output": OUTPUTS, "outputs": OUTPUTS}


@attribute(*(f"{model}.{name}" for model in (MODEL, SEQUENTIAL) for name in _ENDS))
def model_ends(call: Call, self: Value) -> Value:
    """https://keras.io/api/models/model: `inputs` and `outputs` are lists, however the model was given them.

    `input` and `output` are one tensor or several; versions of Keras differ in what they make of a list of one.
    """
    name = call.name.rpartition(".")[2]
    structure = (call.attrs(self) or {}).get(_ENDS[name])
    tensors = _listed(call, structure) if structure is not None else None
    if structure is None or tensors is None:
        return call.unknown()
    if name.endswith("s"):
        return call.list_of(tensors)
    return structure if isinstance(structure, Tensor) or len(tensors) > 1 else call.unknown()


@op(f"{SEQUENTIAL}.add")
def add(call: Call, self: Value, layer: Value, rebuild: Value = NONE) -> Value:
    """https://keras.io/api/models/sequential/#add-method"""
    attrs = call.attrs(self)
    if attrs is not None and ITEMS in attrs:
        made = _added(call, attrs, layer)
        record = call.world.record(self) if isinstance(self, Ref) else None
        if isinstance(self, Ref) and isinstance(record, InstanceRecord):
            call.world.replace(self, replace(record, attrs=made))
    return NONE


@op(f"{SEQUENTIAL}.pop")
def pop(call: Call, self: Value, rebuild: Value = NONE) -> Value:
    """https://keras.io/api/models/sequential: without its last layer"""
    attrs = call.attrs(self) or {}
    items = call.items(attrs.get(ITEMS, NONE))
    if items is None:
        update(
            call,
            self,
            **{ITEMS: call.world.allocate(ListRecord(None)), OUTPUTS: call.unknown(), INPUTS: call.unknown()},
        )
        return NONE
    made = {**attrs, ITEMS: call.list_of(())} | ({OUTPUTS: attrs[INPUTS]} if INPUTS in attrs else {})
    for item in items[:-1]:
        made = _added(call, made, item)
    update(call, self, **made)
    return NONE


@op(f"{SEQUENTIAL}.build")
def build(call: Call, self: Value, input_shape: Value = NONE) -> Value:
    """https://keras.io/api/models/sequential: for inputs of a shape with its batch, as if that were declared"""
    attrs, sizes = call.attrs(self) or {}, call.items(input_shape)
    if INPUTS not in attrs and sizes and call.items(attrs.get(ITEMS, NONE)) is not None:
        declared = placeholder(call, sizes[1:], sizes[0])
        update(call, self, **{INPUTS: declared, OUTPUTS: call.apply(self, declared)})
    return NONE


@op(*(f"{MODEL}.{name}" for name in ("summary", "save", "save_weights", "load_weights", "build", "reset_states")))
def followed_no_more(call: Call, self: Value, *args: Value, **options: Value) -> Value:
    """Methods that shapes do not depend on."""
    return call.unknown()
