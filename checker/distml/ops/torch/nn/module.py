"""torch.nn.Module: what every module can do, and parameters and buffers.

https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, TRUE, Call
from distml.ops.registry import attribute, layer, op
from distml.ops.rules.strides import FORMATTED
from distml.ops.rules.widths import CHOSEN, is_elsewhere
from distml.ops.torch.nn.names import NAMES
from distml.values import Const, DictRecord, Many, Num, Prim, Tensor, Tup

if TYPE_CHECKING:
    from distml.values import Value

SELF = ("apply", "cpu", "cuda", "eval", "requires_grad_", "share_memory", "to_empty", "train", "ipu", "mtia", "xpu")
CAST = ("bfloat16", "double", "float", "half", "type")
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


@op(*(f"torch.nn.Module.{name}" for name in SELF))
def chained(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """Methods that give the module itself."""
    return self


@op(*(f"torch.nn.Module.{name}" for name in CAST))
def cast(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """Methods that give the module itself with other weights."""
    call.world.put(CHOSEN, True)
    return self


@op("torch.nn.Module.to")
def to(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """The module itself, with weights elsewhere, in another order or of another dtype."""
    if "memory_format" in kwargs:
        call.world.put(FORMATTED, True)
    named = [value for name, value in kwargs.items() if name not in ("device", "memory_format")]
    if not all(is_elsewhere(call, each) for each in (*args, *named)):
        call.world.put(CHOSEN, True)
    return self


@op(*(f"torch.nn.Module.{name}" for name in NOTHING + SETTERS))
def silent(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """Methods that give nothing; what some of them set, the interpreter sets."""
    return NONE


@op(*(f"torch.nn.Module.{name}" for name in LOOKED_UP + HOOKS))
def unknown(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """Methods whose result is not followed."""
    if "assign" in kwargs:
        call.world.put(CHOSEN, True)
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


@op("torch.nn.Module.forward")
def forward(call: Call, self: Value, *args: Value, **kwargs: Value) -> Value:
    """What a call runs, without hooks; the interpreter follows it for layers that there are rules for."""
    return call.unknown()


@op("torch.nn.Module.extra_repr")
def extra_repr(call: Call, self: Value) -> Value:
    """Some text."""
    return Prim("str")


@op("torch.nn.Parameter", "torch.nn.parameter.Parameter")
def parameter(call: Call, data: Value = NONE, requires_grad: Value = TRUE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html: the same shape."""
    if call.is_none(data):
        return Tensor("torch", call.tensor([0]).shape, "float", parameter=True)
    strides = data.strides if isinstance(data, Tensor) else None
    return Tensor("torch", call.shape(data), call.dtype(data), parameter=True, strides=strides)


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
