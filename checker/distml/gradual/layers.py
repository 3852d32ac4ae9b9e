"""The layers of a model of PyTorch: parameters, bytes of results and multiply-adds, from the shapes that a run has met.

What torchinfo prints, without running: numbers where sizes are known, formulas where they have names, and None where something
is not known: a layer without a law here, a part of the model out of sight, a branch that may or may not be taken.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from distml.interp.shape_log import Other
from distml.interp.submodules import COMPOUND, children_of, known_children
from distml.ops.registry import MANY, find_layer
from distml.shapes import Dim
from distml.values import NONE, Class, Const, InstanceRecord, Lib, Num, Ref, Tensor, Tup, Union

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distml.gradual.targets import Target
    from distml.interp.machine import Machine
    from distml.interp.shape_log import LayerCall
    from distml.values import Value

MAX_MODULES = 5000
BYTES = {"float": 4, "int": 8, "bool": 1, "complex": 8}
"""Bytes of an element of the default type of each kind."""
MAX_RECURRENT = 64
"""Layers of one recurrent module whose weights are listed."""
_TRUSTED = frozenset({"torch.nn.MultiheadAttention"})
"""Made of others, and yet with all of their weights in sight."""
_RECURRENT = frozenset({"torch.nn.RNN", "torch.nn.LSTM", "torch.nn.GRU"})
_FREE = frozenset(
    f"torch.nn.{name}"
    for name in (
        "Identity Flatten Unflatten Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout Embedding "
        "ReLU ReLU6 LeakyReLU ELU CELU SELU GELU SiLU Mish Sigmoid Tanh Softmax LogSoftmax Softmax2d Softmin Softplus "
        "Softsign Softshrink Hardshrink Tanhshrink Hardtanh Hardswish Hardsigmoid LogSigmoid PReLU GLU Threshold RReLU "
        "BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm LayerNorm GroupNorm RMSNorm InstanceNorm1d InstanceNorm2d "
        "InstanceNorm3d LocalResponseNorm MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d "
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d "
        "PixelShuffle PixelUnshuffle ChannelShuffle ZeroPad1d ZeroPad2d ZeroPad3d ConstantPad1d ConstantPad2d "
        "ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d "
        "ReplicationPad3d CircularPad1d CircularPad2d CircularPad3d"
    ).split()
)
"""Layers that multiply no matrices: what they do to each element is not counted."""


class Layer(NamedTuple):
    """A call of a layer, or the parameters of a module that are its own (then `output` is None).

    `name` is the path in the model, empty where it has none. None stands for what is not known; `certain` is False where the
    call may not be made, or be made several times.
    """

    name: str
    type: str
    output: Value | None
    parameters: Dim | None
    bytes: Dim | None
    multiply_adds: Dim | None
    certain: bool


class Layers(NamedTuple):
    """The layers in the order of their calls, and the sums; None where one of them is not known."""

    rows: tuple[Layer, ...]
    parameters: Dim | None
    bytes: Dim | None
    multiply_adds: Dim | None

    def views(self) -> list[Value]:
        """Everything in which sizes occur that are to be named."""
        amounts = [each for row in self.rows for each in (row.parameters, row.bytes, row.multiply_adds)]
        outputs = [row.output for row in self.rows if row.output is not None]
        return [*outputs, *(Num(each) for each in (*amounts, *self[1:]) if each is not None)]


def layers_of(vm: Machine, target: Target, calls: Sequence[LayerCall], complete: bool) -> Layers | None:
    """The layers of the model that a target is a method of; None where it is no such model.

    `complete` says that every call was followed.
    """
    if not isinstance(target.receiver, Ref):
        return None
    vm.state = target.state
    names, whole = parts_of(vm, target.receiver)
    own = {part: _own_parameters(vm, part) for part in dict.fromkeys([*names, *(call.module for call in calls)])}
    counted = _shared_once(own)
    called = {call.module for call in calls}
    rows = [
        _row(call, names.get(call.module, ""), counted, calls, getattr(vm.record(call.module), "attrs", {}))
        for call in calls
    ]
    rows += [
        Layer(name, _type(vm, part), None, _total(counted[part]), Dim.of(0), Dim.of(0), True)
        for part, name in names.items()
        if part not in called and counted[part] != []
    ]
    if not rows:
        return None
    total = _sum([_total(counted[part]) for part in names]) if whole else None
    sure = complete and whole and all(row.certain for row in rows)
    return Layers(
        tuple(rows),
        total,
        _sum([row.bytes for row in rows]) if sure else None,
        _sum([row.multiply_adds for row in rows]) if sure else None,
    )


def parts_of(vm: Machine, model: Value) -> tuple[dict[Value, str], bool]:
    """A model and what it is made of, with dotted names, and whether that is all."""
    names: dict[Value, str] = {}
    waiting, whole = [(model, "")], True
    while waiting:
        part, name = waiting.pop()
        if part in names:
            continue  # one that several modules hold has the name of the first
        names[part] = name
        found = children_of(vm, part)
        whole = whole and found is not None and len(names) <= MAX_MODULES
        held = known_children(vm, part) if len(names) <= MAX_MODULES else []
        waiting += [(child, f"{name}.{own}" if name else own) for own, child in reversed(held)]
    return names, whole


def _row(
    call: LayerCall,
    name: str,
    counted: dict[Value, list[Tensor] | None],
    calls: Sequence[LayerCall],
    attrs: dict[str, Value],
) -> Layer:
    first = next(other for other in calls if other.module == call.module)
    weights: list[Tensor] | None = counted.get(call.module) if first is call else []
    work = _work(call, attrs)
    return Layer(
        name, call.name.rpartition(".")[2], call.output, _total(weights), _bytes(call.output), work, call.certain
    )


def _type(vm: Machine, part: Value) -> str:
    record = vm.record(part) if isinstance(part, Ref) else None
    return getattr(getattr(record, "cls", None), "name", "module").rpartition(".")[2]


def _own_parameters(vm: Machine, part: Value) -> list[Tensor] | None:
    """The parameters that a module has beside those of its parts; None where they are not all known."""
    record = vm.record(part) if isinstance(part, Ref) else None
    if not isinstance(record, InstanceRecord) or not record.exact or MANY in record.attrs:
        return None
    if isinstance(record.cls, Lib) and not _is_known(record.cls.name, record.attrs):
        return None
    if not isinstance(record.cls, Lib | Class):
        return None
    found: list[Tensor] = []
    for value in record.attrs.values():
        if isinstance(value, Union) and any(isinstance(each, Tensor) and each.parameter for each in value.options):
            return None
        if isinstance(value, Tensor) and value.parameter:
            found.append(value)
    return found


def _is_known(name: str, attrs: dict[str, Value]) -> bool:
    """Whether the attributes of a layer hold all of its weights."""
    if name in _RECURRENT:
        layers, projected = attrs.get("num_layers"), attrs.get("proj_size", NONE)
        known = isinstance(layers, Const) and type(layers.value) is int and 0 < layers.value <= MAX_RECURRENT
        return known and projected in (NONE, Const(0)) and any(key.startswith("weight_ih") for key in attrs)
    if name in _TRUSTED:
        weights = [attrs.get(key) for key in ("in_proj_weight", "in_proj_bias", "out_proj")]
        return all(isinstance(each, Tensor | Ref | Const) for each in weights) and attrs.get("add_bias_kv") == Const(
            False
        )
    return name not in COMPOUND and find_layer(name) is not None


def _shared_once(own: dict[Value, list[Tensor] | None]) -> dict[Value, list[Tensor] | None]:
    """Parameters that several modules hold are the first one's."""
    seen: set[int] = set()
    found: dict[Value, list[Tensor] | None] = {}
    for part, weights in own.items():
        found[part] = None if weights is None else [each for each in weights if each.ident not in seen]
        seen |= {each.ident for each in weights or ()}
    return found


def _total(weights: list[Tensor] | None) -> Dim | None:
    return None if weights is None else _sum([each.shape.size for each in weights])


def _sum(parts: Sequence[Dim | None]) -> Dim | None:
    total = Dim.of(0)
    for part in parts:
        if part is None:
            return None
        total = total + part
        if not total.is_small:
            return None
    return total


def _bytes(value: Value | None) -> Dim | None:
    """The bytes of a result, or of all tensors in a tuple of results."""
    if isinstance(value, Tup):
        return _sum([_bytes(each) for each in value.items if each != NONE and not isinstance(each, Other)])
    if not isinstance(value, Tensor) or value.dtype not in BYTES:
        return None
    size = value.shape.size
    return None if size is None else size * BYTES[value.dtype]


def _work(call: LayerCall, attrs: dict[str, Value]) -> Dim | None:
    """The multiplications with additions of one call of a layer with these attributes; None where they are not known."""
    if call.name in _FREE:
        return Dim.of(0)
    if call.name in _RECURRENT:
        return _recurrent(call) if _is_known(call.name, attrs) else None
    if call.name == "torch.nn.MultiheadAttention":
        return _attention(call, attrs) if _is_known(call.name, attrs) else None
    law = _LAWS.get(call.name)
    output, weight = call.output, call.attrs.get("weight")
    if law is None or not isinstance(output, Tensor) or not isinstance(weight, Tensor):
        return None
    given = call.inputs[0] if call.inputs else None
    return law(given, output, weight)


def _linear(_given: Value | None, output: Tensor, weight: Tensor) -> Dim | None:
    size, dims = output.shape.size, weight.shape.dims
    return None if size is None or not dims else size * dims[-1]


def _convolution(_given: Value | None, output: Tensor, weight: Tensor) -> Dim | None:
    size, dims = output.shape.size, weight.shape.dims
    return None if size is None or not dims else size * prod(dims[1:], start=Dim.of(1))


def _transposed(given: Value | None, _output: Tensor, weight: Tensor) -> Dim | None:
    size = given.shape.size if isinstance(given, Tensor) else None
    dims = weight.shape.dims
    return None if size is None or not dims else size * prod(dims[1:], start=Dim.of(1))


def _recurrent(call: LayerCall) -> Dim | None:
    """Each element of a sequence meets every weight of every layer and direction once."""
    steps = _rows_of(call.inputs[0] if call.inputs else None)
    weights = [each for name, each in call.attrs.items() if name.startswith("weight_") and isinstance(each, Tensor)]
    size = _sum([each.shape.size for each in weights])
    return None if steps is None or size is None else steps * size


def _attention(call: LayerCall, attrs: dict[str, Value]) -> Dim | None:
    """Queries, keys and values are projected, each query meets each key and each value of its batch, the result is projected."""
    query, key, value = (*call.inputs, None, None, None)[:3]
    projection = call.attrs.get("in_proj_weight")
    first = attrs.get("batch_first")
    plain = all(attrs.get(name) == Const(False) for name in ("add_bias_kv", "add_zero_attn"))
    rows = [_rows_of(each) for each in (query, key, value)]
    if not plain or not isinstance(projection, Tensor) or not projection.shape.dims or not isinstance(key, Tensor):
        return None
    dims, width = key.shape.dims or (), projection.shape.dims[1]
    if first not in (Const(True), Const(False)) or len(dims) not in (2, 3) or None in rows:
        return None
    keys = dims[1 if len(dims) == 3 and first == Const(True) else 0]
    queries = rows[0] or Dim.of(0)
    projected = _sum([*rows, queries])
    return None if projected is None else projected * width * width + queries * keys * width * 2


def _rows_of(value: Value | None) -> Dim | None:
    """How many vectors a tensor holds along its last axis."""
    dims = value.shape.dims if isinstance(value, Tensor) else None
    return None if not dims else prod(dims[:-1], start=Dim.of(1))


_LAWS: dict[str, Callable[[Value | None, Tensor, Tensor], Dim | None]] = {
    "torch.nn.Linear": _linear,
    **{f"torch.nn.Conv{count}d": _convolution for count in (1, 2, 3)},
    **{f"torch.nn.ConvTranspose{count}d": _transposed for count in (1, 2, 3)},
}
