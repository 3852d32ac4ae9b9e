"""torch.sparse: a tensor that stores few of its numbers is a tensor of its size; what is stored are pairs of places and values.

https://docs.pytorch.org/docs/stable/sparse.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.registry import op
from distml.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.shapes import Dim

_KINDS = "Float Double Half BFloat16 Int Long Short Char Byte"


@op("torch.sparse_coo_tensor", *(f"torch.sparse.{kind}Tensor" for kind in _KINDS.split()))
def sparse_coo_tensor(
    call: Call, indices: Value = NONE, values: Value = NONE, size: Value = NONE, **options: Value
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.sparse_coo_tensor.html"""
    if call.is_none(values) is not False:
        return _of_size(call, size if call.is_none(indices) else indices, None)
    places = call.of_rank(call.shape(indices), 2, what="indices")
    stored = call.facts.shape(call.shape(values))
    if places.dims is None or not stored.dims:
        return _of_size(call, size, call.dtype(values))
    text = f"{call.text}: the indices {places!r} are {{left}} places, the values {stored!r} are {{right}}"
    call.require_equal(places.dims[1], stored.dims[0], "SHP104", text)
    axes, further = places.dims[0].constant, stored.dims[1:]
    asked = None if call.is_none(size) else call.sizes(size)
    if axes is None or (asked is None and call.is_none(size) is not True):
        return _of_size(call, size, call.dtype(values))
    if asked is not None and len(asked) != axes + len(further):
        call.fail(
            "SHP301",
            f"{call.text}: indices {places!r} and values {stored!r} are of {axes + len(further)} axes, the size "
            f"has {len(asked)}",
        )
    own: Sequence[Dim | None] = asked or [*(call.symbol("size") for _ in range(axes)), *further]
    return call.tensor(own, call.dtype(values))


def _of_size(call: Call, size: Value, dtype: str | None) -> Value:
    sizes = None if call.is_none(size) is not False else call.sizes(size)
    return call.unranked(dtype) if sizes is None else call.tensor(sizes, dtype)


@op(*(f"torch.sparse_{form}_tensor" for form in ("csr", "csc", "bsr", "bsc", "compressed")))
def sparse_rows(call: Call, first: Value, second: Value, values: Value, size: Value = NONE, **options: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.sparse_csr_tensor.html"""
    return _of_size(call, size, call.dtype(values))
