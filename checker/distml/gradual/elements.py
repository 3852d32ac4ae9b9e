"""What the elements of an input are: told by the ops that are called on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.shapes import Shape

_WEIGHTED = (
    "Conv",
    "LazyConv",
    "Linear",
    "LazyLinear",
    "BatchNorm",
    "LayerNorm",
    "GroupNorm",
    "InstanceNorm",
    "RMSNorm",
)
"""Layers whose parameters are floats and must be met by floats (torch.nn)."""
_RECURRENT = ("RNN", "LSTM", "GRU", "Transformer", "MultiheadAttention", "Bilinear")
_LOOKUPS = (
    "torch.nn.Embedding",
    "torch.nn.EmbeddingBag",
    "torch.nn.functional.embedding",
    "torch.nn.functional.one_hot",
)
"""What takes indices: integers (torch.nn.functional.embedding)."""


def element_type(shape: Shape, uses: Sequence[tuple[str, Shape]]) -> Literal["float", "int"] | None:
    """ "float" or "int", None where no op that was called on this shape tells."""
    for name, used in uses:
        if used != shape:
            continue
        if name in _LOOKUPS:
            return "int"
        if name.startswith("torch.nn.") and name[9:].startswith(_WEIGHTED + _RECURRENT):
            return "float"
    return None
