"""torch: how wide the results of functions are; the tests ask PyTorch's own samples (`tests/ops/test_widths.py`).

https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.dtype
"""

from __future__ import annotations

from distml.ops.rules import widths as rules
from distml.ops.rules.laws import TORCH, spelled, stand

MADE = "arange empty eye full linspace logspace ones rand randint randn randperm tril_indices triu_indices zeros"
LIKE = """
    empty_like full_like new_empty new_full new_ones new_zeros ones_like rand_like randint_like randn_like zeros_like
"""
MOVED = """
    adjoint broadcast_to chunk clone contiguous cpu cuda detach diag diagonal expand expand_as flatten flip fliplr flipud gather
    hsplit index_select masked_select moveaxis movedim narrow permute pixel_shuffle pixel_unshuffle repeat repeat_interleave
    reshape reshape_as roll rot90 select split split_with_sizes squeeze swapaxes swapdims t take_along_dim tensor_split tile
    transpose tril triu unbind unflatten unfold unsqueeze view_as vsplit H T mH mT data __getitem__ __iter__
"""
SAME = """
    abs adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d
    alpha_dropout avg_pool1d avg_pool2d avg_pool3d celu dropout dropout1d dropout2d dropout3d elu feature_alpha_dropout gelu glu
    hardshrink hardsigmoid hardswish hardtanh interpolate leaky_relu logsigmoid mish neg negative normalize pad relu relu6 renorm
    selu silu softplus softshrink tanhshrink upsample __neg__ __abs__ __pos__
    layer_norm group_norm batch_norm instance_norm prelu linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d
    conv_transpose3d mm bmm mv dot matmul addmm baddbmm cdist mean var std logsumexp norm amax amin log_softmax softmax softmin
    masked_fill index_fill __matmul__ quantile
"""
COUNTED = """
    cummax cummin cumprod cumsum kthvalue max max_pool1d max_pool2d max_pool3d median min mode prod sort sum topk unique
"""
PLACED = "argmax argmin argsort bincount bucketize count_nonzero nonzero searchsorted multinomial one_hot"
FLOATED = """
    acos acosh asin asinh atan atanh cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 lgamma log log10 log1p log2 logit
    rad2deg reciprocal rsqrt sigmoid sin sinc sinh sqrt tan tanh
"""
PROMOTED = """
    add atan2 clamp clip div divide floor_divide fmod hypot maximum minimum mul multiply outer pow remainder sub subtract
    true_divide where lerp __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ __mod__
    __pow__ __rpow__
"""
JOINED = "cat column_stack concat concatenate dstack hstack stack vstack"
CASTS = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
}
WEIGHTED = """
    BatchNorm1d BatchNorm2d BatchNorm3d Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
    CrossEntropyLoss Embedding GRU GRUCell GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d LSTM LSTMCell LayerNorm Linear
    MultiheadAttention NLLLoss PReLU RNN RNNCell
"""
"""Layers whose result, and a floating input, is as wide as their weights are."""
PLAIN = """
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AlphaDropout AvgPool1d AvgPool2d AvgPool3d CELU Dropout Dropout1d
    Dropout2d Dropout3d ELU Flatten GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh Identity LeakyReLU LogSigmoid LogSoftmax
    MaxPool1d MaxPool2d MaxPool3d Mish Parameter PixelShuffle ReLU ReLU6 ReflectionPad1d ReflectionPad2d ReplicationPad1d
    ReplicationPad2d SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Unflatten
    Upsample ZeroPad1d ZeroPad2d
"""
FUNCTIONS = {
    rules.made: MADE,
    rules.moved: MOVED + LIKE,
    rules.same: SAME,
    rules.counted: COUNTED,
    rules.placed: PLACED,
    rules.floated: FLOATED,
    rules.promoted: PROMOTED,
    rules.joined: JOINED,
    rules.of_data: "tensor as_tensor asarray from_numpy",
    rules.converted: "to type type_as",
}


def _register() -> None:
    stand(rules.LAWS, TORCH, FUNCTIONS)
    for name, width in CASTS.items():
        rules.LAWS[f"torch.Tensor.{name}"] = rules.always(width)
    rules.LAWS["torch.Tensor.numpy"] = rules.moved
    for name, width in {**rules.TYPED, "Tensor": "float32"}.items():
        rules.LAWS.update(dict.fromkeys(spelled(["torch", "torch.cuda"], name), rules.always(width)))
    rules.WEIGHTED.update(spelled(["torch.nn"], WEIGHTED))
    stand(rules.LAWS, ["torch.nn"], {rules.same: PLAIN})


_register()
