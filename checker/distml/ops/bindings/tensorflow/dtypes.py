"""tensorflow: dtypes, as far as shapes need them.

https://www.tensorflow.org/api_docs/python/tf/dtypes
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.values import Lib, Tensor

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Value

_KINDS = {"float": "float", "bfloat": "float", "half": "float", "double": "float", "int": "int", "uint": "int"}
_KINDS |= {"qint": "int", "quint": "int", "bool": "bool", "complex": "complex"}


def asked_kind(call: Call, dtype: Value, default: str | None) -> str | None:
    """The kind that `dtype=` asks for; `default` for None, None where it is not known."""
    if call.is_none(dtype):
        return default
    name = dtype.name.rpartition(".")[2] if isinstance(dtype, Lib) else call.const(dtype, str)
    return _KINDS.get(name.rstrip("0123456789").rstrip("_")) if isinstance(name, str) else None


def cast(call: Call, x: Value, dtype: Value) -> Value:
    """The same elements as another kind of numbers; integers stay known."""
    kind = asked_kind(call, dtype, None)
    content = x.content if isinstance(x, Tensor) and kind == "int" == x.dtype else None
    return Tensor(call.lib, call.shape(x), kind, content=content)


bind(cast, "x dtype -name=None", "tensorflow.cast")
bind(cast, "x dtype", "keras.ops.cast")
bind(cast, "value dtype -name=None", "tensorflow.saturate_cast")
