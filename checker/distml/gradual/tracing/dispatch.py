"""Where torch hands over: every function, method and layer of torch that a run calls on a proxy comes here."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from distml.gradual.tracing.lifting import KINDS, lift, lower, proxies_in, record_of
from distml.gradual.tracing.proxies import Sizes, TensorProxy, Truth, UnrankedSizes
from distml.interp import subscripts
from distml.interp.arguments import Arguments
from distml.interp.calls import call_value
from distml.ops.registry import find_layer, find_op
from distml.values import Opaque, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from distml.gradual.tracing.tracer import Tracer
    from distml.values import Value

SAME_FOR_ALL = {
    "is_cuda": False,
    "is_meta": False,
    "is_cpu": True,
    "is_nested": False,
    "is_sparse": False,
    "is_quantized": False,
    "is_mkldnn": False,
    "is_xpu": False,
    "requires_grad": False,
    "layout": torch.strided,
    "grad": None,
}
"""Attributes that say nothing of shapes: what they are for the tensors of a traced run."""
PACKAGES = {"torch.functional": "torch", "torch._C._nn": "torch.nn.functional", "torch._C": "torch"}


class Dispatch(TorchFunctionMode):
    """While it is entered, functions of torch that are given proxies are answered by the rules."""

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self.tracer = tracer

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Answer for `func`; with arguments that are all real it is called."""
        kwargs = kwargs or {}
        if not proxies_in(args) and not proxies_in(kwargs):
            return func(*args, **kwargs)
        if getattr(func, "__name__", "") == "__get__":
            return self._attribute(func.__self__.__name__, args[0])
        name = name_of(func)
        special = SPECIAL.get(name)
        if special is not None:
            return special(self.tracer, *args, **kwargs)
        return self._called(name, args, kwargs)

    def _attribute(self, name: str, owner: Any) -> Any:
        if not isinstance(owner, TensorProxy):
            return getattr(owner, name)
        if name in SAME_FOR_ALL:
            return SAME_FOR_ALL[name]
        if name == "dtype":
            return dtype_of(owner)
        if name == "device":
            return self.tracer.device
        return self.tracer.attribute(owner.value, name)

    def _called(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tracer = self.tracer
        with tracer.entered():
            values = [lift(tracer, arg) for arg in args]
            name, values = _reflected(name, values)
            given = Arguments(values, {key: lift(tracer, arg) for key, arg in kwargs.items()})
            if name.startswith("torch.Tensor.") and values:
                result = tracer.call(name, Arguments(values[1:], given.kwargs), values[0])
            else:
                result = tracer.call(name, given)
            if _in_place(name) and args and isinstance(args[0], TensorProxy):
                args[0].value = result
                return args[0]
            return lower(tracer, result, array=True)


def name_of(func: Any) -> str:
    """The qualified name of a function of torch, as its documentation says it."""
    found = resolve_name(func)
    if found is None:
        name = getattr(func, "__name__", str(func))
        owner = getattr(func, "__objclass__", None)
        if owner is not None and issubclass(torch.Tensor, owner):
            return f"torch.Tensor.{name}"
        package = getattr(func, "__module__", None) or "torch"
        return f"{PACKAGES.get(package, package)}.{name}"
    package, _, name = found.rpartition(".")
    return f"{PACKAGES.get(package, package)}.{name}"


def _reflected(name: str, values: list[Value]) -> tuple[str, list[Value]]:
    """`torch.Tensor.__rsub__(x, 1)` is `torch.Tensor.__sub__(1, x)` where the rules know only that one."""
    plain = name.replace(".__r", ".__", 1)
    if plain != name and len(values) == 2 and find_op(name) is None and find_op(plain) is not None:
        return plain, [values[1], values[0]]
    return name, values


def _in_place(name: str) -> bool:
    method = name.rpartition(".")[2]
    if method.startswith("__"):
        return method.startswith("__i") and find_op(name.replace("__i", "__", 1)) is not None
    return method.endswith("_")


def dtype_of(proxy: TensorProxy) -> torch.dtype:
    """What a tensor says its dtype is; float where not even the kind is known."""
    value = proxy.value
    return KINDS.get(value.dtype or "", torch.float32) if isinstance(value, Tensor) else torch.float32


# --- functions that are no matter of shapes, or that Python wants plain answers from --------------


def _truth(tracer: Tracer, tensor: Any) -> bool:
    value = tensor.value
    if isinstance(value, Tensor):
        # What a tensor holds is not followed: either answer is possible.
        value = tracer.vm.opaque("the content of a tensor")
    return tracer.decide(value, about_shapes=False)


def _number(tracer: Tracer, tensor: Any) -> Any:
    return tracer.number(tensor.value)


def _length(tracer: Tracer, tensor: Any) -> int:
    return int(tracer.length(tensor))


def _item(tracer: Tracer, owner: Any, index: Any) -> Any:
    with tracer.entered():
        found = subscripts.subscript(tracer.vm, lift(tracer, owner), lift(tracer, index), tracer.vm.node)
        return lower(tracer, found, array=True)


def _store(tracer: Tracer, owner: Any, index: Any, item: Any) -> None:
    with tracer.entered():
        vm = tracer.vm
        subscripts.store_subscript(vm, lift(tracer, owner), lift(tracer, index), lift(tracer, item), vm.node)


def _is_floating_point(tracer: Tracer, tensor: Any) -> bool:
    return dtype_of(tensor).is_floating_point


def _scalar(tracer: Tracer, tensor: Any) -> Any:
    return tracer.unknown("the content of a tensor")


SPECIAL: dict[str, Callable[..., Any]] = {
    "torch.Tensor.__bool__": _truth,
    "torch.Tensor.__int__": _number,
    "torch.Tensor.__index__": _number,
    "torch.Tensor.__float__": _number,
    "torch.Tensor.__len__": _length,
    "torch.Tensor.__getitem__": _item,
    "torch.Tensor.__setitem__": _store,
    "torch.Tensor.item": _scalar,
    "torch.Tensor.tolist": _scalar,
    "torch.is_floating_point": _is_floating_point,
    "torch.Tensor.is_floating_point": _is_floating_point,
}


# --- layers and modules ------------------------------------------------------------------------------


def rules_for(module: torch.nn.Module) -> str | None:
    """The name that the rules know a layer by; None for a module whose own code is run."""
    cls = type(module)
    if not cls.__module__.startswith("torch.nn.") or (module._modules and cls is not torch.nn.MultiheadAttention):
        return None
    name = f"torch.nn.{cls.__name__}"
    rules = find_layer(name)
    return name if rules is not None and hasattr(rules, "forward") else None


@contextmanager
def layers_answered(tracer: Tracer, model: torch.nn.Module) -> Iterator[None]:
    """While it is entered, layers of torch that have rules are answered by them when they are called on proxies."""
    names = {id(module): name for name, module in model.named_modules()}
    run = torch.nn.Module.__call__

    def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        name = rules_for(module) if proxies_in(args) or proxies_in(kwargs) else None
        if name is None:
            return run(module, *args, **kwargs)
        return _layer(tracer, module, names.get(id(module), ""), name, args, kwargs)

    with _replaced(torch.nn.Module, "__call__", call):
        yield


def _layer(
    tracer: Tracer, module: torch.nn.Module, label: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    with tracer.entered():
        vm = tracer.vm
        layer = vm.allocate(record_of(tracer, module, label or name.rpartition(".")[2], name))
        given = Arguments([lift(tracer, a) for a in args], {k: lift(tracer, a) for k, a in kwargs.items()})
        result = call_value(vm, layer, given, vm.node)
        if isinstance(result, Opaque):
            vm.lose(f"what {name} gives is not known")
        return lower(tracer, result, array=True)


@contextmanager
def truths_taken(tracer: Tracer) -> Iterator[None]:
    """While it is entered, these functions take the truth of a comparison, which torch would not hand to us."""
    functional = torch.nn.functional
    attention: Callable[..., Any] = functional.scaled_dot_product_attention

    def attend(*args: Any, **kwargs: Any) -> Any:
        # Which way the mask goes says nothing of shapes.
        given = {key: False if type(value) is Truth else value for key, value in kwargs.items()}
        return attention(*args, **given)

    def required(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def require(condition: Any, *args: Any, **kwargs: Any) -> Any:
            if type(condition) is Truth:
                return tracer.require(name, condition)
            return run(condition, *args, **kwargs)

        return require

    with ExitStack() as stack:
        stack.enter_context(_replaced(functional, "scaled_dot_product_attention", attend))
        for name in ("_assert", "_check"):
            stack.enter_context(_replaced(torch, name, required(f"torch.{name}", getattr(torch, name))))
        yield


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextmanager
def lengths_followed(tracer: Tracer, modules: list[ModuleType]) -> Iterator[None]:
    """While it is entered, `len(x.shape)` in the code of these modules gives a size, not a mere number."""

    def length(value: Any) -> Any:
        return tracer.length(value) if type(value) in (Sizes, UnrankedSizes) else len(value)

    changed = [module for module in modules if "len" not in module.__dict__]
    for module in changed:
        module.__dict__["len"] = length
    try:
        yield
    finally:
        for module in changed:
            module.__dict__.pop("len", None)


@contextmanager
def restored(model: torch.nn.Module) -> Iterator[None]:
    """What a run sets on the model is undone after it, so that every run finds the model as it was made."""
    tables = [
        table
        for module in model.modules()
        for table in (module.__dict__, module._parameters, module._buffers, module._modules)
    ]
    before = [dict(table) for table in tables]
    try:
        yield
    finally:
        for table, content in zip(tables, before, strict=True):
            table.clear()
            table.update(content)


def modules_of(model: torch.nn.Module) -> list[ModuleType]:
    """The Python modules that the code of a model is in, but for torch's own."""
    names = {cls.__module__ for module in model.modules() for cls in type(module).__mro__}
    return [
        sys.modules[n] for n in sorted(names) if n in sys.modules and n.partition(".")[0] not in ("torch", "builtins")
    ]
