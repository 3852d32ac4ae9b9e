"""torch.nn.Module: what every module can do, and parameters and buffers.

https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, TRUE, Call
from distml.ops.registry import attribute, layer, op
from distml.values import Const, DictRecord, Many, Num, Prim, Tensor, Tup

if TYPE_CHECKING:
    from distml.values import Value

SELF = ("apply", "bfloat16", "cpu", "cuda", "double", "eval", "float", "half", "requires_grad_", "share_memory")
MOVED = ("to", "to_empty", "train", "type", "ipu", "mtia", "xpu")
NOTHING = ("compile", "zero_grad")
SETTERS = ("__setattr__", "add_module", "register_buffer", "register_module", "register_parameter", "set_submodule")
LOOKED_UP = ("get_buffer", "get_extra_state", "get_parameter", "get_submodule", "load_state_dict")
HOOKS = (
    "register_backward_hook",
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
    "register_load_state_dict_post_hook",
    "register_state_dict_pre_hook",
)
ITERATED = ("buffers", "children", "modules", "parameters")
NAMED = ("named_buffers", "named_children", "named_modules", "named_parameters")
NAMES = frozenset(
    """
T_destination a activation activation_relu_or_gelu activations add_module add_zero_attn affine align_corners
all_weights alpha append apply approximate batch_first beta bfloat16 bias bias_hh bias_ih bias_k bias_v bidirectional
blank buffers call_super_init ceil_mode check_forward_args check_hidden_size check_input children choices clear
cls_to_become compile conv1 conv2 convert_sync_batchnorm copy count_include_pad cpu cuda cutoffs d_model decoder delta
device_ids dilation dim distance_function div_value divisor_override double downscale_factor dropout dropout1 dropout2
dropout3 dump_patches elementwise_affine embed_dim embedding_dim enable_nested_tensor encoder end_dim eps eval extend
extra_repr fc1 fc2 flatten_parameters float forward freeze from_pretrained fromkeys full gather
generate_square_subsequent_mask get get_buffer get_expected_cell_size get_expected_hidden_size get_extra_state
get_parameter get_submodule groups half has_uninitialized_params head head_bias head_dim head_size hidden_size
ignore_index in1_features in2_features in_channels in_features in_proj_bias in_proj_weight include_last_offset init
initialize_parameters inplace input_size insert ipu items k k_proj_weight kdim keepdim kernel_size keys
label_smoothing lambd layers linear linear1 linear2 linears load_state_dict log_input log_prob log_target lower margin
mask_check max_norm max_val merge_masks min_val mode module modules momentum mtia multihead_attn n_classes n_clusters
name named_buffers named_children named_modules named_parameters negative_slope nhead nonlinearity norm norm1 norm2
norm3 norm_first norm_type normalized_shape num_batches_tracked num_channels num_classes num_embeddings num_features
num_groups num_heads num_layers num_parameters options out_channels out_features out_proj output_device output_padding
output_ratio output_size p padding padding_idx padding_mode parallel_apply parameters params permute_hidden pop
popitem pos_weight predict process_group proj_size q_proj_weight recompute_scale_factor reduction
register_backward_hook register_buffer register_forward_hook register_forward_pre_hook register_full_backward_hook
register_full_backward_pre_hook register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module
register_parameter register_state_dict_post_hook register_state_dict_pre_hook relu1 relu2 replicate requires_grad_
reset_parameters reset_running_stats return_indices running_mean running_var scale_factor scale_grad_by_freq scatter
self_attn set_extra_state set_submodule setdefault share_memory shortlist_size size sparse src_device_obj start_dim
state_dict stride swap tail threshold to to_empty track_running_stats train training transposed type unflattened_size
update upper upscale_factor use_nested_tensor v_proj_weight value values vdim weight weight_hh weight_ih xpu zero_grad
zero_infinity
""".split()
)
"""What modules and the layers of PyTorch have, by name. What is not listed, and does not begin with `_`, none of them has."""


@layer("torch.nn.Module")
class Module:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html"""

    entry = "forward"
    names = NAMES

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
        """In training mode, as every module is at first."""
        return {"training": TRUE}


@op("torch.nn.Module.__init__")
def initialize(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """`super().__init__()`: nothing that shapes depend on."""
    return NONE


@attribute("torch.nn.Module.training")
def training(call: Call, self: Value) -> Value:
    """Either mode: of a layer whose own `training` nobody set."""
    return Prim("bool")


@op(*(f"torch.nn.Module.{name}" for name in SELF + MOVED))
def chained(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """Methods that give the module itself."""
    return self


@op(*(f"torch.nn.Module.{name}" for name in NOTHING + SETTERS))
def silent(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """Methods that give nothing; what some of them set, the interpreter sets."""
    return NONE


@op(*(f"torch.nn.Module.{name}" for name in LOOKED_UP + HOOKS))
def unknown(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """Methods whose result is not followed."""
    return call.unknown()


@op("torch.utils.hooks.RemovableHandle.remove", "torch.utils.hooks.RemovableHandle.__exit__")
def remove(call: Call, self: Value, *args: Value) -> Value:
    """handle.remove(): which hook that is, the interpreter knows"""
    return NONE


@op("torch.utils.hooks.RemovableHandle.__enter__")
def enter(call: Call, self: Value) -> Value:
    """with handle: the hook is removed at the end"""
    return self


@op(*(f"torch.nn.Module.{name}" for name in ITERATED))
def iterated(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """Unknown many parameters or modules."""
    return Many(call.unknown("item"), "iterator")


@op(*(f"torch.nn.Module.{name}" for name in NAMED))
def named(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """Unknown many pairs of a name and a parameter or module."""
    return Many(Tup((Prim("str"), call.unknown("item"))), "iterator")


@op("torch.nn.Module.state_dict")
def state_dict(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """A dict of tensors."""
    return call.world.allocate(DictRecord({}, exact=False))


@op("torch.nn.Module.extra_repr")
def extra_repr(call: Call, self: Value) -> Value:
    """Some text."""
    return Prim("str")


@op("torch.nn.Parameter", "torch.nn.parameter.Parameter")
def parameter(call: Call, data: Value = NONE, requires_grad: Value = TRUE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html: the same shape."""
    if call.is_none(data):
        return Tensor("torch", call.tensor([0]).shape, "float", parameter=True)
    return Tensor("torch", call.shape(data), call.dtype(data), parameter=True)


@op("torch.nn.Buffer", "torch.nn.parameter.Buffer")
def buffer(call: Call, data: Value = NONE, *, persistent: Value = FALSE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Buffer.html: the same shape."""
    return Tensor("torch", call.shape(data), call.dtype(data))


@op("torch.nn.UninitializedParameter", "torch.nn.parameter.UninitializedParameter")
def uninitialized(call: Call, requires_grad: Value = TRUE, device: Value = NONE, dtype: Value = NONE) -> Value:
    """A parameter of no shape yet."""
    return call.unknown("parameter")


_TIMES = {"_single": 1, "_pair": 2, "_triple": 3, "_quadruple": 4}


@op(*(f"torch.nn.{name}" for name in _TIMES))
def for_each_axis(call: Call, x: Value) -> Value:
    """_pair(x) of torch.nn.modules.utils: what is iterable as a tuple, anything else for each axis"""
    items = call.items(x)
    if items is None and not isinstance(x, Const | Num | Prim):
        return call.unknown()
    times = _TIMES[call.name.rpartition(".")[2]]
    return Tup((x,) * times if items is None else items)
