"""keras: what all layers have: how they are made, and that their weights fit the first input they get.

https://keras.io/api/layers/base_layer
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.ops.bindings.keras.names import FEATURES, GIVEN, INPUT_SHAPE, TRAINABLE
from distml.ops.bindings.keras.weights import begin_with
from distml.ops.bindings.signature import arguments, home, kept, parameters
from distml.ops.bindings.tensorflow.dtypes import asked_kind
from distml.ops.call import NONE, TRUE, ShapeError
from distml.ops.registry import BUILT, MADE, MANY, attribute, binds, find_layer, layer, op
from distml.ops.semantics.tensors import filled
from distml.shapes import Dim, Shape
from distml.values import Const, InstanceRecord, Lib, Ref, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from distml.ops.call import Call

LAYER = "keras.layers.Layer"
_ANYWHERE = frozenset("name dtype trainable input_shape input_dim batch_input_shape weights autocast dynamic".split())
_SUFFIXES = ("_initializer", "_regularizer", "_constraint")
_KEPT = {"trainable": TRAINABLE, "weights": GIVEN}
"""Options of any layer that say something about its weights, and the attributes that hold them."""


@layer(LAYER)
class Layer:
    """https://keras.io/api/layers/base_layer: calling one builds it on the first input, then runs `call`."""

    entry = "call"
    optional = ("training",)

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
        """The name, and whether training changes the weights."""
        return options_kept(kwargs)


def options_kept(options: Mapping[str, Value]) -> dict[str, Value]:
    """The attributes that options of any layer give it."""
    label = options.get("name", NONE)
    named = {"__name__": label} if isinstance(label, Const) and isinstance(label.value, str) else {}
    return named | {own: options[name] for name, own in _KEPT.items() if name in options}


@op(f"{LAYER}.__init__")
@op("keras.layers.Normalization.adapt", "keras.layers.Discretization.adapt")
def silent(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """What sets nothing that shapes depend on."""
    return NONE


@op(f"{LAYER}.call")
def plainly(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """What calling a layer runs; the interpreter follows it for layers that there are rules for."""
    return call.unknown()


@op(f"{LAYER}.build")
def build(call: Call, self: Value, input_shape: Value = NONE) -> Value:
    """https://keras.io/api/layers/base_layer: makes the weights of a layer of the library for inputs of a shape.

    It reads the size of one axis; whether inputs of that shape can be taken is not asked.
    """
    record = call.world.record(self) if isinstance(self, Ref) else None
    sizes = call.items(input_shape)
    if not isinstance(self, Ref) or not isinstance(record, InstanceRecord) or not isinstance(record.cls, Lib):
        return NONE
    rules: Any = find_layer(record.cls.name)
    if hasattr(rules, "forward") and sizes and record.exact:
        try:
            rules.forward(call, record.attrs, call.tensor(open_dims(call, sizes), "float", "tensorflow"))
        except ShapeError:
            return NONE
        call.world.replace(self, record.having({BUILT: TRUE}))
    return NONE


@op(f"{LAYER}.add_weight", f"{LAYER}.add_variable")
def add_weight(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """https://keras.io/api/layers/base_layer/#addweight-method: Keras 2 takes a name first, Keras 3 the shape."""
    given = [arg for arg in args if call.items(arg) is not None]
    sizes = kwargs.get("shape", given[0] if given else Tup(()) if not args else call.unknown())
    made = filled(call, sizes, asked_kind(call, kwargs.get("dtype", NONE), "float"))
    if not isinstance(made, Tensor):
        return made
    weight = Tensor(call.lib, made.shape, made.dtype, parameter=True)
    if "trainable" in kwargs:
        call.world.put((TRAINABLE, weight.ident), kwargs["trainable"])
    return weight


@op(*(f"{LAYER}.{name}" for name in ("get_config", "add_loss", "add_metric")))
def unknown(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """Methods whose result is not followed."""
    return call.unknown()


@attribute(f"{LAYER}.output")
def output(call: Call, self: Value) -> Value:
    """https://keras.io/api/layers/base_layer: what the layer made of the one input that it was called on"""
    return (call.attrs(self) or {}).get(MADE) or call.unknown()


@attribute(f"{LAYER}.input")
def given(call: Call, self: Value) -> Value:
    """https://keras.io/api/layers/base_layer: what the layer was given in the one graph in which it was called"""
    made = (call.attrs(self) or {}).get(MADE)
    note = call.world.get((MADE, made.ident)) if isinstance(made, Tensor) else None
    return note.items[1] if isinstance(note, Tup) and note.items else call.unknown()


@attribute(*(f"{LAYER}.{n}" for n in ("variables", "losses", "non_trainable_variables", "dtype", "compute_dtype")))
@attribute(*(f"{LAYER}.{n}" for n in ("input_shape", "output_shape", "input_spec", "updates", "metrics")))
@attribute(f"{LAYER}.{BUILT}", f"{LAYER}.{TRAINABLE}")
def open_ended(call: Call, self: Value) -> Value:
    """Attributes that are not followed where the layer has none of its own."""
    return call.unknown()


def define(
    signature: str,
    make: Callable[..., dict[str, Value]],
    run: Callable[..., Value],
    *names: str,
    bases: tuple[str, ...] = (LAYER,),
) -> type:
    """Register a layer: the attributes `make` gives for the parameters of `signature`, and what `run` makes of an input."""

    own = {parameter.name for parameter in parameters(signature)}

    class Bound:
        @staticmethod
        def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value] | None:
            ours = [key for key in kwargs if key not in own and (key in _ANYWHERE or key.endswith(_SUFFIXES))]
            common = {key: kwargs.pop(key) for key in ours}
            given = arguments(signature, args, kwargs)
            if given is None:
                return None
            attrs = {**kept(signature, args, kwargs), **make(call, *given), **options_kept(common)}
            shape = _declared(call, common)
            return attrs if shape is None else {**attrs, INPUT_SHAPE: shape}

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], *inputs: Value, **kwargs: Value) -> Value:
            # The input may be given by the name that the layer has for it.
            if not binds(run, call, attrs, *inputs, **kwargs):
                return call.unknown()
            result: Value = run(call, attrs, *inputs, **kwargs)
            if GIVEN in attrs:
                begin_with(call, names[0], attrs)
            return result

    made: Any = Bound
    made.bases, made.__module__ = bases, home()
    layer(*(f"keras.layers.{name}" for name in names))(made)
    return Bound


def _declared(call: Call, common: dict[str, Value]) -> Value | None:
    """The shape of the input without its batch, where the first layer of a model says it."""
    whole = call.items(common["batch_input_shape"]) if "batch_input_shape" in common else None
    if whole:
        return Tup(whole[1:])
    if "input_shape" in common:
        items = call.items(common["input_shape"])
        return None if items is None else Tup(items)
    return Tup((common["input_dim"],)) if "input_dim" in common else None


def placeholder(call: Call, sizes: tuple[Value, ...], batch: Value = NONE) -> Tensor:
    """A tensor as `keras.Input` makes it: None is a size that each input may have its own of."""
    dims = [call.symbol("batch", 1) if call.is_none(batch) else call.dim(batch)]
    return in_graph(call, call.tensor([*dims, *open_dims(call, sizes)], "float", "tensorflow"))


def open_dims(call: Call, sizes: tuple[Value, ...]) -> list[Dim | None]:
    """The sizes of a declared shape: None is a size that each input may have its own of."""
    return [call.symbol("size", 1) if call.is_none(size) is not False else call.dim(size) for size in sizes]


def in_graph(call: Call, made: Tensor) -> Tensor:
    """A tensor of a graph of which it is not told what made it: what is called on it belongs to that graph."""
    call.world.put((MADE, made.ident), Tup(()))
    return made


def require_features(
    call: Call, attrs: dict[str, Value], shape: Shape, axis: int = -1, code: str = "SHP401", what: str = "features"
) -> Dim | None:
    """The size of an axis, the same at every call: the first one made the weights (SHP401)."""
    needs, gets = call.dim(attrs.get(FEATURES, NONE)), call.facts.axis(shape, axis)
    if MANY in attrs:
        return gets
    place = "on the last axis" if axis == -1 else f"on axis {axis}"
    message = f"{call.text} was built for {{left}} {what} {place}, gets {{right}} (input {call.show(shape)})"
    call.require_equal(needs, gets, code, message)
    return gets


def unbuilt(call: Call) -> Value:
    """The size that the first input will settle."""
    return call.number(call.symbol("features", 1))


def of_least_rank(call: Call, shape: Shape, rank: int) -> Shape:
    """An input with so many axes or more (SHP301)."""
    known = call.facts.at_least(shape, rank)
    if known is None:
        call.fail("SHP301", f"{call.text} needs an input with at least {rank} axes, gets {call.show(shape)}")
    return known


def nothing(call: Call, *args: Value) -> dict[str, Value]:
    """A layer without attributes that shapes depend on."""
    return {}


def keeping(call: Call, attrs: dict[str, Value], inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """A layer that keeps the shape."""
    return call.tensor(call.shape(inputs), call.dtype(inputs))
