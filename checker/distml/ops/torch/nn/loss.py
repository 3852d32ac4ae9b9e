"""torch.nn.functional: losses.

https://docs.pytorch.org/docs/stable/nn.functional.html#loss-functions
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, ONE, Call
from distml.ops.registry import op
from distml.ops.rules import loss as rules
from distml.ops.rules.embedding import require_inside
from distml.ops.rules.kinds import if_float
from distml.shapes import Shape
from distml.values import Const, Tensor

if TYPE_CHECKING:
    from distml.values import Value

MEAN, IGNORED = Const("mean"), Const(-100)


@op("torch.nn.functional.mse_loss", "torch.nn.functional.l1_loss")
def mse_loss(
    call: Call,
    input: Value,
    target: Value,
    size_average: Value = NONE,
    reduce: Value = NONE,
    reduction: Value = MEAN,
    weight: Value = NONE,
) -> Value:
    """Mean squared and absolute error: prediction and target broadcast."""
    shape = rules.paired(call, call.shape(input), call.shape(target))
    return rules.reduced(call, shape, reduction, (size_average, reduce), call.dtype(input))


@op("torch.nn.functional.smooth_l1_loss")
def smooth_l1_loss(
    call: Call,
    input: Value,
    target: Value,
    size_average: Value = NONE,
    reduce: Value = NONE,
    reduction: Value = MEAN,
    beta: Value = NONE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.smooth_l1_loss.html"""
    return mse_loss(call, input, target, size_average, reduce, reduction)


@op("torch.nn.functional.huber_loss")
def huber_loss(
    call: Call,
    input: Value,
    target: Value,
    reduction: Value = MEAN,
    delta: Value = ONE,
    weight: Value = NONE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.huber_loss.html"""
    return mse_loss(call, input, target, NONE, NONE, reduction)


@op("torch.nn.functional.soft_margin_loss")
def soft_margin_loss(
    call: Call,
    input: Value,
    target: Value,
    size_average: Value = NONE,
    reduce: Value = NONE,
    reduction: Value = MEAN,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.soft_margin_loss.html"""
    return mse_loss(call, input, target, size_average, reduce, reduction)


@op("torch.nn.functional.hinge_embedding_loss")
def hinge_embedding_loss(
    call: Call,
    input: Value,
    target: Value,
    margin: Value = ONE,
    size_average: Value = NONE,
    reduce: Value = NONE,
    reduction: Value = MEAN,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.hinge_embedding_loss.html"""
    return mse_loss(call, input, target, size_average, reduce, reduction)


@op("torch.nn.functional.kl_div")
def kl_div(
    call: Call,
    input: Value,
    target: Value,
    size_average: Value = NONE,
    reduce: Value = NONE,
    reduction: Value = MEAN,
    log_target: Value = FALSE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.kl_div.html"""
    if rules.is_reduction(reduction, "batchmean"):
        reduction = MEAN
    return mse_loss(call, input, target, size_average, reduce, reduction)


@op("torch.nn.functional.poisson_nll_loss")
def poisson_nll_loss(
    call: Call,
    input: Value,
    target: Value,
    log_input: Value = FALSE,
    full: Value = FALSE,
    size_average: Value = NONE,
    eps: Value = NONE,
    reduce: Value = NONE,
    reduction: Value = MEAN,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.poisson_nll_loss.html"""
    made = mse_loss(call, input, target, size_average, reduce, reduction)
    return replace(made, dtype=if_float(made.dtype)) if isinstance(made, Tensor) else made


@op("torch.nn.functional.gaussian_nll_loss")
def gaussian_nll_loss(
    call: Call,
    input: Value,
    target: Value,
    var: Value,
    full: Value = FALSE,
    eps: Value = NONE,
    reduction: Value = MEAN,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.gaussian_nll_loss.html"""
    shape = rules.paired(call, call.shape(input), call.shape(target))
    rules.require_variance(call, call.shape(input), call.shape(var))
    shape = call.broadcast(shape, call.shape(var), code=rules.CODE, message=f"{call.text}: the variance")
    return rules.reduced(call, shape, reduction, dtype=call.dtype(input))


@op("torch.nn.functional.binary_cross_entropy")
def binary_cross_entropy(
    call: Call,
    input: Value,
    target: Value,
    weight: Value = NONE,
    size_average: Value = NONE,
    reduce: Value = NONE,
    reduction: Value = MEAN,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.binary_cross_entropy.html"""
    shape = rules.alike(call, call.shape(input), call.shape(target))
    rules.require_broadcastable(call, weight, shape, "weight")
    return rules.reduced(call, shape, reduction, (size_average, reduce), call.dtype(input))


@op("torch.nn.functional.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    call: Call,
    input: Value,
    target: Value,
    weight: Value = NONE,
    size_average: Value = NONE,
    reduce: Value = NONE,
    reduction: Value = MEAN,
    pos_weight: Value = NONE,
) -> Value:
    """torch.nn.functional.binary_cross_entropy_with_logits"""
    shape = rules.alike(call, call.shape(input), call.shape(target))
    full = rules.weighted(call, shape, {"weight": weight, "pos_weight": pos_weight})
    return rules.reduced(call, full, reduction, (size_average, reduce), call.dtype(input))


def _require_numbers(call: Call, input: Value, target: Value, ignored: Value) -> None:
    """The numbers of classes are less than there are classes (SHP302)."""
    scores = call.shape(input)
    count = call.facts.axis(scores, 0 if scores.rank == 1 else 1)
    if isinstance(ignored, Const):
        require_inside(call, target, count, "classes, there is a {} among the numbers", besides=ignored)


@op("torch.nn.functional.cross_entropy")
def cross_entropy(
    call: Call,
    input: Value,
    target: Value,
    weight: Value = NONE,
    size_average: Value = NONE,
    ignore_index: Value = IGNORED,
    reduce: Value = NONE,
    reduction: Value = MEAN,
    label_smoothing: Value = NONE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html"""
    shape = rules.classes(call, call.shape(input), call.shape(target), call.dtype(target), soft=True)
    _require_numbers(call, input, target, ignore_index)
    rules.require_class_weight(call, weight, call.shape(input))
    return rules.reduced(call, shape, reduction, (size_average, reduce), call.dtype(input))


@op("torch.nn.functional.nll_loss")
def nll_loss(
    call: Call,
    input: Value,
    target: Value,
    weight: Value = NONE,
    size_average: Value = NONE,
    ignore_index: Value = IGNORED,
    reduce: Value = NONE,
    reduction: Value = MEAN,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.nll_loss.html"""
    shape = rules.classes(call, call.shape(input), call.shape(target), call.dtype(target), soft=False)
    _require_numbers(call, input, target, ignore_index)
    rules.require_class_weight(call, weight, call.shape(input))
    return rules.reduced(call, shape, reduction, (size_average, reduce), call.dtype(input))


@op("torch.nn.functional.multilabel_margin_loss")
def multilabel_margin_loss(
    call: Call,
    input: Value,
    target: Value,
    size_average: Value = NONE,
    reduce: Value = NONE,
    reduction: Value = MEAN,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.multilabel_margin_loss.html"""
    shape = call.of_rank(call.shape(input), 0, 1, 2, what="an input")
    if shape.rank is not None and shape.rank > 0:
        shape = rules.alike(call, shape, call.shape(target))
    return rules.reduced(call, rules.rows(call, shape), reduction, (size_average, reduce), call.dtype(input))


@op("torch.nn.functional.multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(
    call: Call,
    input: Value,
    target: Value,
    weight: Value = NONE,
    size_average: Value = NONE,
    reduce: Value = NONE,
    reduction: Value = MEAN,
) -> Value:
    """torch.nn.functional.multilabel_soft_margin_loss"""
    shape = rules.paired(call, call.shape(input), call.shape(target))
    shape = rules.weighted(call, shape, {"weight": weight})
    return rules.reduced(call, rules.rows(call, shape), reduction, (size_average, reduce), call.dtype(input))


@op("torch.nn.functional.multi_margin_loss")
def multi_margin_loss(
    call: Call,
    input: Value,
    target: Value,
    p: Value = ONE,
    margin: Value = ONE,
    weight: Value = NONE,
    size_average: Value = NONE,
    reduce: Value = NONE,
    reduction: Value = MEAN,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.multi_margin_loss.html"""
    shape = call.of_rank(call.shape(input), 0, 1, 2, what="an input")
    if shape.dims is not None and len(shape.dims) == 2:
        classes = rules.classes(call, shape, call.shape(target), "int", soft=False)
        rules.require_class_weight(call, weight, shape)
        return rules.reduced(call, classes, reduction, (size_average, reduce), call.dtype(input))
    full = call.facts.unknown_shape() if shape.dims is None else Shape(())
    return rules.reduced(call, full, reduction, (size_average, reduce), call.dtype(input))
