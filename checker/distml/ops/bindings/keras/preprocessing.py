"""keras: layers that prepare data: random changes of pictures, categories, bins; and keras.ops.image.

https://keras.io/api/layers/preprocessing_layers, https://keras.io/api/ops/image
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.keras.base import define, keeping, nothing, require_features, unbuilt
from distml.ops.bindings.keras.names import FEATURES
from distml.ops.bindings.signature import bind
from distml.ops.bindings.tensorflow.images import places
from distml.ops.call import FALSE
from distml.ops.rules.axes import append_axis, product, replace_axes
from distml.ops.rules.kinds import kind_of
from distml.shapes import Dim, Shape
from distml.values import Const, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

Attrs = dict[str, Value]
_ANY = "-factor=1.0 -seed=None -value_range=None -data_format=None -fill_value=None -interpolation='bilinear'"
define(f"{_ANY} * -scale=None", nothing, keeping, "RandomGrayscale", "RandomHue", "RandomSaturation", "RandomSharpness")
define(f"{_ANY} * -scale=None", nothing, keeping, "RandomErasing", "RandomInvert", "RandomPosterization")
define(f"{_ANY} * -scale=None", nothing, keeping, "RandomColorDegeneration", "RandomPerspective")
define(f"{_ANY} -kernel_size=3 -sigma=1.0", nothing, keeping, "RandomGaussianBlur")
define(f"{_ANY} -x_factor=0.0 -y_factor=0.0 -fill_mode='reflect'", nothing, keeping, "RandomShear")
define(
    "-addition_factor=0.0 -threshold_factor=0.0 -value_range=None -seed=None -data_format=None -bins=256",
    nothing,
    keeping,
    "Solarization",
    "AutoContrast",
    "Equalization",
)
define(
    "-value_range=None * -brightness_factor=None -contrast_factor=None -saturation_factor=None -hue_factor=None -seed=None"
    " -data_format=None -num_ops=2 -factor=0.5 -interpolation='bilinear'",
    nothing,
    keeping,
    "RandomColorJitter",
    "RandAugment",
)
define("-axis=-1 -mean=None -variance=None -invert=False", nothing, keeping, "Normalization")


def _scaled(call: Call, axis: Value) -> Attrs:
    return {"axis": axis, FEATURES: unbuilt(call)}


def _run_scaled(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """The shape stays; the last axis has one size for ever."""
    shape = call.shape(inputs)
    if attrs["axis"] == Const(-1):
        require_features(call, attrs, shape)
    return call.tensor(call.facts.shape(shape), "float")


define("axis=-1 -epsilon=1e-06", _scaled, _run_scaled, "RMSNormalization")


def _encoded(call: Call, mode: Value, count: Dim | None, inputs: Value) -> Value:
    """https://keras.io/api/layers/preprocessing_layers/categorical/category_encoding: an axis of categories

    instead of the last one ("multi_hot", "count"), or behind it ("one_hot", unless that has the size 1).
    """
    shape, word = call.facts.shape(call.shape(inputs)), call.const(mode, str)
    if word == "int":
        return call.tensor(shape, "int")
    new = call.symbol("categories", 1) if count is None else count
    if shape.dims is None or not isinstance(word, str) or len(shape.dims) < 2:
        return call.unranked("float")  # versions of Keras differ in what they make of a vector
    last = shape.dims[-1]
    if word in ("multi_hot", "count") or last == 1:
        return call.tensor(replace_axes(call, shape, -1, 1, (new,)), "float")
    if word == "one_hot" and last.differs(1):
        return call.tensor(append_axis(call, shape, new), "float")
    return call.unranked("float")


def _run_categories(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """A category for each number."""
    return _encoded(call, attrs["output_mode"], call.dim(attrs["num_tokens"]), inputs)


def _run_bins(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """One bin more than boundaries."""
    items = call.items(attrs["bin_boundaries"])
    return _encoded(call, attrs["output_mode"], None if items is None else Dim.of(len(items) + 1), inputs)


def _run_numbers(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """A number for each word or number."""
    return _encoded(call, attrs["output_mode"], None, inputs)


define(
    "num_tokens=None output_mode='multi_hot' -sparse=False",
    lambda call, count, mode: {"num_tokens": count, "output_mode": mode},
    _run_categories,
    "CategoryEncoding",
)
define(
    "bin_boundaries=None -num_bins=None -epsilon=0.01 output_mode='int' -sparse=False",
    lambda call, boundaries, mode: {"bin_boundaries": boundaries, "output_mode": mode},
    _run_bins,
    "Discretization",
)
define(
    "-num_bins -mask_value=None -salt=None output_mode='int' -sparse=False",
    lambda call, mode: {"output_mode": mode},
    _run_numbers,
    "Hashing",
)
define(
    "-max_tokens=None -num_oov_indices=1 -mask_token=None -oov_token=-1 -vocabulary=None -vocabulary_dtype='int64'"
    " -idf_weights=None -invert=False output_mode='int' -sparse=False -pad_to_max_tokens=False -encoding='utf-8'",
    lambda call, mode: {"output_mode": mode},
    _run_numbers,
    "IntegerLookup",
)


def _attended(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """https://keras.io/api/layers/attention_layers/attention: a row of the values' width for each row of the query"""
    items = call.items(inputs)
    shapes = [call.facts.shape(call.shape(item)) for item in items or ()]
    scores = call.flag(kwargs.get("return_attention_scores", FALSE))
    if len(shapes) < 2 or any(shape.rank != 3 for shape in shapes) or scores is not False:
        return call.unknown()
    query, value, key = shapes[0].head, shapes[1].head, shapes[-1].head
    text = f"{call.text}: the query {shapes[0]!r} has a batch of {{left}}, the value {shapes[1]!r} one of {{right}}"
    call.require_equal(query[0], value[0], "SHP104", text)
    mode = "concat" if call.name.endswith("AdditiveAttention") else call.const(attrs["score_mode"], str)
    if mode == "dot":
        text = f"{call.text}: the query {shapes[0]!r} has {{left}} features, the key {shapes[-1]!r} has {{right}}"
        call.require_equal(query[2], key[2], "SHP101", text)
    elif mode == "concat":
        text = f"{call.text} adds the features of the query {shapes[0]!r} and of the key {shapes[-1]!r}"
        call.broadcast(Shape.of(query[2]), Shape.of(key[2]), message=text)
    return call.tensor([*query[:2], value[2]], "float")


define(
    "-use_scale=False score_mode='dot' -dropout=0.0 -seed=None",
    lambda call, mode: {"score_mode": mode},
    _attended,
    "Attention",
    "AdditiveAttention",
)


def _images(call: Call, images: Value, layout: Value) -> tuple[Dim, ...] | None:
    """The sizes of one image or of several, channels last; None where they are not known so."""
    shape = call.facts.shape(call.of_rank(call.shape(images), 3, 4, what="the images"))
    last = call.is_none(layout) is True or call.const(layout, str) == "channels_last"
    return shape.dims if last else None


def _extracted(
    call: Call, images: Value, size: Value, strides: Value, rate: Value, padding: Value, layout: Value
) -> Value:
    """keras.ops.image.extract_patches: each window as one row of channels"""
    dims, window = _images(call, images, layout), _two(call, size)
    if dims is None or window is None:
        return call.unranked(kind_of(images))
    steps = window if call.is_none(strides) is True else _two(call, strides)
    apart, mode = _two(call, rate), call.const(padding, str)
    if steps is None or apart is None:
        return call.unranked(kind_of(images))
    counts = [places(dims[at - 3], window[at], steps[at], apart[at], mode) for at in (0, 1)]
    return call.tensor([*dims[:-3], *counts, product(call, [*window, dims[-1]])], kind_of(images))


def _two(call: Call, value: Value) -> tuple[Dim, Dim] | None:
    """A number for both axes, or one for each."""
    sizes = call.sizes(value)
    if sizes is None or len(sizes) > 2:
        return None
    first, last = sizes[0], sizes[-1]
    return None if first is None or last is None else (first, last)


def _resized(call: Call, images: Value, size: Value, layout: Value) -> Value:
    """keras.ops.image.resize: to a size of height and width"""
    dims, new = _images(call, images, layout), _two(call, size)
    if dims is None or new is None or len(call.sizes(size) or ()) != 2:
        return call.unranked(kind_of(images))
    return call.tensor([*dims[:-3], *new, dims[-1]], kind_of(images))


def _grey(call: Call, images: Value, layout: Value) -> Value:
    """keras.ops.image.rgb_to_grayscale: one channel"""
    dims = _images(call, images, layout)
    return call.unranked("float") if dims is None else call.tensor(Shape((*dims[:-1], Dim.of(1))), kind_of(images))


def _fitted(sign: int, call: Call, images: Value, edges: list[Value], targets: list[Value], layout: Value) -> Value:
    """Images with edges added or cut off: as high and wide as is asked for, or what the edges make of them."""
    dims = _images(call, images, layout)
    if dims is None:
        return call.unranked(kind_of(images))
    new: list[Dim | None] = []
    for at, target in enumerate(targets):
        around = [call.dim(edge) for edge in edges[2 * at : 2 * at + 2]]
        known = [edge for edge in around if edge is not None]
        asked = None if call.is_none(target) is True else call.dim(target)
        whole = None if len(known) < 2 else dims[at - 3] + sign * (known[0] + known[1])
        new.append(asked if call.is_none(target) is False else whole)
    return call.tensor([*dims[:-3], *new, dims[-1]], kind_of(images))


def _crop(call: Call, images: Value, *given: Value) -> Value:
    """keras.ops.image.crop_images"""
    top, left, bottom, right, height, width, layout = given
    return _fitted(-1, call, images, [top, bottom, left, right], [height, width], layout)


def _pad(call: Call, images: Value, *given: Value) -> Value:
    """keras.ops.image.pad_images"""
    top, left, bottom, right, height, width, layout = given
    return _fitted(1, call, images, [top, bottom, left, right], [height, width], layout)


_ROOT = "keras.ops.image."
bind(
    _extracted,
    "images size strides=None dilation_rate=1 padding='valid' data_format=None",
    f"{_ROOT}extract_patches",
)
bind(
    _resized,
    "images size -interpolation='bilinear' -antialias=False -crop_to_aspect_ratio=False -pad_to_aspect_ratio=False"
    " -fill_mode='constant' -fill_value=0.0 data_format=None",
    f"{_ROOT}resize",
)
bind(_grey, "images data_format=None", f"{_ROOT}rgb_to_grayscale")
for _rule, _word in ((_crop, "cropping"), (_pad, "padding")):
    _edges = " ".join(f"{side}_{_word}=None" for side in ("top", "left", "bottom", "right"))
    bind(
        _rule,
        f"images {_edges} target_height=None target_width=None data_format=None",
        f"{_ROOT}{'crop' if _word == 'cropping' else 'pad'}_images",
    )
