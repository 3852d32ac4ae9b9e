"""How wide elements are told to be, beside PyTorch's own samples, NumPy's functions and what TensorFlow gave."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from distml.ops import ShapeError, find_op
from distml.ops.rules.widths import LAWS, widened
from distml.ops.rules.wrong_kinds import require_kinds
from distml.values import ListRecord, Tensor

from interp.programs import errors_by_function, errors_of
from ops.frameworks.width_forms import HEAD, statements
from ops.recorded import RECORDS, real
from ops.test_numpy_oracle import AS_USUAL, WORKS, calls, run
from ops.test_torch_samples import _named, _names
from ops.torch_oracle import op_db
from ops.width_ways import programs
from ops.world import ScratchWorld, leaves, lift

RECORD = json.loads((RECORDS / "widths-tensorflow-2.15.1.json").read_text("utf-8"))


def _differing(world: ScratchWorld, found: Any, real: Any) -> Iterator[str | None]:
    """What is told wrongly, None for what is told."""
    for told, part in leaves(world, found, real):
        if told.width is not None and hasattr(part, "dtype"):
            name = str(part.dtype).removeprefix("torch.")
            yield None if told.width == name else f"{told.width} told, {name}"


def _told(name: str, function: Any, args: Any, kwargs: dict[str, Any]) -> Iterator[str | None]:
    rule = find_op(name)
    assert rule is not None
    world = ScratchWorld()
    try:
        real = function(*args, **kwargs)
        call, given = world.begin(name), [lift(world, each) for each in args]
        options = {key: lift(world, each) for key, each in kwargs.items()}
        made = widened(call, given, options, rule(call, *given, **options))
    except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, ShapeError, AttributeError):
        return  # a sample for another signature, or of what the function does not take
    shown = [getattr(each, "dtype", each) for each in args]
    for each in _differing(world, made, real):
        yield each and f"{name} {shown} {kwargs}: {each}"


def _mixed(args: Any, dtype: Any) -> Iterator[tuple[Any, ...]]:
    """The arguments, and again with each of the first two tensors, if it has floats or integers, of another dtype."""
    import torch

    yield tuple(args)
    tensors = [place for place, each in enumerate(args) if isinstance(each, torch.Tensor)]
    for place in tensors[:2]:
        if args[place].dtype not in (torch.bool, dtype):
            yield tuple(each.detach().to(dtype) if at == place else each for at, each in enumerate(args))


@pytest.mark.requires("torch")
def test_by_samples_of_torch() -> None:
    import torch

    torch.manual_seed(0)
    wrong, right, all_of = set(), 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in op_db():
            names = [name for name in _names(info) if find_op(name) is not None and name in LAWS]
            for dtype in (torch.float32, torch.int64, torch.int32, torch.uint8):
                known = bool(names) and dtype in info.supported_dtypes("cpu")
                for sample in islice(info.sample_inputs("cpu", dtype), 6) if known else ():
                    for other in (torch.float64, torch.int64, torch.int32, torch.float16, torch.uint8):
                        for args in _mixed((sample.input, *sample.args), other):
                            for name in names:
                                all_of += 1
                                for each in _told(name, _named(name), args, sample.kwargs):
                                    right += each is None
                                    wrong.update({each} - {None})
    assert not wrong, "\n".join(sorted(str(each) for each in wrong))
    assert right > 0.5 * all_of, (right, all_of)


def _other_width(value: Any, width: str) -> Any:
    """Arrays, also in sequences, with elements of another width."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fi":
        return value.astype(width)
    return type(value)(_other_width(each, width) for each in value) if type(value) in (list, tuple) else value


def _variants(args: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The arguments, with all arrays of a width, and with each of the first two alone."""
    yield args
    for width in ("float32", "float16", "int32", "int64", "int8", "uint8"):
        yield tuple(_other_width(each, width) for each in args)
        for place in range(min(2, len(args))):
            yield tuple(_other_width(each, width) if at == place else each for at, each in enumerate(args))


def test_by_calls_of_numpy() -> None:
    wrong, right, all_of = set(), 0, 0
    for name, given, kwargs in calls(WORKS + AS_USUAL):
        qualified = f"numpy.{name}"
        if find_op(qualified) is None or qualified not in LAWS:
            continue
        for args in _variants(given):
            all_of += 1
            for each in _told(qualified, lambda *a, _name=name, **k: run(_name, a, k), args, kwargs):
                right += each is None
                wrong.update({each} - {None})
    assert not wrong, "\n".join(sorted(str(each) for each in wrong))
    assert right > 0.5 * all_of, (right, all_of)


def _of_tensorflow(world: ScratchWorld, value: Any) -> Any:
    """A recorded argument, whose arrays are tensors."""
    if isinstance(value, list):
        return world.allocate(ListRecord(tuple(_of_tensorflow(world, each) for each in value)))
    made = lift(world, value)
    return replace(made, lib="tensorflow") if isinstance(made, Tensor) else made


def test_by_calls_of_tensorflow() -> None:
    known = 0
    for line in RECORD["calls"]:
        name, gave = line["name"], line["gave"]
        rule, world = find_op(name), ScratchWorld()
        if rule is None or name not in LAWS:
            continue
        args = [_of_tensorflow(world, real(each)) for each in line["args"]]
        kwargs = {key: lift(world, each) for key, each in line["kwargs"].items()}
        call = world.begin(name)
        try:
            made = widened(call, args, kwargs, rule(call, *args, **kwargs))
            require_kinds(call, args, kwargs, made)
        except ShapeError as error:
            assert gave == "raises", (line, error.message)
            continue
        told = [(each.width, part) for each, part in leaves(world, made, gave) if each.width is not None]
        assert all(one == other for one, other in told) or gave == "raises", (line, told)
        known += bool(told)
    assert known > 200


def test_statements_of_tensorflow() -> None:
    """Nothing is told of a statement that runs, and most of those that raise are found."""
    texts = statements()
    source = "".join(f"def f{place}():\n    {text}\n" for place, text in enumerate(texts))
    found = errors_by_function(f"{HEAD}{source}")
    raising = {f"f{place}" for place, raises in enumerate(RECORD["raising"]) if raises == "1"}
    told = [(texts[int(name[1:])], errors) for name, errors in found.items() if name not in raising]
    assert not told, told
    assert len(found) > 0.84 * len(raising)


@pytest.mark.requires("torch")
def test_programs_that_make_them_agree() -> None:
    """Nothing is told of what really runs."""
    import torch

    told = []
    for program in programs():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(program, {"__name__": "program"})
        torch.set_default_dtype(torch.float32)
        told += [f"{program}{error.code} {error.message}" for error in errors_of(program)]
    assert not told, "\n".join(told)
