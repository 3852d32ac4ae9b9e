"""torch.nn: distances, similarities, normalizing, and the losses made of them.

https://docs.pytorch.org/docs/stable/nn.functional.html#distance-functions
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, ONE, ZERO, Call
from distml.ops.registry import layer, op
from distml.ops.rules import distance as rules
from distml.ops.rules.kinds import if_float
from distml.ops.rules.layers import given
from distml.ops.rules.loss import reduced
from distml.values import Const

if TYPE_CHECKING:
    from distml.values import Value

MEAN, TWO = Const("mean"), Const(2.0)


@op("torch.nn.functional.normalize")
def normalize(
    call: Call, input: Value, p: Value = TWO, dim: Value = ONE, eps: Value = NONE, out: Value = NONE
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.normalize.html"""
    shape = call.shape(input)
    if call.items(dim) is None:
        rules.require_axis(call, shape, dim)
    return call.tensor(call.facts.shape(shape), call.dtype(input))


@op("torch.nn.functional.cosine_similarity", "torch.cosine_similarity")
def cosine_similarity(call: Call, x1: Value, x2: Value, dim: Value = ONE, eps: Value = NONE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cosine_similarity.html"""
    return call.tensor(rules.without_axis(call, rules.pair(call, x1, x2), dim), call.dtype(x1))


@op("torch.nn.functional.pairwise_distance", "torch.pairwise_distance")
def pairwise_distance(
    call: Call, x1: Value, x2: Value, p: Value = TWO, eps: Value = NONE, keepdim: Value = FALSE
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pairwise_distance.html"""
    return call.tensor(rules.row_distance(call, x1, x2, call.flag(keepdim)), if_float(call.dtype(x1)))


@op("torch.nn.functional.pdist", "torch.pdist")
def pdist(call: Call, input: Value, p: Value = TWO) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pdist.html: n * (n - 1) / 2."""
    shape = call.of_rank(call.shape(input), 2, what="an input")
    rows = call.facts.axis(shape, 0)
    return call.tensor([None if rows is None else rows * (rows - 1) // 2], call.dtype(input))


@layer("torch.nn.CosineSimilarity")
class CosineSimilarity:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.CosineSimilarity.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(call: Call, dim: Value = ONE, eps: Value = NONE) -> dict[str, Value]:
        """`dim` is the axis that is compared."""
        return {"dim": dim, "eps": eps}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], x1: Value, x2: Value) -> Value:
        """The axis is gone."""
        return cosine_similarity(call, x1, x2, given(call, attrs, "dim"))


@layer("torch.nn.PairwiseDistance")
class PairwiseDistance:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.PairwiseDistance.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(call: Call, p: Value = TWO, eps: Value = NONE, keepdim: Value = FALSE) -> dict[str, Value]:
        """The norm of the difference along the last axis."""
        return {"norm": p, "eps": eps, "keepdim": keepdim}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], x1: Value, x2: Value) -> Value:
        """The last axis is gone, or 1."""
        return pairwise_distance(call, x1, x2, keepdim=given(call, attrs, "keepdim"))


@op("torch.nn.functional.margin_ranking_loss", "torch.margin_ranking_loss")
def margin_ranking_loss(
    call: Call,
    input1: Value,
    input2: Value,
    target: Value,
    margin: Value = ZERO,
    size_average: Value = NONE,
    reduce: Value = NONE,
    reduction: Value = MEAN,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.margin_ranking_loss.html"""
    shape = rules.same_rank_loss(call, {"input1": input1, "input2": input2, "target": target})
    return reduced(call, shape, reduction, (size_average, reduce), if_float(call.dtype(input1)))


@op("torch.nn.functional.cosine_embedding_loss")
def cosine_embedding_loss(
    call: Call,
    input1: Value,
    input2: Value,
    target: Value,
    margin: Value = ZERO,
    size_average: Value = NONE,
    reduce: Value = NONE,
    reduction: Value = MEAN,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cosine_embedding_loss.html"""
    shape = rules.cosine_embedding(call, input1, input2, target)
    return reduced(call, shape, reduction, (size_average, reduce), if_float(call.dtype(input1)))


@op("torch.nn.functional.triplet_margin_loss")
def triplet_margin_loss(
    call: Call,
    anchor: Value,
    positive: Value,
    negative: Value,
    margin: Value = ONE,
    p: Value = TWO,
    eps: Value = NONE,
    swap: Value = FALSE,
    size_average: Value = NONE,
    reduce: Value = NONE,
    reduction: Value = MEAN,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.triplet_margin_loss.html"""
    full = rules.same_rank_loss(call, {"anchor": anchor, "positive": positive, "negative": negative})
    return reduced(call, rules.rows(call, full), reduction, (size_average, reduce), if_float(call.dtype(anchor)))


@op("torch.nn.functional.triplet_margin_with_distance_loss")
def triplet_margin_with_distance_loss(
    call: Call,
    anchor: Value,
    positive: Value,
    negative: Value,
    *,
    distance_function: Value = NONE,
    margin: Value = ONE,
    swap: Value = FALSE,
    reduction: Value = MEAN,
) -> Value:
    """torch.nn.functional.triplet_margin_with_distance_loss"""
    if call.is_none(distance_function):
        return triplet_margin_loss(call, anchor, positive, negative, reduction=reduction)
    return reduced(call, call.facts.unknown_shape(), reduction, dtype=if_float(call.dtype(anchor)))


@op("torch.nn.functional.ctc_loss")
def ctc_loss(
    call: Call,
    log_probs: Value,
    targets: Value,
    input_lengths: Value,
    target_lengths: Value,
    blank: Value = ZERO,
    reduction: Value = MEAN,
    zero_infinity: Value = FALSE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.ctc_loss.html"""
    shape = rules.ctc(call, log_probs, targets, (input_lengths, target_lengths))
    return reduced(call, shape, reduction, dtype=call.dtype(log_probs))
