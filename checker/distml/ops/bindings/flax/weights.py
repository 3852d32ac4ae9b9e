"""flax: the arrays of layers of flax.nnx, by the names that layers have for them.

Sizes are those a layer is made with: https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/nn/index.html, each layer's
part of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.weights import Attrs, Sizes, Weight, dims, shown
from distml.values import NONE, Const, Num

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call


def _window(call: Call, attrs: Attrs) -> Sizes | None:
    kernel = attrs.get("kernel_size", NONE)
    items = call.items(kernel)
    if items is not None:
        return [call.dim(item) for item in items]
    # What is not known may be a number or one for each axis.
    return [call.dim(kernel)] if isinstance(kernel, Const | Num) else None


def _kernel(call: Call, attrs: Attrs) -> Sizes | None:
    """The window, the channels of one group, and those that it makes."""
    gets, gives, groups = dims("in_features", "out_features", "feature_group_count")(call, attrs)
    window = _window(call, attrs)
    return None if window is None else [*window, None if gets is None or groups is None else gets // groups, gives]


def _transposed(call: Call, attrs: Attrs) -> Sizes | None:
    """The window, the channels it takes and those it makes; the other way round where that is asked for."""
    turned, window = call.flag(attrs.get("transpose_kernel", NONE)), _window(call, attrs)
    names = ("out_features", "in_features") if turned else ("in_features", "out_features")
    return None if window is None or turned is None else [*window, *dims(*names)(call, attrs)]


def _weight(name: str, sizes: Callable[[Call, Attrs], Sizes | None], option: str, *layers: str) -> None:
    shown(Weight(name, sizes, option), "jax", "https://flax.readthedocs.io", *(f"flax.nnx.{each}" for each in layers))


_NORMS = ("BatchNorm", "LayerNorm", "GroupNorm")
_weight("kernel", dims("in_features", "out_features"), "", "Linear")
_weight("kernel", _kernel, "", "Conv")
_weight("kernel", _transposed, "", "ConvTranspose")
_weight("bias", dims("out_features"), "use_bias", "Linear", "Conv", "ConvTranspose")
_weight("embedding", dims("num_embeddings", "features"), "", "Embed")
_weight("scale", dims("num_features"), "use_scale", *_NORMS, "RMSNorm")
_weight("bias", dims("num_features"), "use_bias", *_NORMS)
_weight("mean", dims("num_features"), "", "BatchNorm")
_weight("var", dims("num_features"), "", "BatchNorm")
