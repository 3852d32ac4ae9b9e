"""PyTorch's own samples of its modules and functions, made abstract and called.

PyTorch keeps, for its own tests, valid and invalid inputs of every module
(`module_db`) and function (`op_db`). Here the real call is made, then the same
call on abstract values, and the two are compared.
"""

from __future__ import annotations

import itertools
import sys
import types
import unittest
import warnings
from typing import Any, NamedTuple

from distml.ops import ShapeError, find_layer, find_op
from distml.shapes import Dim, Shape
from distml.values import Const, InstanceRecord, ListRecord, Num, Opaque, Ref, Tensor, Tup, Value, alternatives

from ops.world import ScratchWorld, lift


def module_db() -> list[Any]:
    """The samples of modules."""
    _stand_in_for_expecttest()
    from torch.testing._internal.common_modules import module_db as found

    return list(found)


def op_db() -> list[Any]:
    """The samples of functions."""
    _stand_in_for_expecttest()
    import torch
    from torch.testing._internal import common_utils
    from torch.testing._internal.common_methods_invocations import op_db as found

    # It looks through the whole stack for a test of torch's own, each time that samples are made; others have imported it.
    common_utils.extract_test_fn.__code__ = (lambda: None).__code__
    # It keeps the whole stack for devices that no sample is on, each time that a seed is set.
    for device in (torch.cuda, torch.xpu, torch.mtia):
        setattr(device, "manual_seed_all", lambda seed: None)  # noqa: B010 the modules are typed
    return list(found)


def _stand_in_for_expecttest() -> None:
    """torch's test package imports it for a base class that no sample needs."""
    import torch

    # On tensors this small, threads only wait for each other.
    torch.set_num_threads(1)
    try:
        import expecttest  # noqa: F401
    except ModuleNotFoundError:
        stand_in: Any = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase
        sys.modules["expecttest"] = stand_in


class Sample(NamedTuple):
    """One call: `make` are the constructor's arguments, None for a function."""

    name: str
    make: tuple[tuple[Any, ...], dict[str, Any]] | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def abstract(world: ScratchWorld, value: Any) -> Value:
    """`lift`, and modules become instances of their layer, for real sub-modules too."""
    import torch

    if isinstance(value, torch.nn.Module) or callable(value):
        return Opaque("callable", world.serial())
    if isinstance(value, torch.Size):
        return Tup(tuple(Const(int(n)) for n in value), kind="size")
    if isinstance(value, tuple):
        return Tup(tuple(abstract(world, item) for item in value))
    if isinstance(value, list):
        return world.allocate(ListRecord(tuple(abstract(world, item) for item in value)))
    return lift(world, value)


def run(sample: Sample, change: Any = None) -> Any:
    """The abstract result; `change` may replace abstract arguments. ShapeError where it fails."""
    return run_in(ScratchWorld(), sample, change)


def run_in(world: ScratchWorld, sample: Sample, change: Any = None) -> Any:
    """`run` in a world of one's own."""
    change = change or (lambda value: value)
    args = [change(abstract(world, v)) for v in sample.args]
    kwargs = {k: change(abstract(world, v)) for k, v in sample.kwargs.items()}
    if sample.make is None:
        return world.call(sample.name, *args, **kwargs)
    made_args, made_kwargs = sample.make
    instance = world.call(
        sample.name,
        *(abstract(world, v) for v in made_args),
        **{k: abstract(world, v) for k, v in made_kwargs.items()},
    )
    return world.apply(instance, args, kwargs)


def agrees(world: ScratchWorld, found: Any, real: Any, values: dict[Any, Dim] | None = None) -> str:
    """ "exact", "partial", "unknown" or "wrong": the abstract result against the real one."""
    verdicts = [_agrees(world, option, real, values or {}) for option in alternatives(found)]
    order = ["exact", "partial", "unknown", "wrong"]
    best = min(verdicts, key=order.index)
    return "partial" if best == "exact" and len(verdicts) > 1 else best


def _agrees(world: ScratchWorld, found: Any, real: Any, values: dict[Any, Dim]) -> str:
    if isinstance(found, Opaque) or type(found).__name__ in ("Prim", "Many", "Expr"):
        return "unknown"
    if isinstance(found, Tensor):
        return _tensor(world, found, real, values)
    items = world.begin("iter").items(found)
    if items is not None and isinstance(real, (tuple, list)):
        if len(items) != len(real):
            return "wrong"
        verdicts = [agrees(world, a, b, values) for a, b in zip(items, real)]
        return max(verdicts, key=["exact", "partial", "unknown", "wrong"].index, default="exact")
    if isinstance(found, Const):
        return "exact" if found.value == real else "wrong"
    if isinstance(found, Num):
        return "exact" if found.dim.substitute(values).constant == real else "unknown"
    if isinstance(found, Ref) and isinstance(world.record(found), InstanceRecord):
        return "unknown"
    return "wrong"


def _tensor(world: ScratchWorld, found: Tensor, real: Any, values: dict[Any, Dim]) -> str:
    if not hasattr(real, "shape"):
        return "wrong"
    kinds = {"float": real.dtype.is_floating_point, "complex": real.dtype.is_complex, "bool": "bool" in str(real.dtype)}
    if found.dtype in kinds and not kinds[found.dtype]:
        return "wrong"
    if found.dtype == "int" and any(kinds.values()):
        return "wrong"
    shape = world.begin("shape").facts.shape(found.shape)
    sizes = [int(n) for n in real.shape]
    if shape.dims is None:
        ends = [(d, n) for d, n in zip(shape.head, sizes)]
        ends += [(d, n) for d, n in zip(reversed(shape.tail), reversed(sizes))]
        fits = len(sizes) >= shape.least and all(_dim(d, n, values) != "wrong" for d, n in ends)
        return ("partial" if ends else "unknown") if fits else "wrong"
    if len(shape.dims) != len(sizes):
        return "wrong"
    verdicts = [_dim(d, n, values) for d, n in zip(shape.dims, sizes)]
    return max(verdicts, key=["exact", "partial", "wrong"].index, default="exact")


def _dim(dim: Dim, real: int, values: dict[Any, Dim]) -> str:
    constant = dim.substitute(values).constant
    if constant is None:
        return "wrong" if dim.differs(real) else "partial"
    return "exact" if constant == real else "wrong"


def module_samples(each: int = 20) -> list[tuple[Sample, Any]]:
    """Valid calls of the modules of `torch.nn`, `each` a module, with their real results."""
    import torch

    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        for info in module_db():
            name = f"torch.nn.{info.module_cls.__name__}"
            if not info.name.startswith("nn.") or "quantized" in info.name or info.name.startswith("nn.ao"):
                continue
            if not has_rule(name):
                continue
            inputs = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=False, training=True
            )
            for given in _spread(inputs, each):
                make, forward = given.constructor_input, given.forward_input
                if forward is None:
                    continue
                sample = Sample(name, (make.args, make.kwargs), forward.args, forward.kwargs)
                module = info.module_cls(*make.args, **make.kwargs)
                _keep_if_it_runs(found, sample, module)
    return found


def _spread(inputs: list[Any], count: int) -> list[Any]:
    """Up to `count` of them, evenly chosen."""
    return inputs[:: max(1, -(-len(inputs) // count))]


def _keep_if_it_runs(found: list[tuple[Sample, Any]], sample: Sample, function: Any) -> None:
    # A few samples are for other devices or other default types than ours.
    try:
        result = function(*sample.args, **sample.kwargs)
    except (RuntimeError, ValueError, TypeError):
        return
    found.append((sample, result))


def module_errors() -> list[tuple[Sample, str]]:
    """Every invalid call of a module, with the message of its failure."""
    import torch

    found = []
    for info in module_db():
        if info.module_error_inputs_func is None:
            continue
        for given in info.module_error_inputs_func(
            info, device="cpu", dtype=torch.float32, requires_grad=False, training=True
        ):
            inputs = given.module_error_input
            make, forward = inputs.constructor_input, inputs.forward_input
            args, kwargs = ((), {}) if forward is None else (forward.args, forward.kwargs)
            sample = Sample(f"torch.nn.{info.module_cls.__name__}", (make.args, make.kwargs), args, kwargs)
            found.append((sample, str(given.error_regex)))
    return found


def _in_order(name: str, given: Any) -> tuple[Any, ...]:
    """The arguments as the function takes them: the samples of embeddings have the weight first."""
    args = (given.input, *given.args)
    return (args[1], args[0], *args[2:]) if "embedding" in name and "loss" not in name else args


def _function(name: str) -> Any:
    import torch

    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def has_rule(name: str) -> bool:
    """Whether there is an op or a layer of that name."""
    return find_layer(name) is not None or find_op(name) is not None


def function_samples(prefix: str, each: int = 20) -> list[tuple[Sample, Any]]:
    """Valid calls of functions whose name starts so, `each` a function, with their real results."""
    import torch

    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        for info in op_db():
            if not info.name.startswith(prefix) or not has_rule(f"torch.{info.name}"):
                continue
            inputs = info.sample_inputs("cpu", torch.float32 if torch.float32 in info.dtypes else torch.int64)
            for given in itertools.islice(inputs, each):
                sample = Sample(f"torch.{info.name}", None, _in_order(info.name, given), given.kwargs)
                _keep_if_it_runs(found, sample, _function(sample.name))
    return found


def function_errors(prefix: str) -> list[tuple[Sample, str]]:
    """Every invalid call of a function whose name starts so, with the message of its failure."""
    found = []
    for info in op_db():
        if not info.name.startswith(prefix) or info.error_inputs_func is None:
            continue
        for given in info.error_inputs("cpu"):
            inputs = given.sample_input
            sample = Sample(f"torch.{info.name}", None, _in_order(info.name, inputs), inputs.kwargs)
            found.append((sample, str(given.error_regex)))
    return found


def symbolic(world: ScratchWorld, values: dict[Any, Dim], shared: bool) -> Any:
    """A change of arguments: every size becomes a symbol, equal sizes the same one if `shared`."""
    known: dict[int, Dim] = {}

    def size(dim: Dim) -> Dim:
        number = dim.constant
        if number is None or (shared and number in known):
            return dim if number is None else known[number]
        new = world.begin("test").symbol(f"n{number}")
        values[next(new.symbols())] = dim
        known[number] = new
        return new

    def change(value: Value) -> Value:
        if isinstance(value, Tensor) and value.shape.dims is not None:
            return Tensor(value.lib, Shape(tuple(size(d) for d in value.shape.dims)), value.dtype)
        if isinstance(value, Tup):
            return Tup(tuple(change(item) for item in value.items), value.kind)
        return value

    return change


def unknown(world: ScratchWorld) -> Any:
    """A change of arguments: every tensor becomes a value nothing is known of."""
    return lambda value: Opaque("x", world.serial()) if isinstance(value, Tensor) else value


def verdict(sample: Sample, real: Any, mode: str = "plain") -> str:
    """How the abstract call agrees with the real one; "spurious" if it fails."""
    world = ScratchWorld()
    values: dict[Any, Dim] = {}
    changes: dict[str, Any] = {
        "plain": None,
        "shared": symbolic(world, values, shared=True),
        "distinct": symbolic(world, values, shared=False),
        "unknown": unknown(world),
    }
    try:
        found = run_in(world, sample, changes[mode])
    except ShapeError as error:
        return f"spurious: {error}"
    return agrees(world, found, real, values)


def tally(samples: list[tuple[Sample, Any]], mode: str) -> tuple[dict[str, int], list[str]]:
    """How many samples have each verdict, and a line for each that is wrong or spurious."""
    counts: dict[str, int] = {}
    bad = []
    for sample, real in samples:
        found = verdict(sample, real, mode)
        kind = found.partition(":")[0]
        counts[kind] = counts.get(kind, 0) + 1
        if kind in ("wrong", "spurious"):
            shapes = [getattr(v, "shape", v) for v in sample.args]
            bad.append(f"{sample.name}{sample.make or ''} {shapes} {list(sample.kwargs)}: {found}")
    return counts, bad
