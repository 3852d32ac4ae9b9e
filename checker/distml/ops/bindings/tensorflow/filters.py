"""tensorflow: tf.nn: convolutions in other forms, blocks of pixels as channels, normalization.

https://www.tensorflow.org/api_docs/python/tf/nn
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.bindings.tensorflow.nn import (
    ONE,
    depthwise,
    layout_of,
    padding_of,
    pool_any,
    ranks_of,
    steps,
)
from distml.ops.call import NONE
from distml.ops.rules.axes import replace_axis
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.loss import alike
from distml.ops.semantics import tensors as rules
from distml.ops.semantics.conv import Kernel, convolve, require_channels
from distml.ops.semantics.window import windows
from distml.values import Const, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call


def _transposed(count: int) -> Callable[..., Value]:
    def rule(call: Call, x: Value, filters: Value, sizes: Value, data_format: Value) -> Value:
        """tf.nn.conv2d_transpose: filters (height, width, out, in); of the shape that is asked for."""
        weight, layout = (
            call.of_rank(call.shape(filters), count + 2, what="filters"),
            layout_of(call, data_format, count),
        )
        asked = call.sizes(sizes)
        if layout is None or weight.dims is None:
            return call.unranked(kind_of(x))
        image = call.of_rank(call.shape(x), count + 2, what="the input")
        require_channels(call, image, layout, weight.dims[-1])
        if asked is None or len(asked) != count + 2:
            return call.tensor([None] * (count + 2), kind_of(x))
        channels = asked[-1 if layout.channels_last else 1]
        text = f"{call.text}: the filters {call.show(weight)} give {{left}} channels, output_shape asks for {{right}}"
        call.require_equal(weight.dims[-2], channels, "SHP402", text)
        return call.tensor(asked, kind_of(x))

    return rule


def separable(
    call: Call,
    x: Value,
    own: Value,
    mixing: Value,
    strides: Value,
    padding: Value,
    data_format: Value,
    dilations: Value,
) -> Value:
    """tf.nn.separable_conv2d: a filter for each channel, then a mixture of the channels."""
    apart = depthwise(call, x, own, strides, padding, data_format, dilations)
    weight, layout = call.of_rank(call.shape(mixing), 4, what="pointwise_filter"), layout_of(call, data_format, 2)
    if layout is None or weight.dims is None or not isinstance(apart, Tensor):
        return call.unranked(kind_of(x))
    read = windows(weight.dims[:2], (ONE, ONE), padding_of(call, Const("VALID"), 2), (ONE, ONE))
    ranks = ranks_of(call, call.shape(apart), layout)
    return convolve(call, call.shape(apart), Kernel(weight.dims[2], weight.dims[3]), read, layout, ranks)


def with_holes(call: Call, x: Value, filters: Value, rate: Value, padding: Value) -> Value:
    """tf.nn.atrous_conv2d: a convolution whose window has holes."""
    weight, layout = call.of_rank(call.shape(filters), 4, what="filters"), layout_of(call, NONE, 2)
    if layout is None or weight.dims is None:
        return call.unranked(kind_of(x))
    height, width, taken, given = weight.dims
    read = windows((height, width), (ONE, ONE), padding_of(call, padding, 2), steps(call, rate, layout))
    image = call.shape(x)
    return convolve(call, image, Kernel(taken, given), read, layout, ranks_of(call, image, layout))


def _blocks(inward: bool) -> Callable[..., Value]:
    def rule(call: Call, x: Value, block: Value, data_format: Value) -> Value:
        """tf.nn.space_to_depth and back: blocks of pixels as channels (SHP204)."""
        shape = call.of_rank(call.shape(x), 4, what="the images")
        size = call.dim(block)
        if shape.dims is None or size is None or size.constant is None or call.const(data_format) != "NHWC":
            return call.tensor([None] * 4, kind_of(x))
        batch, height, width, channels = shape.dims
        area = size * size
        text = f"{call.text}: {{dim}} of {call.show(shape)} is not divisible by {{by}}"
        for whole, by in ((height, size), (width, size)) if inward else ((channels, area),):
            call.require_divisible(whole, by, "SHP204", text)
        if inward:
            return call.tensor([batch, height // size, width // size, channels * area], kind_of(x))
        return call.tensor([batch, height * size, width * size, channels // area], kind_of(x))

    return rule


def normalized(call: Call, x: Value, *others: Value) -> Value:
    """tf.nn.batch_normalization: mean, variance, offset and scale broadcast with what is normalized."""
    shape = call.shape(x)
    for other in others:
        if call.is_none(other) is False:
            shape = call.broadcast(
                shape, call.shape(other), message=f"{call.text}: {call.show(x)} and {call.show(other)}"
            )
    return call.tensor(shape, kind_of(x))


def both_signs(call: Call, x: Value, axis: Value) -> Value:
    """tf.nn.crelu: what is positive beside what is negative."""
    shape = call.shape(x)
    at = call.axis(axis, shape.rank)
    size = None if at is None else call.facts.axis(shape, at)
    return (
        call.unranked(kind_of(x))
        if at is None or size is None
        else call.tensor(replace_axis(call, shape, at, size * 2))
    )


def pooled_places(call: Call, x: Value, ksize: Value, strides: Value, padding: Value) -> Value:
    """tf.nn.max_pool_with_argmax: the maxima, and where they are."""
    made = pool_any(call, x, ksize, strides, padding, NONE)
    return Tup((made, call.tensor(call.shape(made), "int"))) if isinstance(made, Tensor) else call.unknown()


def unlikely(call: Call, labels: Value, logits: Value, weight: Value) -> Value:
    """tf.nn.weighted_cross_entropy_with_logits: both of one shape, the weight broadcasts."""
    shape = alike(call, call.shape(logits), call.shape(labels), "label")
    return normalized(call, call.tensor(shape, "float"), weight)


def sampled(call: Call, weights: Value, biases: Value, labels: Value, inputs: Value) -> Value:
    """tf.nn.sampled_softmax_loss: a number for each input; the weights have a row for each class."""
    given = call.of_rank(call.shape(inputs), 2, what="the inputs")
    rows = call.shape(weights)
    if isinstance(weights, Tensor):
        text = (
            f"{call.text}: the inputs {call.show(given)} have {{left}} numbers, the weights {call.show(rows)} {{right}}"
        )
        call.require_equal(call.facts.axis(given, 1), call.facts.axis(rows, -1), "SHP101", text)
    if isinstance(labels, Tensor):
        named = call.of_rank(call.shape(labels), 2, what="the labels")
        text = f"{call.text}: {{left}} inputs and {{right}} labels"
        call.require_equal(call.facts.axis(given, 0), call.facts.axis(named, 0), "SHP104", text)
    return call.tensor([call.facts.axis(given, 0)], "float")


def transcribed(call: Call, logits: Value, time_first: Value) -> Value:
    """tf.nn.ctc_loss: a number for each text."""
    shape = call.of_rank(call.shape(logits), 3, what="the logits")
    first = call.flag(time_first)
    return call.tensor([None if first is None else call.facts.axis(shape, int(first))], "float")


def averaged(call: Call) -> Value:
    """tf.nn.compute_average_loss: one number."""
    return call.tensor([], "float")


_NN = "tensorflow.nn."
for _count, _format in ((1, "NWC"), (2, "NHWC"), (3, "NDHWC")):
    bind(
        _transposed(_count),
        f"input filters output_shape -strides -padding='SAME' data_format='{_format}' -dilations=None -name=None",
        f"{_NN}conv{_count}d_transpose",
    )
bind(
    separable,
    "input depthwise_filter pointwise_filter strides padding data_format=None dilations=None -name=None",
    f"{_NN}separable_conv2d",
)
bind(with_holes, "value filters rate padding -name=None", f"{_NN}atrous_conv2d")
bind(
    _blocks(True), "input block_size data_format='NHWC' -name=None", f"{_NN}space_to_depth", "tensorflow.space_to_depth"
)
bind(
    _blocks(False),
    "input block_size data_format='NHWC' -name=None",
    f"{_NN}depth_to_space",
    "tensorflow.depth_to_space",
)
bind(normalized, "x mean variance offset scale -variance_epsilon -name=None", f"{_NN}batch_normalization")
bind(both_signs, "features axis=-1 -name=None", f"{_NN}crelu")
bind(
    pooled_places,
    "input ksize strides padding -data_format='NHWC' -output_dtype=None -include_batch_in_index=False -name=None",
    f"{_NN}max_pool_with_argmax",
)
bind(unlikely, "labels logits pos_weight -name=None", f"{_NN}weighted_cross_entropy_with_logits")
_SAMPLED = "weights biases labels inputs -num_sampled -num_classes -num_true=1 -sampled_values=None"
bind(sampled, f"{_SAMPLED} -remove_accidental_hits=False -name=None", f"{_NN}nce_loss")
bind(sampled, f"{_SAMPLED} -remove_accidental_hits=True -seed=None -name=None", f"{_NN}sampled_softmax_loss")
bind(
    transcribed,
    "-labels logits -label_length -logit_length logits_time_major=True -unique=None -blank_index=None -name=None",
    f"{_NN}ctc_loss",
)
bind(averaged, "-per_example_loss -sample_weight=None -global_batch_size=None", f"{_NN}compute_average_loss")
bind(rules.unary(), "log_input -targets -compute_full_loss=False -name=None", f"{_NN}log_poisson_loss")
