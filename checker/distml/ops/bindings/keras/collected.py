"""keras: all weights of a layer or a model, those of its parts too, in the order of `weights`; and weights that are put in.

https://keras.io/api/layers/base_layer, https://keras.io/api/models/model
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.ops.bindings.keras.base import LAYER
from distml.ops.bindings.keras.graphs import held_layers, in_order
from distml.ops.bindings.keras.models import ITEMS, MODEL, OUTPUTS
from distml.ops.bindings.keras.names import TRAINABLE
from distml.ops.bindings.keras.weights import WEIGHTS, of_layer, require_weights
from distml.ops.call import NONE, TRUE
from distml.ops.registry import BUILT, MANY, attribute, op
from distml.shapes import Dim
from distml.values import InstanceRecord, Lib, Ref, Tensor, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.call import Call

_WEIGHTLESS = frozenset(
    """Activation ActivityRegularization Add Average AveragePooling1D AveragePooling2D AveragePooling3D Concatenate Cropping1D
    Cropping2D Cropping3D Dot Dropout ELU Flatten GaussianDropout GaussianNoise GlobalAveragePooling1D GlobalAveragePooling2D
    GlobalAveragePooling3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D Identity InputLayer LeakyReLU Masking
    MaxPooling1D MaxPooling2D MaxPooling3D Maximum Minimum Multiply Permute ReLU RepeatVector Rescaling Reshape Softmax
    SpatialDropout1D SpatialDropout2D SpatialDropout3D Subtract UnitNormalization UpSampling1D UpSampling2D UpSampling3D
    ZeroPadding1D ZeroPadding2D ZeroPadding3D""".split()
)
_AROUND = {"Bidirectional": ("layer", 2), "TimeDistributed": ("layer", 1), "RNN": ("cell", 1)}
"""Layers around another: the attribute that holds it, and how often its weights are there."""
MAX_WEIGHTS = 5_000


class Held(NamedTuple):
    """A weight; `trained` is None where it is not known whether training changes it."""

    tensor: Tensor
    trained: bool | None


class _Collected:
    """The weights of an object and its parts. `known` is false where there may be others, `ordered` where versions of Keras
    list them in another order."""

    def __init__(self, call: Call, value: Value) -> None:
        self.call = call
        self.known = self.ordered = True
        self.forced = False
        """Whether a model set for all its parts whether training changes them: one of them may have been set anew since."""
        self.found: list[Held] = []
        self.seen: set[Value] = set()
        self.add(value)

    def add(self, value: Value, trained: bool | None = True, built: bool = False) -> None:
        """Those of one layer or model; what holds it says whether its weights are `trained`, or are `built`."""
        record = self.call.world.record(value) if isinstance(value, Ref) else None
        if value in self.seen:
            return
        if not isinstance(record, InstanceRecord) or not record.exact or MANY in record.attrs:
            self.known = False
            return
        self.seen.add(value)
        attrs = record.attrs
        own = self.call.flag(attrs.get(TRAINABLE, TRUE))
        unsettled = own is None or (self.forced and TRAINABLE in attrs)
        trained = None if trained is None or unsettled else trained and own
        if isinstance(record.cls, Lib) and record.cls.name.startswith("keras.layers."):
            self._layer(record.cls.name.rpartition(".")[2], attrs, trained, built or attrs.get(BUILT) == TRUE)
            return
        self.forced = self.forced or TRAINABLE in attrs
        if ITEMS in attrs or OUTPUTS in attrs:
            self._parts(in_order(self.call, value), trained)
        else:
            self._own(record, trained)

    def _layer(self, kind: str, attrs: dict[str, Value], trained: bool | None, built: bool) -> None:
        made = of_layer(self.call, kind, attrs) if kind in WEIGHTS and built else None
        if kind in _AROUND and built:
            name, times = _AROUND[kind]
            before = len(self.found)
            self.add(attrs[name], trained, built=True)
            self.found += self.found[before:] * (times - 1)
        elif made is not None:
            self.found += [Held(tensor, trained and each) for tensor, each in made]
        elif kind not in _WEIGHTLESS:
            self.known = False

    def _parts(self, layers: Sequence[Value] | None, trained: bool | None) -> None:
        self.known = self.known and layers is not None and len(self.found) < MAX_WEIGHTS
        for layer in layers or ():
            if self.known:
                self.add(layer, trained)

    def _own(self, record: InstanceRecord, trained: bool | None) -> None:
        """Those of an object of the program: its own, then those of the layers that it holds."""
        before = len(self.found)
        own = [each for each in record.attrs.values() if isinstance(each, Tensor) and each.parameter]
        held = [Held(each, trained and self._is_trained(each)) for each in own]
        self.found += sorted(held, key=lambda each: not each.trained)
        self._parts(held_layers(self.call, record), trained)
        order = [each.trained for each in self.found[before:]]
        if MODEL in (self.call.world.library_classes(record) or ()):
            # Keras 3 lists the own weights first, Keras 2 last.
            settled = not own or len(order) == len(own)
        else:
            # Keras 2 lists those that training changes first, over all parts.
            settled = None not in order and order == sorted(order, key=lambda trained: not trained)
        self.ordered = self.ordered and settled

    def _is_trained(self, tensor: Tensor) -> bool | None:
        return self.call.flag(self.call.world.get((TRAINABLE, tensor.ident)) or TRUE)


def collected(call: Call, value: Value) -> list[Held] | None:
    """The weights of a layer or a model in their order; None where they are not all known."""
    made = _Collected(call, value)
    if not made.known:
        return None
    if made.ordered:
        return made.found
    alike = call.unranked("float", "tensorflow")
    return [Held(alike, each.trained) for each in made.found]


_TRAINED = {"trainable_weights": True, "trainable_variables": True, "non_trainable_weights": False}


@attribute(f"{LAYER}.weights", *(f"{LAYER}.{name}" for name in _TRAINED))
def weights(call: Call, self: Value) -> Value:
    """https://keras.io/api/layers/base_layer/#weights-property: of the layer and of its parts"""
    held, wanted = collected(call, self), _TRAINED.get(call.name.rpartition(".")[2])
    if held is None or (wanted is not None and any(each.trained is None for each in held)):
        return call.unknown()
    return call.list_of([each.tensor for each in held if wanted is None or each.trained is wanted])


@op(f"{LAYER}.get_weights")
def get_weights(call: Call, self: Value) -> Value:
    """https://keras.io/api/layers/base_layer/#get_weights-method: as arrays of NumPy"""
    held = collected(call, self)
    return call.unknown() if held is None else call.list_of([_array(call, each.tensor) for each in held])


def _array(call: Call, tensor: Tensor) -> Value:
    return call.tensor(tensor.shape, tensor.dtype, "numpy")


@op(f"{LAYER}.count_params")
def count_params(call: Call, self: Value) -> Value:
    """https://keras.io/api/layers/base_layer: how many numbers the weights hold"""
    total = Dim.of(0)
    made = _Collected(call, self)
    for each in made.found:
        size = each.tensor.shape.size
        if size is None:
            return call.unknown("count")
        total = total + size
    return call.number(total) if made.known else call.unknown("count")


@op(f"{LAYER}.set_weights")
def set_weights(call: Call, self: Value, weights: Value) -> Value:
    """https://keras.io/api/layers/base_layer/#set_weights-method: as many as the layer has, each of its shape (SHP305)"""
    held, given = collected(call, self), call.items(weights)
    if held is not None and given is not None:
        require_weights(call, [each.tensor for each in held], given)
    return NONE


@attribute(f"{LAYER}.name")
def name(call: Call, self: Value) -> Value:
    """https://keras.io/api/layers/base_layer: the one the program gave, else one that Keras makes"""
    return (call.attrs(self) or {}).get("__name__") or call.unknown("name")
