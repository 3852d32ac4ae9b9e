"""flax: the state of training: a function, its parameters, an optimizer.

https://flax.readthedocs.io/en/latest/api_reference/flax.training.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.registry import layer, op
from distml.values import InstanceRecord, Lib, Ref, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

_STATE = "flax.training.train_state.TrainState"


@layer(_STATE)
class TrainState:
    """A class that programs derive from to keep more."""

    entry = "apply_fn"


@op(f"{_STATE}.create")
def create(call: Call, *, apply_fn: Value, params: Value, tx: Value, **kwargs: Value) -> Value:
    """TrainState.create(apply_fn=..., params=..., tx=...)"""
    attrs = {"apply_fn": apply_fn, "params": params, "tx": tx, **kwargs}
    return call.world.allocate(InstanceRecord(Lib(_STATE), attrs, exact=False))


@op(f"{_STATE}.apply_gradients")
def apply_gradients(call: Call, self: Value, *, grads: Value, **kwargs: Value) -> Value:
    """state.apply_gradients(grads=grads): the same with other numbers."""
    return _changed(call, self, kwargs)


@op(f"{_STATE}.replace")
def replace(call: Call, self: Value, **kwargs: Value) -> Value:
    """state.replace(params=...)"""
    return _changed(call, self, kwargs)


def _changed(call: Call, self: Value, changes: dict[str, Value]) -> Value:
    record = call.world.record(self) if isinstance(self, Ref) else None
    if not isinstance(record, InstanceRecord):
        return call.unknown()
    return call.world.allocate(record.having(changes))


@op("flax.core.freeze", "flax.core.unfreeze", "flax.core.frozen_dict.freeze", "flax.core.frozen_dict.unfreeze")
@op("flax.core.FrozenDict", "flax.core.frozen_dict.FrozenDict")
def frozen(call: Call, tree: Value) -> Value:
    """The same tree."""
    return tree
