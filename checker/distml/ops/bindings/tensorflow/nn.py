"""tensorflow: tf.nn and tf.image: convolution, pooling, losses, lookups, images.

https://www.tensorflow.org/api_docs/python/tf/nn, https://www.tensorflow.org/api_docs/python/tf/image
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.call import FALSE, NONE, ShapeError
from distml.ops.rules.axes import replace_axes
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.loss import CODE, alike, require_class_numbers
from distml.ops.semantics import tensors as rules
from distml.ops.semantics.conv import Kernel, convolve
from distml.ops.semantics.pool import pool
from distml.ops.semantics.window import Axes, Layout, Padding, windows
from distml.shapes import Dim, Shape
from distml.values import Const, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call

ONE = Dim.of(1)
SAME: Padding = "same"
VALID: Padding = "valid"


def layout_of(call: Call, data_format: Value, count: int) -> Layout | None:
    """Where the channels are; behind the spatial axes unless "NCHW" or its like is asked for."""
    if call.is_none(data_format):
        return Layout(count, channels_last=True)
    word = call.const(data_format, str)
    return Layout(count, not word.startswith("NC")) if isinstance(word, str) else None


def padding_of(call: Call, padding: Value, count: int) -> tuple[Padding, ...]:
    """ "SAME" or "VALID" for each spatial axis; unknown for pairs of sizes."""
    word = call.const(padding, str)
    one: Padding = {"SAME": SAME, "VALID": VALID}.get(word) if isinstance(word, str) else None
    return (one,) * count


def steps(call: Call, value: Value, layout: Layout) -> Axes:
    """Strides or the like: one number, one for each spatial axis, or one for every axis of the image."""
    if call.is_none(value):
        return (ONE,) * layout.axes
    items = call.items(value)
    if items is not None and len(items) == layout.axes + 2:
        inner = items[1:-1] if layout.channels_last else items[2:]
        return tuple(call.dim(item) for item in inner)
    return call.per_axis(value, layout.axes) or (None,) * layout.axes


def ranks_of(call: Call, image: Shape, layout: Layout) -> tuple[int, ...]:
    """An image has one batch axis at least."""
    least = layout.axes + 2
    rank = call.facts.shape(image).rank
    return (rank,) if rank is not None and rank > least else (least,)


def _conv(count: int) -> Callable[..., Value]:
    def rule(
        call: Call, x: Value, filters: Value, strides: Value, padding: Value, data_format: Value, dilations: Value
    ) -> Value:
        weight, layout = (
            call.of_rank(call.shape(filters), count + 2, what="filters"),
            layout_of(call, data_format, count),
        )
        if layout is None or weight.dims is None:
            return call.unranked()
        *sizes, taken, given = weight.dims
        image = call.shape(x)
        read = windows(
            tuple(sizes), steps(call, strides, layout), padding_of(call, padding, count), steps(call, dilations, layout)
        )
        channels = call.facts.axis(image, layout.channels)
        # Fewer channels in the filters than in the image are one group's.
        grouped = channels is not None and channels.differs(taken) and not (channels % taken).terms
        return convolve(
            call, image, Kernel(None if grouped else taken, given), read, layout, ranks_of(call, image, layout)
        )

    return rule


def depthwise(
    call: Call, x: Value, filters: Value, strides: Value, padding: Value, data_format: Value, dilations: Value
) -> Value:
    """tf.nn.depthwise_conv2d: filters (height, width, in, multiplier)."""
    weight, layout = call.of_rank(call.shape(filters), 4, what="filters"), layout_of(call, data_format, 2)
    if layout is None or weight.dims is None:
        return call.unranked()
    height, width, inside, each = weight.dims
    read = windows(
        (height, width), steps(call, strides, layout), padding_of(call, padding, 2), steps(call, dilations, layout)
    )
    image = call.shape(x)
    return convolve(call, image, Kernel(inside, inside * each), read, layout, ranks_of(call, image, layout))


def _pool(count: int) -> Callable[..., Value]:
    def rule(call: Call, x: Value, ksize: Value, strides: Value, padding: Value, data_format: Value) -> Value:
        layout = layout_of(call, data_format, count)
        if layout is None or (
            call.items(ksize) is not None and len(call.items(ksize) or ()) not in (1, count, count + 2)
        ):
            return call.unranked(kind_of(x))
        pads = padding_of(call, padding, count)
        read = windows(steps(call, ksize, layout), steps(call, strides, layout), pads, (ONE,) * count)
        try:
            return pool(call, x, read, layout, ranks_of(call, call.shape(x), layout))
        except ShapeError as error:
            if error.code != "SHP403" or "avg" not in call.name:
                raise
            # Run at once, an average over windows that do not fit is an empty image; only a graph refuses it.
            return call.unranked(kind_of(x))

    return rule


for _count, _format in ((1, "NWC"), (2, "NHWC"), (3, "NDHWC")):
    bind(
        _conv(_count),
        f"input filters stride{'s' if _count > 1 else ''} padding data_format='{_format}' dilations=None -name=None",
        f"tensorflow.nn.conv{_count}d",
    )
    for _kind in ("max", "avg"):
        bind(
            _pool(_count),
            f"input ksize strides padding data_format='{_format}' -name=None",
            f"tensorflow.nn.{_kind}_pool{_count}d",
        )
bind(
    depthwise,
    "input filter strides padding data_format=None dilations=None -name=None",
    "tensorflow.nn.depthwise_conv2d",
)


def pool_any(call: Call, x: Value, ksize: Value, strides: Value, padding: Value, data_format: Value) -> Value:
    """tf.nn.max_pool: as many spatial axes as the input has."""
    rank = call.shape(x).rank
    if rank not in (3, 4, 5):
        return call.unranked(kind_of(x))
    return _pool(rank - 2)(call, x, ksize, strides, padding, data_format)


bind(
    pool_any,
    "input ksize strides padding data_format=None -name=None",
    "tensorflow.nn.max_pool",
    "tensorflow.nn.avg_pool",
)


def add_bias(call: Call, value: Value, bias: Value, data_format: Value) -> Value:
    """tf.nn.bias_add: a vector along the channels."""
    shape, vector = call.shape(value), call.of_rank(call.shape(bias), 1, what="a bias")
    word = call.const(data_format, str)
    if word != "NHWC" and not call.is_none(data_format):
        return call.tensor(shape, kind_of(value))
    if call.facts.at_least(shape, 2) is None:
        call.fail("SHP301", f"{call.text} needs a value with at least 2 axes, gets {call.show(shape)}")
    message = f"{call.text}: the bias has {{right}} numbers, the last axis of {call.show(shape)} has {{left}}"
    call.require_equal(call.facts.axis(shape, -1), call.facts.axis(vector, 0), "SHP402", message)
    return call.tensor(call.facts.shape(shape), kind_of(value))


def affine(call: Call, x: Value, weights: Value, biases: Value) -> Value:
    """tf.nn.xw_plus_b: a product of matrices and a bias."""
    return add_bias(call, rules.matmul(call, x, weights, FALSE, FALSE), biases, NONE)


bind(add_bias, "value bias data_format=None -name=None", "tensorflow.nn.bias_add")
bind(affine, "x weights biases -name=None", "tensorflow.nn.xw_plus_b")


def softmax_loss(call: Call, labels: Value, logits: Value, axis: Value) -> Value:
    """tf.nn.softmax_cross_entropy_with_logits: labels like the logits; the classes go."""
    left, right = call.shape(labels), call.shape(logits)
    if axis != Const(-1) or left.dims is None or right.dims is None:
        return call.unranked("float")
    full = call.broadcast(right, left, code=CODE, message=f"{call.text}: the logits and the labels")
    return call.tensor(Shape(full.head[:-1]), "float")


def sparse_loss(call: Call, labels: Value, logits: Value) -> Value:
    """tf.nn.sparse_softmax_cross_entropy_with_logits: one class number where the logits have classes."""
    left, right = call.shape(labels), call.shape(logits)
    require_class_numbers(call, left, right)
    return call.tensor(call.shape(labels), "float")


def sigmoid_loss(call: Call, labels: Value, logits: Value) -> Value:
    """tf.nn.sigmoid_cross_entropy_with_logits: both of one shape."""
    return call.tensor(alike(call, call.shape(logits), call.shape(labels), "label"), "float")


_LABELS = "labels logits"
bind(softmax_loss, f"{_LABELS} axis=-1 -name=None", "tensorflow.nn.softmax_cross_entropy_with_logits")
bind(sparse_loss, f"{_LABELS} -name=None", "tensorflow.nn.sparse_softmax_cross_entropy_with_logits")
bind(sigmoid_loss, "labels=None logits=None -name=None", "tensorflow.nn.sigmoid_cross_entropy_with_logits")


def look_up(call: Call, params: Value, ids: Value) -> Value:
    """tf.nn.embedding_lookup: rows of a table."""
    return rules.take(call, params, ids, Const(0))


bind(look_up, "params ids -max_norm=None -name=None", "tensorflow.nn.embedding_lookup")


def moments(call: Call, x: Value, axes: Value, keep: Value) -> Value:
    """tf.nn.moments: mean and variance."""
    one = rules.reduction()(call, x, axes, keep)
    return Tup((one, one))


bind(moments, "x axes -shift=None keepdims=False -name=None", "tensorflow.nn.moments")


def _image(call: Call, images: Value, height: Value, width: Value) -> Value:
    """Images of other sizes: axes -3 and -2."""
    shape = call.of_rank(call.shape(images), 3, 4, what="images")
    if shape.rank is None:
        return call.unranked()
    sizes = [call.dim(value) for value in (height, width)]
    new = [call.symbol("size") if size is None else size for size in sizes]
    return call.tensor(replace_axes(call, shape, -3, 2, new), kind_of(images))


def resize(call: Call, images: Value, size: Value, keep_ratio: Value) -> Value:
    """tf.image.resize: to a size of height and width."""
    sizes = call.items(size)
    known = sizes is not None and len(sizes) == 2 and call.flag(keep_ratio) is False
    height, width = sizes if known and sizes is not None else (call.unknown(), call.unknown())
    made = _image(call, images, height, width)
    return call.tensor(made.shape, None) if isinstance(made, Tensor) else made


bind(
    resize,
    "images size -method='bilinear' preserve_aspect_ratio=False -antialias=False -name=None",
    "tensorflow.image.resize",
)
bind(_image, "image target_height target_width", "tensorflow.image.resize_with_crop_or_pad")
bind(_image, "image target_height target_width -method='bilinear' -antialias=False", "tensorflow.image.resize_with_pad")
_KEEP = "flip_left_right flip_up_down random_flip_left_right random_flip_up_down per_image_standardization"
bind(rules.unary(), "image -seed=None", *(f"tensorflow.image.{name}" for name in _KEEP.split()))
bind(
    rules.unary(), "image -delta -seed=None", "tensorflow.image.random_brightness", "tensorflow.image.adjust_brightness"
)


def gray(call: Call, images: Value) -> Value:
    """tf.image.rgb_to_grayscale: the last axis of 3 becomes 1."""
    return _channels(call, images, 3, 1)


def colored(call: Call, images: Value) -> Value:
    """tf.image.grayscale_to_rgb: the last axis of 1 becomes 3."""
    return _channels(call, images, 1, 3)


def _channels(call: Call, images: Value, needs: int, gives: int) -> Value:
    shape = call.shape(images)
    message = f"{call.text} needs {{left}} channels on the last axis, gets {{right}} (images {call.show(shape)})"
    call.require_equal(Dim.of(needs), call.facts.axis(shape, -1), "SHP402", message)
    return call.tensor(replace_axes(call, shape, -1, 1, (Dim.of(gives),)), kind_of(images))


bind(gray, "images -name=None", "tensorflow.image.rgb_to_grayscale")
bind(colored, "images -name=None", "tensorflow.image.grayscale_to_rgb")


def decoded(call: Call, channels: Value) -> Value:
    """tf.io.decode_jpeg: an image of unknown size."""
    count = call.dim(channels)
    known = count is not None and count.constant not in (None, 0)
    return call.tensor([call.symbol("height", 1), call.symbol("width", 1), count if known else None], "int")


for _name in ("jpeg", "png"):
    for _space in ("io", "image"):
        bind(decoded, "-contents channels=0 -ratio=1 -name=None", f"tensorflow.{_space}.decode_{_name}")
