"""optax: losses of each item.

https://optax.readthedocs.io/en/latest/api/losses.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.rules.axes import axis_in, drop_axis
from distml.ops.rules.loss import CODE, alike, paired, require_class_numbers
from distml.ops.rules.pointwise import elementwise
from distml.values import Const, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


def _names(*names: str) -> tuple[str, ...]:
    return tuple(f"optax.{space}{name}" for name in names for space in ("", "losses."))


def categorical(call: Call, logits: Value, labels: Value, axis: Value) -> Value:
    """optax.softmax_cross_entropy: labels like the logits; the classes go."""
    message = f"{call.text}: the logits and the labels"
    full = call.broadcast(call.shape(logits), call.shape(labels), code=CODE, message=message)
    return call.tensor(drop_axis(call, full, axis_in(call, axis, full)), "float")


def numbered(call: Call, logits: Value, labels: Value, axis: Value) -> Value:
    """optax.softmax_cross_entropy_with_integer_labels: one class number where the logits have classes."""
    if axis != Const(-1):
        return call.unranked("float")
    require_class_numbers(call, call.shape(labels), call.shape(logits))
    return call.tensor(call.shape(labels), "float")


def broadcasting(call: Call, predictions: Value, targets: Value) -> Value:
    """A loss of each element; the two broadcast, and a warning tells where that pairs all with all."""
    if call.is_none(targets) is not False:
        return call.tensor(call.shape(predictions), "float") if call.is_none(targets) else call.unranked("float")
    return call.tensor(paired(call, call.shape(predictions), call.shape(targets)), "float")


def strict(call: Call, predictions: Value, targets: Value) -> Value:
    """A loss of each element; both have one shape."""
    if call.is_none(targets):
        return call.tensor(call.shape(predictions), "float")
    if call.is_none(targets) is None:
        return call.unranked("float")
    return call.tensor(alike(call, call.shape(predictions), call.shape(targets)), "float")


def along(call: Call, predictions: Value, targets: Value, axis: Value) -> Value:
    """A loss of each vector; both have one shape."""
    full = elementwise(call, predictions, targets)
    return call.tensor(drop_axis(call, full, axis_in(call, axis, full)), "float")


bind(categorical, "logits labels axis=-1 -where=None", *_names("softmax_cross_entropy", "safe_softmax_cross_entropy"))
bind(numbered, "logits labels axis=-1 -where=None", *_names("softmax_cross_entropy_with_integer_labels"))
bind(broadcasting, "logits labels", *_names("sigmoid_binary_cross_entropy"))
bind(broadcasting, "predictor_outputs targets", *_names("hinge_loss"))
bind(strict, "predictions targets=None", *_names("l2_loss", "squared_error"))
bind(broadcasting, "predictions targets=None", *_names("log_cosh"))
bind(broadcasting, "predictions targets=None -delta=1.0", *_names("huber_loss"))
bind(along, "predictions targets -epsilon=0.0 axis=-1", *_names("cosine_similarity", "cosine_distance"))
bind(
    lambda call, predictions, targets: along(call, predictions, targets, Const(-1)),
    "log_predictions targets -axis=None -where=None",
    *_names("kl_divergence"),
)


def smoothed(call: Call, labels: Value) -> Value:
    """optax.smooth_labels: the same shape."""
    return call.tensor(call.shape(labels), "float")


bind(smoothed, "labels -alpha", *_names("smooth_labels"))


def apart(call: Call, anchors: Value, positives: Value, negatives: Value, axis: Value) -> Value:
    """optax.losses.triplet_margin_loss: a number for each anchor; all three broadcast (SHP501)."""
    shape = call.shape(anchors)
    for other in (positives, negatives):
        shape = call.broadcast(shape, call.shape(other), code=CODE, message=f"{call.text}: the examples")
    return call.tensor(drop_axis(call, shape, axis_in(call, axis, shape)), "float")


def transcribed(call: Call, logits: Value, paddings: Value, labels: Value) -> Value:
    """optax.ctc_loss: a number for each text; as many logits as labels (SHP104)."""
    scores, texts = (
        call.of_rank(call.shape(logits), 3, what="logits"),
        call.of_rank(call.shape(labels), 2, what="labels"),
    )
    message = f"{call.text}: {{left}} rows of logits and {{right}} of labels"
    call.require_equal(call.facts.axis(scores, 0), call.facts.axis(texts, 0), "SHP104", message)
    return call.tensor([call.facts.axis(scores, 0)], "float")


bind(broadcasting, "logits labels -alpha=None -gamma=2.0", *_names("sigmoid_focal_loss"))
bind(
    lambda call, logits, labels: categorical(call, logits, labels, Const(-1)),
    "logits labels -epsilon=2.0 -axis=-1 -where=None",
    *_names("poly_loss_cross_entropy"),
)
bind(
    apart,
    "anchors positives negatives axis=-1 -norm_degree=2 -margin=1.0 -eps=1e-06",
    "optax.losses.triplet_margin_loss",
)
bind(
    transcribed,
    "logits logit_paddings labels -label_paddings -blank_id=0 -log_epsilon=-100000.0",
    *_names("ctc_loss"),
)
