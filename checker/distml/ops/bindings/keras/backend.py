"""keras: keras.backend, which own losses and metrics are often written with.

https://www.tensorflow.org/api_docs/python/tf/keras/backend
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.bindings.tensorflow.dtypes import cast
from distml.ops.call import NONE
from distml.ops.registry import op
from distml.ops.rules.kinds import floating, kind_of
from distml.ops.rules.view import ravel
from distml.ops.rules.widths import CHOSEN
from distml.ops.semantics import tensors as rules
from distml.source.libraries import CHOOSES_FLOATS
from distml.values import Prim

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value

_ROOT = "keras.backend."


def _all(names: str) -> list[str]:
    return [f"{_ROOT}{name}" for name in names.split()]


def flat(call: Call, x: Value) -> Value:
    """All elements on one axis."""
    return call.tensor(ravel(call, call.shape(x)), kind_of(x))


def small(call: Call) -> Value:
    """keras.backend.epsilon()"""
    return Prim("float")


_AXES = "x axis=None keepdims=False"
bind(rules.unary(), "x", *_all("abs square sqrt exp log sign round sin cos sigmoid tanh softplus softsign"))
bind(rules.unary(), "x -alpha=0.0 -max_value=None -threshold=0.0", *_all("relu"))
bind(rules.unary(), "x -min_value -max_value", *_all("clip"))
bind(rules.unary(), "x -a", *_all("pow"))
bind(rules.unary(), "x -dtype=None -name=None", *_all("ones_like zeros_like"))
bind(rules.binary(), "x y", *_all("maximum minimum"))
bind(rules.binary(rules.always("bool")), "x y", *_all("equal not_equal greater greater_equal less less_equal"))
bind(rules.reduction(), _AXES, *_all("sum prod max min"))
bind(rules.reduction(floating), _AXES, *_all("mean std var logsumexp"))
bind(rules.reduction(rules.always("bool")), _AXES, *_all("any all"))
bind(rules.along(), "x axis=-1", *_all("softmax"))
bind(rules.reshape, "x shape", *_all("reshape"))
bind(rules.expand_dims, "x axis=-1", *_all("expand_dims"))
bind(rules.squeeze, "x axis", *_all("squeeze"))
bind(rules.concatenate, "tensors axis=-1", *_all("concatenate"))
bind(rules.stack, "x axis=0", *_all("stack"))
bind(rules.sizes_of, "x", *_all("shape"))
bind(cast, "x dtype", *_all("cast"))
bind(flat, "x", *_all("flatten"))
bind(small, "", *_all("epsilon"))


@op(*CHOOSES_FLOATS["keras"])
def choose(call: Call, *args: Value, **options: Value) -> Value:
    """keras.backend.set_floatx("float64") and what else says what floats are from there on"""
    call.world.put(CHOSEN, True)
    return NONE
