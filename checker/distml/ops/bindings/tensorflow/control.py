"""tensorflow: gradients, and functions that run functions.

https://www.tensorflow.org/api_docs/python/tf/GradientTape
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE
from distml.ops.registry import layer, op
from distml.values import Tensor, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

_TAPE = "tensorflow.GradientTape"


@layer(_TAPE)
class GradientTape:
    """https://www.tensorflow.org/api_docs/python/tf/GradientTape"""

    bases = ()

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
        """Nothing that shapes depend on."""
        return {}


@op(f"{_TAPE}.__enter__")
def enter(call: Call, self: Value) -> Value:
    """The tape itself."""
    return self


@op(f"{_TAPE}.__exit__", f"{_TAPE}.watch", f"{_TAPE}.reset")
def silent(call: Call, self: Value, *args: Value) -> Value:
    """Nothing."""
    return NONE


@op(f"{_TAPE}.gradient")
def gradient(call: Call, self: Value, target: Value, sources: Value, *args: Value, **options: Value) -> Value:
    """A gradient has the shape of what it is taken by."""
    if isinstance(sources, Tensor):
        return call.tensor(call.shape(sources), sources.dtype)
    items = call.items(sources)
    if items is None or not all(isinstance(item, Tensor) for item in items):
        return call.unknown()
    return call.list_of([call.tensor(call.shape(item), item.dtype) for item in items if isinstance(item, Tensor)])


@op("tensorflow.cond")
def cond(call: Call, pred: Value, true_fn: Value = NONE, false_fn: Value = NONE, name: Value = NONE) -> Value:
    """What either function gives."""
    known = call.const(pred, bool)
    if isinstance(known, bool):
        return call.apply(true_fn if known else false_fn)
    return call.unknown()
