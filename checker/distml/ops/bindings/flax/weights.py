"""flax: the arrays of layers of flax.nnx, by the names that layers have for them.

Sizes are those a layer is made with: https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/nn/index.html, each layer's
part of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.registry import MANY, attribute
from distml.shapes import Dim
from distml.values import NONE, Const, Num, Tensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call

Attrs = dict[str, Value]
Sizes = list[Dim | None]


def _dims(*names: str) -> Callable[[Call, Attrs], Sizes | None]:
    return lambda call, attrs: [call.dim(attrs.get(name, NONE)) for name in names]


def _window(call: Call, attrs: Attrs) -> Sizes | None:
    kernel = attrs.get("kernel_size", NONE)
    items = call.items(kernel)
    if items is not None:
        return [call.dim(item) for item in items]
    # What is not known may be a number or one for each axis.
    return [call.dim(kernel)] if isinstance(kernel, Const | Num) else None


def _kernel(call: Call, attrs: Attrs) -> Sizes | None:
    """The window, the channels of one group, and those that it makes."""
    gets, gives, groups = _dims("in_features", "out_features", "feature_group_count")(call, attrs) or (None,) * 3
    window = _window(call, attrs)
    return None if window is None else [*window, None if gets is None or groups is None else gets // groups, gives]


def _transposed(call: Call, attrs: Attrs) -> Sizes | None:
    """The window, the channels it takes and those it makes; the other way round where that is asked for."""
    turned, window = call.flag(attrs.get("transpose_kernel", NONE)), _window(call, attrs)
    names = ("out_features", "in_features") if turned else ("in_features", "out_features")
    return None if window is None or turned is None else [*window, *(_dims(*names)(call, attrs) or ())]


def _weight(name: str, sizes: Callable[[Call, Attrs], Sizes | None], option: str, *layers: str) -> None:
    """The attribute `name` of some layers: an array of these sizes; None where `option` says that the layer has none."""

    def rule(call: Call, self: Value) -> Value:
        attrs = call.attrs(self)
        if attrs is None or MANY in attrs:
            return call.unknown()
        given = call.flag(attrs.get(option, Const(True)))
        dims = sizes(call, attrs) if given else None
        if given is False:
            return NONE
        if dims is None:
            return call.unknown()
        made = call.tensor(dims, "float", "jax")
        return Tensor(made.lib, made.shape, made.dtype, parameter=True)

    rule.__doc__ = f"https://flax.readthedocs.io: `{name}`"
    attribute(*(f"flax.nnx.{layer}.{name}" for layer in layers))(rule)


_NORMS = ("BatchNorm", "LayerNorm", "GroupNorm")
_weight("kernel", _dims("in_features", "out_features"), "", "Linear")
_weight("kernel", _kernel, "", "Conv")
_weight("kernel", _transposed, "", "ConvTranspose")
_weight("bias", _dims("out_features"), "use_bias", "Linear", "Conv", "ConvTranspose")
_weight("embedding", _dims("num_embeddings", "features"), "", "Embed")
_weight("scale", _dims("num_features"), "use_scale", *_NORMS, "RMSNorm")
_weight("bias", _dims("num_features"), "use_bias", *_NORMS)
_weight("mean", _dims("num_features"), "", "BatchNorm")
_weight("var", _dims("num_features"), "", "BatchNorm")
