"""torch.nn: Embedding, EmbeddingBag, one_hot.

https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, MINUS_ONE, NONE, Call
from distml.ops.registry import layer, op
from distml.ops.rules import embedding as rules
from distml.ops.rules.index_kinds import require_indices
from distml.ops.rules.layers import attribute_of, given, parameter, size
from distml.values import Const

if TYPE_CHECKING:
    from distml.values import Value

TWO, MEAN = Const(2.0), Const("mean")


@op("torch.nn.functional.embedding")
def embedding(
    call: Call,
    input: Value,
    weight: Value,
    padding_idx: Value = NONE,
    max_norm: Value = NONE,
    norm_type: Value = TWO,
    scale_grad_by_freq: Value = FALSE,
    sparse: Value = FALSE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html"""
    table = call.of_rank(call.shape(weight), 2, what="a weight")
    require_indices(call, input)
    return call.tensor(rules.look_up(call, input, table), call.dtype(weight))


@op("torch.nn.functional.embedding_bag")
def embedding_bag(
    call: Call,
    input: Value,
    weight: Value,
    offsets: Value = NONE,
    max_norm: Value = NONE,
    norm_type: Value = TWO,
    scale_grad_by_freq: Value = FALSE,
    mode: Value = MEAN,
    sparse: Value = FALSE,
    per_sample_weights: Value = NONE,
    include_last_offset: Value = FALSE,
    padding_idx: Value = NONE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding_bag.html

    The order of old, the weight first, still works: indices are integers, weights are not.
    """
    if call.dtype(input) == "float":
        input, weight = weight, input
    table = call.of_rank(call.shape(weight), 2, what="a weight")
    bags = rules.bags(call, call.shape(input), offsets, per_sample_weights, include_last_offset)
    return call.tensor([bags, call.facts.axis(table, 1)], call.dtype(weight))


@op("torch.nn.functional.one_hot")
def one_hot(call: Call, tensor: Value, num_classes: Value = MINUS_ONE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html: a new last axis."""
    require_indices(call, tensor)
    count = rules.class_count(call, tensor, num_classes)
    rules.require_inside(call, tensor, count, "classes, there is a {} among the numbers")
    return call.tensor(rules.one_more(call, call.shape(tensor), count), "int")


def _table(call: Call, num_embeddings: Value, embedding_dim: Value, padding_idx: Value) -> dict[str, Value]:
    count, width = size(call, num_embeddings, "num_embeddings"), size(call, embedding_dim, "embedding_dim")
    rules.require_padding_index(call, count, padding_idx)
    return {
        "num_embeddings": attribute_of(call, num_embeddings, count),
        "embedding_dim": attribute_of(call, embedding_dim, width),
        "padding_idx": padding_idx,
        "weight": parameter(call, (count, width)),
    }


@layer("torch.nn.Embedding")
class Embedding:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        num_embeddings: Value,
        embedding_dim: Value,
        padding_idx: Value = NONE,
        max_norm: Value = NONE,
        norm_type: Value = TWO,
        scale_grad_by_freq: Value = FALSE,
        sparse: Value = FALSE,
        _weight: Value = NONE,
        _freeze: Value = FALSE,
        device: Value = NONE,
        dtype: Value = NONE,
    ) -> dict[str, Value]:
        """A table (num_embeddings, embedding_dim)."""
        return _table(call, num_embeddings, embedding_dim, padding_idx)

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """A new last axis of embedding_dim."""
        table = call.of_rank(call.shape(given(call, attrs, "weight")), 2, what="a weight")
        require_indices(call, input)
        return call.tensor(rules.look_up(call, input, table), "float")


@op("torch.nn.Embedding.from_pretrained")
def from_pretrained(call: Call, embeddings: Value, *args: Value, **kwargs: Value) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html: the table is given."""
    table = call.of_rank(call.shape(embeddings), 2, what="a table")
    dims = table.dims or (call.symbol("num_embeddings"), call.symbol("embedding_dim"))
    return rules.instance(call, dims)


@layer("torch.nn.EmbeddingBag")
class EmbeddingBag:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        num_embeddings: Value,
        embedding_dim: Value,
        max_norm: Value = NONE,
        norm_type: Value = TWO,
        scale_grad_by_freq: Value = FALSE,
        mode: Value = MEAN,
        sparse: Value = FALSE,
        _weight: Value = NONE,
        include_last_offset: Value = FALSE,
        padding_idx: Value = NONE,
        device: Value = NONE,
        dtype: Value = NONE,
    ) -> dict[str, Value]:
        """A table (num_embeddings, embedding_dim)."""
        attrs = _table(call, num_embeddings, embedding_dim, padding_idx)
        return {**attrs, "mode": mode, "include_last_offset": include_last_offset}

    @staticmethod
    def forward(
        call: Call, attrs: dict[str, Value], input: Value, offsets: Value = NONE, per_sample_weights: Value = NONE
    ) -> Value:
        """One row a bag."""
        table = call.of_rank(call.shape(given(call, attrs, "weight")), 2, what="a weight")
        require_indices(call, input)
        last = given(call, attrs, "include_last_offset")
        bags = rules.bags(call, call.shape(input), offsets, per_sample_weights, last)
        return call.tensor([bags, call.facts.axis(table, 1)], "float")
