"""torch: which functions take elements of which kind; `tests/ops/test_wrong_kinds.py` asks PyTorch itself.

https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.dtype. What takes integers of some width (`torch.uint8`) or
on some device is not in it.
"""

from __future__ import annotations

from distml.ops.rules import wrong_kinds as rules
from distml.ops.rules.laws import TORCH, spelled

FLOATS = """
    adaptive_avg_pool2d adaptive_max_pool2d binary_cross_entropy binary_cross_entropy_with_logits cdist celu cross_entropy elu
    gelu glu group_norm hardshrink hardsigmoid hardswish instance_norm kl_div layer_norm leaky_relu log_softmax logsigmoid mean
    mish nanquantile nll_loss prelu quantile rms_norm scaled_dot_product_attention selu silu softmax softmin softplus softshrink
    std std_mean var var_mean
"""
LAYERS = """
    AdaptiveAvgPool2d AdaptiveMaxPool2d BCELoss BCEWithLogitsLoss BatchNorm1d BatchNorm2d BatchNorm3d Bilinear CELU Conv1d Conv2d
    Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d CrossEntropyLoss ELU GELU GLU GRU GRUCell GroupNorm Hardshrink
    Hardsigmoid Hardswish InstanceNorm1d InstanceNorm2d InstanceNorm3d KLDivLoss LSTM LSTMCell LayerNorm LeakyReLU Linear
    LogSigmoid LogSoftmax Mish MultiheadAttention NLLLoss PReLU RMSNorm RNN RNNCell SELU SiLU Softmax Softmin Softplus Softshrink
    TransformerEncoderLayer
"""
ONE_KIND = """
    addbmm addmm addmv baddbmm bilinear bmm chain_matmul conv1d conv2d conv3d conv_transpose1d conv_transpose2d
    conv_transpose3d dot isclose linear matmul mm mv tensordot vdot __matmul__ __rmatmul__
"""
PLACES = {
    "index_add index_copy": ((0, "self"), (3, "source")),
    "scatter scatter_add": ((0, "self"), (3, "src")),
    "masked_scatter": ((0, "self"), (2, "source")),
    "scaled_dot_product_attention": ((0, "query"), (1, "key"), (2, "value")),
    "lerp": ((0, "self"), (1, "end")),
}
ONE_WIDTH = "allclose batch_norm cdist complex cross grid_sample group_norm layer_norm multi_dot polar prelu solve"
"""Those that take kinds, but not widths, beside each other, or no integers at all."""
WEIGHTED_LOSSES = "cross_entropy nll_loss"
MADE = "arange empty eye full full_like linspace ones ones_like rand randint randn tensor zeros zeros_like"
IN_PLACE = f"add_ div_ mul_ pow_ remainder_ sub_ {rules.AUGMENTED}"
DIFFERENCES = "sub subtract rsub sub_ __sub__ __rsub__ __isub__ __neg__ __pos__ neg negative"


def _functions(names: str) -> list[str]:
    return spelled(TORCH, names)


def _register() -> None:
    rules.add(rules.floats, *_functions(FLOATS), *spelled(["torch.nn"], LAYERS))
    rules.add(rules.of_one_kind(), *_functions(ONE_KIND))
    rules.add(rules.of_one_width_at(), *_functions(ONE_WIDTH), *spelled(["torch.linalg"], ONE_WIDTH))
    rules.add(rules.of_one_width_at((0, "input"), (2, "weight")), *_functions(WEIGHTED_LOSSES))
    rules.add(
        rules.of_one_width_at((0, "input"), (1, "target")), *_functions("binary_cross_entropy"), "torch.nn.BCELoss"
    )
    rules.add(rules.places, *_functions("one_hot take take_along_dim"))
    rules.add(rules.contracted, "torch.einsum", "torch.functional.einsum")
    for names, places in PLACES.items():
        rules.add(rules.of_one_kind(*places), *_functions(names), *_functions(" ".join(f"{n}_" for n in names.split())))
    rules.add(rules.gradients, *_functions(MADE))
    rules.add(rules.own_gradients, "torch.Tensor.requires_grad_", "torch.nn.Parameter", "torch.nn.parameter.Parameter")
    rules.add(rules.no_floats, *_functions(rules.BITS))
    rules.add(rules.no_bools, *_functions(DIFFERENCES))
    rules.add(rules.kept, *_functions(IN_PLACE))
    rules.add(rules.put, "torch.Tensor.__setitem__")
    rules.add(rules.classes, *_functions("cross_entropy nll_loss"), "torch.nn.CrossEntropyLoss", "torch.nn.NLLLoss")
    losses = ("torch.nn.BCELoss", "torch.nn.BCEWithLogitsLoss")
    rules.add(rules.shares, *_functions("binary_cross_entropy binary_cross_entropy_with_logits"), *losses)


_register()
