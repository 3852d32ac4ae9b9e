"""What the numbers of a type may be: the same words in NumPy and PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.values import InstanceRecord, Lib, Prim, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


def limits_of(call: Call) -> Value:
    """What `finfo` and `iinfo` say: numbers, whatever the type is."""
    kind = Prim("int" if call.name.endswith("iinfo") else "float")
    attrs: dict[str, Value] = dict.fromkeys("max min eps tiny smallest_normal resolution".split(), kind)
    return call.world.allocate(InstanceRecord(Lib(call.name), {**attrs, "bits": Prim("int")}, exact=False))
