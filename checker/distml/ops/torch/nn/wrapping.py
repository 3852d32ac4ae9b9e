"""torch.nn: modules around modules, weight initialization and utilities, which keep shapes.

https://docs.pytorch.org/docs/stable/nn.init.html
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, TRUE, Call
from distml.ops.registry import layer, op
from distml.ops.rules.layers import given
from distml.shapes import Dim
from distml.values import Const, InstanceRecord, Many, Prim, Ref, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.values import Value

WEIGHT = Const("weight")
FILLS = ("constant_", "normal_", "ones_", "trunc_normal_", "uniform_", "zeros_")
RANKED_FILLS = {
    "dirac_": (3, 4, 5),
    "eye_": (2,),
    "kaiming_normal_": (),
    "kaiming_uniform_": (),
    "orthogonal_": (),
    "sparse_": (2,),
    "xavier_normal_": (),
    "xavier_uniform_": (),
}
"""Fills that need a tensor of these ranks, or of 2 axes and more."""
PARAMETRIZING = (
    "parametrizations.orthogonal",
    "parametrizations.spectral_norm",
    "parametrizations.weight_norm",
    "spectral_norm",
    "weight_norm",
)
RESTORING = ("remove_spectral_norm", "remove_weight_norm")
COMPUTED = "__computed__"
"""An attribute of modules one of whose tensors is computed from parameters that are not known by name."""
PARTLY = "__partly__"
"""An attribute of modules some of whose parameters are not known."""


@layer(
    "torch.nn.DataParallel",
    "torch.nn.parallel.DataParallel",
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel",
)
class Wrapped:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(call: Call, module: Value, *args: Value, **kwargs: Value) -> dict[str, Value]:
        """The module that is called."""
        return {"module": module}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], *args: Value, **kwargs: Value) -> Value:
        """What the module gives."""
        return call.apply(given(call, attrs, "module"), *args, kwargs=kwargs)


@op(*(f"torch.nn.init.{name}" for name in FILLS))
def fill(call: Call, tensor: Value, *args: Value, **kwargs: Value) -> Value:
    """Fills the tensor and gives it."""
    return tensor


def _ranked_fill(ranks: tuple[int, ...]) -> Callable[..., Value]:
    def fill_matrix(call: Call, tensor: Value, *args: Value, **kwargs: Value) -> Value:
        shape = call.shape(tensor)
        if ranks:
            call.of_rank(shape, *ranks, what="a tensor")
        elif call.facts.at_least(shape, 2) is None:
            call.fail("SHP301", f"{call.text} needs a tensor with at least 2 axes, gets {call.show(shape)}")
        return tensor

    return fill_matrix


for _name, _ranks in RANKED_FILLS.items():
    op(f"torch.nn.init.{_name}")(_ranked_fill(_ranks))


@op("torch.nn.init.calculate_gain")
def calculate_gain(call: Call, nonlinearity: Value, param: Value = NONE) -> Value:
    """A number."""
    return Prim("float")


@op(*(f"torch.nn.utils.{name}" for name in PARAMETRIZING))
def parametrize(call: Call, module: Value, name: Value = WEIGHT, *args: Value, **kwargs: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.weight_norm.html

    The same module; its tensor is computed from parameters of other names, which the state dict has instead.
    """
    return _held(call, module, name, parameter=False)


@op(*(f"torch.nn.utils.{name}" for name in RESTORING))
def restore(call: Call, module: Value, name: Value = WEIGHT) -> Value:
    """The same module, whose tensor is a parameter again."""
    return _held(call, module, name, parameter=True)


@op("torch.nn.utils.parametrize.register_parametrization")
def register_parametrization(
    call: Call, module: Value, tensor_name: Value, parametrization: Value, *, unsafe: Value = FALSE
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrize.register_parametrization.html

    The tensor keeps its shape, unless `unsafe`.
    """
    return _held(call, module, tensor_name, parameter=False, keeps=unsafe == FALSE)


def _held(call: Call, module: Value, tensor_name: Value, parameter: bool, keeps: bool = True) -> Value:
    """The module, one of whose tensors is a parameter or is computed from others; all of them if the name is not known."""
    record = call.world.record(module) if isinstance(module, Ref) else None
    if isinstance(record, InstanceRecord) and isinstance(module, Ref):
        name = call.const(tensor_name, str)
        names = [name] if isinstance(name, str) else list(record.attrs)
        attrs = dict(record.attrs)
        for each in names:
            held = attrs.get(each)
            if not keeps:
                attrs[each] = call.unknown(each)
            elif isinstance(held, Tensor):
                attrs[each] = replace(held, parameter=parameter)
        attrs[COMPUTED] = TRUE
        call.world.replace(module, replace(record, attrs=attrs))
    return module


@op("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad.clip_grad_norm_", "torch.nn.utils.get_total_norm")
def clip_grad_norm(call: Call, parameters: Value, *args: Value, **kwargs: Value) -> Value:
    """The norm of all gradients."""
    return call.tensor([], "float")


@op("torch.nn.utils.clip_grad_value_", "torch.nn.utils.clip_grads_with_norm_", "torch.nn.utils.vector_to_parameters")
def silent(call: Call, *args: Value, **kwargs: Value) -> Value:
    """Functions that give nothing."""
    return NONE


@op("torch.nn.utils.parameters_to_vector")
def parameters_to_vector(call: Call, parameters: Value) -> Value:
    """All parameters in a row."""
    found = call.iterate(parameters)
    if isinstance(found, Many):
        return call.tensor([None])
    sizes = [call.shape(item).size for item in found]
    known = [size for size in sizes if size is not None]
    return call.tensor([sum(known, start=Dim.of(0)) if len(known) == len(sizes) else None])


@op("torch.nn.utils.skip_init")
def skip_init(call: Call, module_cls: Value, *args: Value, **kwargs: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.skip_init.html: the module."""
    device = {name: value for name, value in kwargs.items() if name != "device" or value != Const(None)}
    return call.apply(module_cls, *args, kwargs=device)
