"""keras, tf.*_initializer: what weights are before they are trained.

https://keras.io/api/layers/initializers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.tensorflow.dtypes import asked_kind
from distml.ops.call import NONE
from distml.ops.registry import op
from distml.ops.semantics.tensors import filled
from distml.values import Lib, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

_CALLED = "keras.initializers.Initializer.__call__"
_MADE = """
    RandomNormal RandomUniform TruncatedNormal Zeros Ones GlorotNormal GlorotUniform HeNormal HeUniform LecunNormal
    LecunUniform Constant VarianceScaling Orthogonal Identity
"""
_PLAIN = "random_normal random_uniform truncated_normal zeros ones constant"


@op(*(f"keras.initializers.{name}" for name in _MADE.split()))
@op(*(f"tensorflow.{name}_initializer" for name in _PLAIN.split()))
def initializer(call: Call, *args: Value, **options: Value) -> Value:
    """keras.initializers.GlorotUniform(...): a function of a shape."""
    return Lib(_CALLED)


@op(_CALLED)
def initialized(call: Call, shape: Value, dtype: Value = NONE, **options: Value) -> Value:
    """initializer(shape, dtype): a tensor of that shape."""
    return filled(call, shape, asked_kind(call, dtype, "float"))
