"""tensorflow: tf.image beyond resizing: colours, crops, patches, and what is drawn at random.

https://www.tensorflow.org/api_docs/python/tf/image
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.bindings.tensorflow.dtypes import asked_kind
from distml.ops.rules.axes import append_axis, product, replace_axes
from distml.ops.rules.kinds import kind_of
from distml.ops.semantics.tensors import unary
from distml.shapes import Dim, Shape
from distml.values import Const, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

_ROOT = "tensorflow.image."
SAME = {
    "rgb_to_hsv hsv_to_rgb rgb_to_yiq yiq_to_rgb rgb_to_yuv yuv_to_rgb": "images -name=None",
    "adjust_contrast": "images -contrast_factor",
    "adjust_gamma": "image -gamma=1 -gain=1",
    "adjust_hue": "image -delta -name=None",
    "adjust_saturation": "image -saturation_factor -name=None",
    "random_contrast random_saturation stateless_random_contrast stateless_random_saturation": "image -lower -upper -seed=None",
    "random_hue stateless_random_hue stateless_random_brightness": "image -max_delta -seed=None",
    "stateless_random_flip_left_right stateless_random_flip_up_down": "image -seed",
}
"""Functions that keep the sizes of their images, and their parameters."""


def converted(call: Call, image: Value, dtype: Value) -> Value:
    """tf.image.convert_image_dtype: the same sizes, another kind."""
    return call.tensor(call.shape(image), asked_kind(call, dtype, None))


def cut(call: Call, image: Value, height: Value, width: Value) -> Value:
    """A window of a height and width, of one image or of several."""
    shape = call.of_rank(call.shape(image), 3, 4, what="the image")
    sizes = [call.dim(value) for value in (height, width)]
    new = [call.symbol("size") if size is None else size for size in sizes]
    return call.tensor(replace_axes(call, shape, -3, 2, new), kind_of(image))


def random_crop(call: Call, value: Value, size: Value) -> Value:
    """tf.image.random_crop: a piece of the size that is asked for, no larger than what it is cut from."""
    shape, wanted = call.facts.shape(call.shape(value)), call.sizes(size)
    if wanted is None:
        return call.tensor(
            shape if shape.dims is None else Shape(tuple(call.symbol("size") for _ in shape.dims)), kind_of(value)
        )
    if shape.dims is not None and len(shape.dims) != len(wanted):
        call.fail("SHP301", f"{call.text}: a size of {len(wanted)} numbers for a value of {len(shape.dims)} axes")
    for whole, part in zip(shape.dims or (), wanted, strict=False):
        if (
            part is not None
            and part.constant is not None
            and whole.constant is not None
            and part.constant > whole.constant
        ):
            call.fail("SHP302", f"{call.text}: {part} cannot be cut out of an axis of {whole} ({call.show(shape)})")
    return call.tensor([call.symbol("size") if part is None else part for part in wanted], kind_of(value))


def boxes(call: Call, image: Value, found: Value, size: Value) -> Value:
    """tf.image.crop_and_resize: one crop for each box."""
    count, sizes = call.facts.axis(call.shape(found), 0), call.sizes(size)
    channels = call.facts.axis(call.of_rank(call.shape(image), 4, what="the image"), 3)
    height, width = sizes if sizes is not None and len(sizes) == 2 else (None, None)
    return call.tensor([count, height, width, channels], "float")


def patches(call: Call, images: Value, sizes: Value, strides: Value, rates: Value, padding: Value) -> Value:
    """tf.image.extract_patches: [b, rows, columns, height * width * channels]"""
    shape = call.facts.shape(call.of_rank(call.shape(images), 4, what="the images"))
    window, steps, spread = (call.sizes(value) for value in (sizes, strides, rates))
    mode = call.const(padding, str)
    if shape.dims is None or window is None or len(window) != 4 or None in window:
        return call.tensor([None] * 4, kind_of(images))
    known = [dim for dim in window if dim is not None]
    inside = product(call, [known[1], known[2], shape.dims[3]])
    counts = [places(shape.dims[at], window[at], _at(steps, at), _at(spread, at), mode) for at in (1, 2)]
    return call.tensor([shape.dims[0], *counts, inside], kind_of(images))


def _at(sizes: tuple[Dim | None, ...] | None, index: int) -> Dim | None:
    return sizes[index] if sizes is not None and len(sizes) == 4 else None


def places(size: Dim | None, window: Dim | None, step: Dim | None, rate: Dim | None, mode: object) -> Dim | None:
    """How many windows fit along an axis; None where that is not known."""
    numbers = [None if dim is None else dim.constant for dim in (size, window, step, rate)]
    if not isinstance(mode, str) or any(number is None for number in numbers):
        return None
    total, width, by, apart = (number or 0 for number in numbers)
    if by < 1:
        return None
    if mode.upper() == "SAME":
        return Dim.of(-(-total // by))
    return Dim.of(max(0, (total - (width - 1) * apart - 1) // by + 1))


def total_variation(call: Call, images: Value) -> Value:
    """tf.image.total_variation: one number for each image."""
    shape = call.of_rank(call.shape(images), 3, 4, what="the images")
    if shape.rank is None:
        return call.unranked(kind_of(images))
    return call.tensor([] if shape.rank == 3 else [call.facts.axis(shape, 0)], kind_of(images))


def turned(call: Call, images: Value, k: Value) -> Value:
    """tf.image.rot90: the sides are exchanged where that is done an odd number of times."""
    shape = call.of_rank(call.shape(images), 3, 4, what="the images")
    times, height, width = call.const(k, int), call.facts.axis(shape, -3), call.facts.axis(shape, -2)
    if not isinstance(times, int) or height is None or width is None:
        return call.unranked(kind_of(images))
    return call.tensor(
        replace_axes(call, shape, -3, 2, (width, height) if times % 2 else (height, width)), kind_of(images)
    )


def middle(call: Call, image: Value) -> Value:
    """tf.image.central_crop: a part of the height and of the width."""
    shape = call.of_rank(call.shape(image), 3, 4, what="the image")
    return call.tensor(replace_axes(call, shape, -3, 2, (call.symbol("height"), call.symbol("width"))), kind_of(image))


def compared(call: Call, a: Value, b: Value) -> Value:
    """tf.image.psnr and ssim: a number for each pair of images."""
    pair = [call.facts.at_least(call.shape(value), 3) for value in (a, b)]
    if None in pair:
        call.fail("SHP301", f"{call.text} compares images of 3 axes at least: {call.show(a)} and {call.show(b)}")
    text = f"{call.text}: {call.show(a)} and {call.show(b)}"
    full = call.broadcast(call.shape(a), call.shape(b), message=text)
    return call.tensor(replace_axes(call, full, -3, 3, ()), "float")


def edges(call: Call, image: Value) -> Value:
    """tf.image.sobel_edges: both directions on an axis of their own."""
    return call.tensor(
        append_axis(call, call.of_rank(call.shape(image), 4, what="the image"), Dim.of(2)), kind_of(image)
    )


def slopes(call: Call, image: Value) -> Value:
    """tf.image.image_gradients: the differences down and across."""
    one = call.tensor(call.of_rank(call.shape(image), 4, what="the image"), kind_of(image))
    return Tup((one, one))


def kept(call: Call, found: Value, scores: Value) -> Value:
    """tf.image.non_max_suppression: the places of some boxes, each with a score."""
    rows, marks = (
        call.of_rank(call.shape(found), 2, what="the boxes"),
        call.of_rank(call.shape(scores), 1, what="scores"),
    )
    text = f"{call.text}: {{left}} boxes and {{right}} scores"
    call.require_equal(call.facts.axis(rows, 0), call.facts.axis(marks, 0), "SHP104", text)
    return call.tensor([call.symbol("kept")], "int")


for _names, _signature in SAME.items():
    bind(unary(), _signature, *(f"{_ROOT}{name}" for name in _names.split()))
bind(converted, "image dtype -saturate=False -name=None", f"{_ROOT}convert_image_dtype")
bind(cut, "image -offset_height -offset_width target_height target_width", f"{_ROOT}crop_to_bounding_box")
bind(cut, "image -offset_height -offset_width target_height target_width", f"{_ROOT}pad_to_bounding_box")
bind(random_crop, "value size -seed=None -name=None", f"{_ROOT}random_crop", "tensorflow.random_crop")
bind(random_crop, "value size -seed -name=None", f"{_ROOT}stateless_random_crop")
bind(
    boxes,
    "image boxes -box_indices crop_size -method='bilinear' -extrapolation_value=0.0 -name=None",
    f"{_ROOT}crop_and_resize",
)
bind(patches, "images sizes strides rates padding -name=None", f"{_ROOT}extract_patches")
bind(total_variation, "images -name=None", f"{_ROOT}total_variation")
bind(turned, "image k=1 -name=None", f"{_ROOT}rot90")
bind(lambda call, image: turned(call, image, Const(1)), "image -name=None", f"{_ROOT}transpose")
bind(middle, "image -central_fraction", f"{_ROOT}central_crop")
bind(compared, "a b -max_val -name=None", f"{_ROOT}psnr")
bind(
    compared,
    "img1 img2 -max_val -filter_size=11 -filter_sigma=1.5 -k1=0.01 -k2=0.03 -return_index_map=None",
    f"{_ROOT}ssim",
)
bind(edges, "image", f"{_ROOT}sobel_edges")
bind(slopes, "image", f"{_ROOT}image_gradients")
bind(unary(), "images -boxes -colors -name=None", f"{_ROOT}draw_bounding_boxes")
bind(
    kept,
    "boxes scores -max_output_size -iou_threshold=0.5 -score_threshold=None -name=None",
    f"{_ROOT}non_max_suppression",
)
