"""Where elements lie: the strides that are known are those of PyTorch, and `view` fails where PyTorch's does (SHP208)."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from distml.ops import ShapeError, find_layer, find_op
from distml.ops.rules.strides import LAWS, laid_out, strides_of
from distml.shapes import Dim
from distml.values import ListRecord, Many, Tensor, Tup, Value

from interp.programs import errors_by_function
from ops.test_torch_samples import _named, _names
from ops.torch_oracle import module_db, op_db
from ops.view_chains import HEAD, programs, really
from ops.world import ScratchWorld, lift

pytestmark = pytest.mark.requires("torch")


def _as_it_is(x: Any) -> Any:
    import torch

    return x.detach().clone(memory_format=torch.contiguous_format)


def _other_way_round(x: Any) -> Any:
    order = tuple(reversed(range(x.dim())))
    return x.detach().permute(order).contiguous().permute(order)


def _thinned_out(x: Any) -> Any:
    import torch

    wide = torch.empty((*x.shape, 2), dtype=x.dtype)
    wide[..., 0] = x.detach()
    return wide[..., 0]


def _channels_last(x: Any) -> Any:
    import torch

    x = _as_it_is(x)
    return x.to(memory_format=torch.channels_last) if x.dim() == 4 else x


LAYOUTS = (_as_it_is, _other_way_round, _thinned_out, _channels_last)


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """A real value with its tensors changed."""
    import torch

    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(_each(item, change) for item in value)
    return value


def _abstract(world: ScratchWorld, value: Any) -> Value:
    """The abstract value of a real one, with its strides."""
    if type(value) is list:
        return world.allocate(ListRecord(tuple(_abstract(world, item) for item in value)))
    if type(value) is tuple:
        return Tup(tuple(_abstract(world, item) for item in value))
    made = lift(world, value)
    if not isinstance(made, Tensor) or not hasattr(value, "stride"):
        return made
    import torch

    tight = torch.empty(value.shape, device="meta").stride() == value.stride()
    return replace(made, strides="packed" if tight else tuple(map(Dim.of, value.stride())))


def _compared(world: ScratchWorld, found: Any, real: Any) -> Iterator[bool | None]:
    """For each tensor of a result whether the strides are right, None where they are not known."""
    import torch

    if isinstance(found, Tensor) and isinstance(real, torch.Tensor):
        strides = strides_of(world.begin("x"), found)
        known = real.numel() and strides is not None and len(strides) == real.dim()
        pairs = zip(strides or (), real.stride(), real.shape, strict=False)
        yield all(a == b for a, b, size in pairs if size != 1) if known else None
    items = found.items if isinstance(found, Tup) else [found.item] * len(real) if isinstance(found, Many) else ()
    for item, part in zip(items, real if items else (), strict=False):
        yield from _compared(world, item, part)


def _replayed(name: str, function: Any, rule: Any, args: Any, kwargs: Any) -> Iterator[tuple[str, bool | None]]:
    """What is said of a call with each layout of its tensors; `rule` gives the abstract result."""
    for layout in LAYOUTS:
        given, named = _each(args, layout), {key: _each(value, layout) for key, value in kwargs.items()}
        world = ScratchWorld()
        call = world.begin(name)
        inputs = [_abstract(world, each) for each in given]
        options = {key: _abstract(world, each) for key, each in named.items()}
        try:
            real = function(*given, **named)
            result = laid_out(call, inputs, options, rule(world, call, inputs, options))
        except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, ShapeError):
            continue  # a sample for another signature, or another layout than the function takes
        for right in _compared(world, result, real):
            yield f"{name} {layout.__name__} {args!r:.200} {kwargs}", right


def _judged(outcomes: Iterator[tuple[str, bool | None]], least: int) -> None:
    counts: Counter[bool | None] = Counter()
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for what, right in outcomes:
            counts[right] += 1
            wrong += [what] if right is False else []
    assert not wrong, "\n".join(wrong[:20])
    assert counts[True] > least, counts


def _of_functions() -> Iterator[tuple[str, bool | None]]:
    import torch

    torch.manual_seed(0)
    for info in op_db():
        dtype = torch.float32 if torch.float32 in info.supported_dtypes("cpu") else torch.int64
        names = [
            name for name in _names(info) if name in LAWS and name.rpartition(".")[2] == info.name.rpartition(".")[2]
        ]
        for sample in (
            islice(info.sample_inputs("cpu", dtype), 4) if names and dtype in info.supported_dtypes("cpu") else ()
        ):
            for name in names:
                rule = find_op(name)
                yield from _replayed(
                    name,
                    _named(name),
                    lambda world, call, args, kwargs, rule=rule: rule(call, *args, **kwargs),
                    (sample.input, *sample.args),
                    sample.kwargs,
                )


def test_functions() -> None:
    _judged(_of_functions(), 1500)


def _of_layers() -> Iterator[tuple[str, bool | None]]:
    import torch

    torch.manual_seed(0)
    for info in module_db():
        name = f"torch.nn.{info.module_cls.__name__}"
        if name not in LAWS:
            continue
        layer = find_layer(name)
        options = {"device": "cpu", "dtype": torch.float32, "requires_grad": False, "training": True}
        for sample in info.module_inputs_func(info, **options)[:24]:
            made, given = sample.constructor_input, sample.forward_input
            if given is None:
                continue
            module = info.module_cls(*made.args, **made.kwargs)

            def rule(world: Any, call: Any, args: Any, kwargs: Any, layer: Any = layer, made: Any = made) -> Any:
                own = [lift(world, each) for each in made.args]
                attrs = layer.init(world.begin(call.name), *own, **{k: lift(world, v) for k, v in made.kwargs.items()})
                return layer.forward(call, attrs, *args, **kwargs)

            yield from _replayed(name, module, rule, given.args, given.kwargs)


def test_layers() -> None:
    _judged(_of_layers(), 200)


def test_every_name_is_of_a_function_or_a_layer() -> None:
    """The table names what there are rules for."""
    homes = ("torch.", "torch.Tensor.", "torch.nn.functional.", "torch.special.")
    known = {name.rpartition(".")[2] for name in LAWS if find_op(name) or find_layer(name)}
    named = {name.rpartition(".")[2] for name in LAWS}
    assert all(name.startswith((*homes, "torch.nn.", "numpy.")) for name in LAWS)
    assert named - known <= {"H", "T", "mT", "mH", "data"}


@pytest.mark.parametrize("seed", range(4))
def test_views_fail_where_they_fail(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = programs(seed, 250)
        failing = really(source)
    errors = errors_by_function(f"{HEAD}\n" + "\n".join(source))
    assert {error.code for each in errors.values() for error in each} == {"SHP208"}
    found = {*errors}
    assert found <= failing, found - failing
    assert len(found) >= 0.8 * len(failing) > 5, failing - found
