"""torch: which functions pack their results, keep the order of elements in memory, or give views.

The tests ask PyTorch itself, by the samples that it keeps of its functions (`tests/ops/test_strides.py`). Left out, so that
nothing is said of them: what lies differently by device (attention, recurrent layers, `torch.linalg`), and `einsum`.
https://docs.pytorch.org/docs/stable/tensor_view.html, https://docs.pytorch.org/docs/stable/notes/memory_format.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.rules import strides as rules
from distml.ops.rules.laws import TORCH, stand
from distml.values import NONE, PACKED, Const, Num, Prim, Ref, Tup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from distml.ops.call import Call
    from distml.shapes import Shape
    from distml.values import Strides, Value

FRESH = """
    arange bernoulli empty eye full linspace logspace multinomial ones rand randint randn randperm tril_indices triu_indices
    zeros new_empty new_full new_ones new_zeros addbmm addmm all amax amin any argmax argmin baddbmm bmm count_nonzero cummax
    cummin cumprod cumsum embedding gather index_select layer_norm linear log_softmax logcumsumexp masked_select mean mm prod
    softmax softmin std sum topk tril triu var
"""
"""Functions and methods whose result is packed, whatever it is made of."""
OF_PACKED = """
    argsort bucketize cross diag_embed group_norm index_add index_copy index_fill interpolate logsigmoid logsumexp masked_fill
    masked_scatter max median min normalize outer pad pixel_shuffle repeat rms_norm roll scatter scatter_add sort
    take_along_dim tile upsample adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
    adaptive_max_pool2d adaptive_max_pool3d avg_pool1d avg_pool2d avg_pool3d batch_norm instance_norm max_pool1d max_pool2d
    max_pool3d glu
"""
"""Those whose result is packed if all that they are made of is."""
JOINED = "cat column_stack concat concatenate dstack hstack stack vstack"
WEIGHTED = "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d"
ALIKE = """
    abs ceil celu clamp clip clone cos deg2rad elu empty_like erf erfinv exp expm1 floor frac full_like gelu hardshrink
    hardsigmoid hardswish hardtanh isfinite isinf isnan leaky_relu log log10 log1p log2 logit mish nan_to_num neg negative
    ones_like rand_like randint_like randn_like reciprocal relu relu6 round rsqrt selu sigmoid sign silu sin sinh softplus
    softshrink softsign sqrt square tan tanh tanhshrink trunc zeros_like __neg__ __invert__ __abs__
"""
"""Those whose result lies as their first argument does, without its gaps."""
PERHAPS_SAME = """
    alpha_dropout bfloat16 bool cpu cuda double dropout dropout1d dropout2d dropout3d feature_alpha_dropout float half int
    long positive short to type_as __pos__
"""
"""Those that may give their first argument itself."""
ELEMENTWISE = """
    add addcdiv addcmul atan2 bitwise_and bitwise_or div divide eq floor_divide fmod ge gt hypot le lerp logical_and
    logical_or lt maximum minimum mul multiply ne pow remainder sub subtract true_divide where __add__ __radd__ __sub__
    __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ __mod__ __pow__ __rpow__ __and__ __or__ __xor__ __eq__
    __ne__ __lt__ __le__ __gt__ __ge__
"""
"""Those that take one element of each tensor."""
VIEWS = {
    rules.same: "detach data",
    rules.moved: "adjoint mH mT moveaxis movedim permute swapaxes swapdims t transpose H T",
    rules.in_order: "squeeze unsqueeze",
    rules.narrowed: "chunk hsplit narrow split split_with_sizes tensor_split vsplit",
    rules.dropped: "select unbind __iter__",
    rules.taken: "__getitem__",
    rules.expanded: "broadcast_to expand expand_as",
    rules.viewed: "flatten reshape reshape_as unflatten view view_as",
}
LAYERS = {
    rules.fresh: "Embedding LayerNorm Linear LogSoftmax Softmax Softmin",
    rules.packed: """
        AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d
        AvgPool2d AvgPool3d BatchNorm1d BatchNorm2d BatchNorm3d ConstantPad1d ConstantPad2d ConstantPad3d GLU GroupNorm
        InstanceNorm1d InstanceNorm2d InstanceNorm3d LogSigmoid MaxPool1d MaxPool2d MaxPool3d PixelShuffle RMSNorm
        ReflectionPad1d ReflectionPad2d ReplicationPad1d ReplicationPad2d Softmax2d Upsample ZeroPad1d ZeroPad2d
    """,
    rules.weighted: "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    rules.same: "Identity Parameter",
    rules.perhaps_same: "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    rules.alike: """
        CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU Mish ReLU ReLU6 SELU SiLU Sigmoid Softplus
        Softshrink Softsign Tanh Tanhshrink Threshold
    """,
    rules.viewed: "Flatten Unflatten",
}


def from_data(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """Packed where it is made of numbers; an array keeps its order."""
    data = kwargs.get("data", args[-1] if call.name.endswith("new_tensor") and args[1:] else args[0] if args else NONE)
    return PACKED if isinstance(data, Const | Num | Prim | Tup | Ref) else None


def matmul(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], shape: Shape) -> Strides | None:
    """Packed; a matrix times a stack of them may be computed the other way round."""
    given = [call.shape(each).rank for each in (*args, *kwargs.values())]
    turned = len(given) != 2 or given[0] is None or given[1] is None or given[0] < 3 <= given[1]
    return None if turned else PACKED


FUNCTIONS = {
    rules.fresh: FRESH,
    rules.contiguous: "contiguous",
    rules.packed: OF_PACKED,
    rules.joined: JOINED,
    rules.weighted: WEIGHTED,
    rules.alike: ALIKE,
    rules.perhaps_same: PERHAPS_SAME,
    rules.elementwise: ELEMENTWISE,
    from_data: "new_tensor tensor",
    matmul: "matmul __matmul__ __rmatmul__",
}


def _register() -> None:
    stand(rules.LAWS, TORCH, FUNCTIONS | VIEWS)
    stand(rules.LAWS, ["torch.nn"], LAYERS)


_register()
