"""torch.save and torch.load: https://docs.pytorch.org/docs/stable/notes/serialization.html"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.python.streams import read_from, written_to
from distml.ops.registry import op

if TYPE_CHECKING:
    from distml.values import Value


@op("torch.save")
def save(call: Call, obj: Value, f: Value, *args: Value, **options: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.save.html"""
    written_to(call, f, obj)
    return NONE


@op("torch.load")
def load(call: Call, f: Value, *args: Value, **options: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.load.html: what was saved, where that is in memory"""
    return read_from(call, f, alone=True)
