"""What is no index: a float, an array of floats, and for Python's own sequences a tuple or a list (SHP309).

"slice indices must be integers", "list indices must be integers or slices, not tuple", "arrays used as indices must be of
integer (or boolean) type": `tests/ops/index_forms.py` asks the libraries. What an annotation alone calls a float may be none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.rules.kinds import kind_of
from distml.ops.rules.one_value import require_number
from distml.values import Claimed, Const, ListRecord, Prim, Ratio, Ref, Slice, Tensor, Tup, Value, alternatives

if TYPE_CHECKING:
    from distml.ops.call import Call

CODE = "SHP309"
_WHOLE = "use // where it is computed, or int(...)"


def require_index(call: Call, index: Value) -> None:
    """Fail where an array takes no such index."""
    for part in index.items if isinstance(index, Tup) and not isinstance(index, Claimed) else (index,):
        wrong = _of_floats(call, part)
        if wrong is not None:
            call.fail(CODE, f"{call.text}: {wrong} is no index", hint=_WHOLE)


def require_indices(call: Call, index: Value) -> None:
    """Fail where a function takes no such array of indices; an empty one may be of any kind."""
    size = call.shape(index).size if isinstance(index, Tensor) else None
    if size is not None and size.is_nonzero:
        require_index(call, index)


def require_place(call: Call, index: Value) -> None:
    """Fail where a list or a tuple takes no such index; an array that is one must be a number (SHP308)."""
    wrong = _float(index)
    hint = _WHOLE
    if wrong is None and isinstance(index, Tup) and not isinstance(index, Claimed):
        wrong, hint = "a tuple", "a sequence has one axis; an array is indexed by several: np.array(...)"
    if wrong is None and isinstance(index, Ref) and isinstance(call.world.record(index), ListRecord):
        wrong, hint = "a list", "take items one by one, or from an array: np.array(...)"
    if wrong is not None:
        call.fail(CODE, f"{call.text}: {wrong} is no index of a sequence", hint=hint)
    require_number(call, index, "an index of a sequence")


def _float(index: Value) -> str | None:
    """A float, or a slice with one."""
    if isinstance(index, Slice):
        bounds = (index.start, index.stop, index.step)
        return next((f"a slice with {wrong}" for wrong in map(_float, bounds) if wrong is not None), None)
    options = alternatives(index)
    if not all(_is_float(option) for option in options):
        return None
    return f"the float {index.value}" if isinstance(index, Const) else "a float"


def _is_float(index: Value) -> bool:
    if isinstance(index, Const):
        return isinstance(index.value, float)
    scalar = isinstance(index, Tensor) and index.shape.rank == 0
    return (isinstance(index, Prim | Ratio) or scalar) and not isinstance(index, Claimed) and kind_of(index) == "float"


def _of_floats(call: Call, index: Value) -> str | None:
    """A float, or an array of floats."""
    if isinstance(index, Tensor) and index.shape.rank != 0 and not isinstance(index, Claimed):
        return f"an array of floats {call.show(index)}" if index.dtype == "float" else None
    return _float(index)
