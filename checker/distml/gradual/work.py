"""How many multiplications with additions a call takes: of layers, and of functions that multiply matrices.

The laws are those by which `torch.utils.flop_counter` counts, halved. What is done to each element on its own counts 0.
"""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from distml.interp.submodules import COMPOUND
from distml.ops.registry import find_layer
from distml.ops.rules.einsum import Labels, implicit
from distml.shapes import Dim
from distml.values import NONE, Const, Ref, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from distml.interp.shape_log import LayerCall
    from distml.values import Value

    Law = Callable[[Mapping[str, Value | None], Tensor], Dim | None]

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


def is_known(name: str, attrs: dict[str, Value]) -> bool:
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


def sum_of(parts: Sequence[Dim | None]) -> Dim | None:
    """The sum; None where a part is None, or where it is too long a formula."""
    total = Dim.of(0)
    for part in parts:
        if part is None:
            return None
        total = total + part
        if not total.is_small:
            return None
    return total


def work_of(call: LayerCall, attrs: dict[str, Value]) -> Dim | None:
    """The multiplications with additions of one call, of a layer with these attributes; None where they are not known."""
    if call.module is None:
        return _of_function(call.name, call.attrs, call.output)
    if call.name in _FREE:
        return Dim.of(0)
    if call.name in _RECURRENT:
        return _recurrent(call) if is_known(call.name, attrs) else None
    if call.name == "torch.nn.MultiheadAttention":
        return _attention(call, attrs) if is_known(call.name, attrs) else None
    given = {"input": call.inputs[0] if call.inputs else None, "weight": call.attrs.get("weight")}
    return _of_function(_FUNCTIONS.get(call.name, ""), given, call.output)


def _of_function(name: str, given: Mapping[str, Value | None], output: Value | None) -> Dim | None:
    law = PRODUCTS.get(name)
    return None if law is None or not isinstance(output, Tensor) else law(given, output)


def _by(factor: str, last: int = 1) -> Law:
    """Each element of the result sums over the axes of an argument from `last` on (its last one for -1)."""

    def law(given: Mapping[str, Value | None], output: Tensor) -> Dim | None:
        size, dims = output.shape.size, _dims(given.get(factor))
        return None if size is None or not dims else size * prod(dims[last:], start=Dim.of(1))

    return law


def _transposed(given: Mapping[str, Value | None], _output: Tensor) -> Dim | None:
    dims, weight = _dims(given.get("input")), _dims(given.get("weight"))
    return None if dims is None or not weight else prod((*dims, *weight[1:]), start=Dim.of(1))


def _summed(given: Mapping[str, Value | None], output: Tensor) -> Dim | None:
    """`addbmm`: over the batch too."""
    size, dims = output.shape.size, _dims(given.get("batch1"))
    return None if size is None or dims is None or len(dims) != 3 else size * dims[0] * dims[2]


def _scaled(given: Mapping[str, Value | None], output: Tensor) -> Dim | None:
    """Each query meets each key and each value."""
    query, key, dims = _dims(given.get("query")), _dims(given.get("key")), output.shape.dims
    if not query or key is None or len(key) < 2 or not dims:
        return None
    rows = prod(dims[:-1], start=Dim.of(1))
    return rows * key[-2] * (query[-1] + dims[-1])


def _einsum(given: Mapping[str, Value | None], _output: Tensor) -> Dim | None:
    """Two operands: a product for each combination of the labels that are met; where none is summed over, nothing is counted."""
    equation, *operands = given.values()
    text = equation.value if isinstance(equation, Const) else None
    if not isinstance(text, str) or len(operands) != 2 or "." in text:
        return None
    left, arrow, right = text.replace(" ", "").partition("->")
    labels = [Labels(tuple(each), None) for each in left.split(",")]
    labels.append(Labels(tuple(right), None) if arrow else implicit(labels))
    sizes: dict[str, Dim] = {}
    for (names, _), operand in zip(labels, operands, strict=False):
        dims = _dims(operand)
        if dims is None or len(dims) != len(names):
            return None
        sizes |= {name: dim for name, dim in zip(names, dims, strict=True) if sizes.get(name, Dim.of(1)) == Dim.of(1)}
    met = {name for some, other in combinations(labels, 2) for name in set(some.names) & set(other.names)}
    if not met - set(labels[-1].names):
        return Dim.of(0)
    return prod((sizes[name] for name in met), start=Dim.of(1))


def _recurrent(call: LayerCall) -> Dim | None:
    """Each element of a sequence meets every weight of every layer and direction once."""
    steps = _rows_of(call.inputs[0] if call.inputs else None)
    weights = [each for name, each in call.attrs.items() if name.startswith("weight_") and isinstance(each, Tensor)]
    size = sum_of([each.shape.size for each in weights])
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
    projected = sum_of([*rows, queries])
    return None if projected is None else projected * width * width + queries * keys * width * 2


def _rows_of(value: Value | None) -> Dim | None:
    """How many vectors a tensor holds along its last axis."""
    dims = _dims(value)
    return None if not dims else prod(dims[:-1], start=Dim.of(1))


def _dims(value: Value | None) -> tuple[Dim, ...] | None:
    return value.shape.dims if isinstance(value, Tensor) else None


_FUNCTIONS = {
    "torch.nn.Linear": "torch.nn.functional.linear",
    **{f"torch.nn.Conv{count}d": f"torch.nn.functional.conv{count}d" for count in (1, 2, 3)},
    **{f"torch.nn.ConvTranspose{count}d": f"torch.nn.functional.conv_transpose{count}d" for count in (1, 2, 3)},
}
"""Layers that do what a function does."""
_BY_LAW: tuple[tuple[Law | None, str], ...] = (
    (_by("input", -1), "matmul linalg.matmul Tensor.matmul Tensor.__matmul__ mm Tensor.mm bmm Tensor.bmm mv Tensor.mv"),
    (_by("input", -1), "dot vdot Tensor.dot Tensor.vdot inner Tensor.inner nn.functional.linear"),
    (_by("other", -1), "Tensor.__rmatmul__"),
    (_by("mat1", -1), "addmm Tensor.addmm Tensor.addmm_"),
    (_by("batch1", -1), "baddbmm Tensor.baddbmm Tensor.baddbmm_"),
    (_by("mat", -1), "addmv Tensor.addmv Tensor.addmv_"),
    (_summed, "addbmm Tensor.addbmm Tensor.addbmm_"),
    (_scaled, "nn.functional.scaled_dot_product_attention"),
    (_einsum, "einsum functional.einsum"),
    (_by("weight"), "nn.functional.conv1d nn.functional.conv2d nn.functional.conv3d conv1d conv2d conv3d"),
    (_transposed, "nn.functional.conv_transpose1d nn.functional.conv_transpose2d nn.functional.conv_transpose3d"),
    (None, "tensordot functional.tensordot chain_matmul functional.chain_matmul linalg.multi_dot"),
    (None, "nn.functional.bilinear nn.functional.multi_head_attention_forward"),
)
PRODUCTS: dict[str, Law | None] = {f"torch.{name}": law for law, names in _BY_LAW for name in names.split()}
"""The functions that multiply matrices; None: how many multiplications they take is not known here."""
