"""Laws that stand beside the rules of functions: a library names the functions of each, and each reads arguments itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from distml.values import Many, Tensor, Tup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from distml.ops.call import Call
    from distml.values import Value

TORCH = ("torch", "torch.Tensor", "torch.nn.functional", "torch.special")
NUMPY = ("numpy", "numpy.ndarray")
"""Where functions and methods of one name are."""


def spelled(homes: Sequence[str], names: str) -> list[str]:
    """Qualified names: each of `names`, which stand in a row, in each home."""
    return [f"{home}.{name}" for home in homes for name in names.split()]


def stand(laws: dict[str, Any], homes: Sequence[str], names: Mapping[Any, str]) -> None:
    """Note the law of each name, in each home."""
    for law, row in names.items():
        laws.update(dict.fromkeys(spelled(homes, row), law))


def own(call: Call, values: Iterable[Value | None]) -> list[Tensor]:
    """The tensors of the library that is called: beside an array of NumPy, `x @ array` may be NumPy's product."""
    return [each for each in values if isinstance(each, Tensor) and each.lib == call.lib]


def of_tensors(change: Callable[[Tensor], Tensor], result: Any) -> Any:
    """What a rule gave with each tensor changed, also those in a tuple, or in what is run through."""
    if isinstance(result, Tensor):
        return change(result)
    if isinstance(result, Tup):
        return replace(result, items=tuple(of_tensors(change, item) for item in result.items))
    if isinstance(result, Many):
        return replace(result, item=of_tensors(change, result.item))
    return result


def given(args: Sequence[Value], kwargs: Mapping[str, Value], place: int, *names: str) -> Value | None:
    """An argument by its place or one of its names; None where it is not given."""
    if place < len(args):
        return args[place]
    return next((kwargs[name] for name in names if name in kwargs), None)
