"""keras: data sets of files in folders and of windows of a series; sequences filled up to one length.

https://keras.io/api/data_loading
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.bindings.tensorflow.data import made
from distml.ops.bindings.tensorflow.dtypes import asked_kind
from distml.ops.call import UNKNOWN
from distml.ops.rules.kinds import kind_of
from distml.shapes import Dim
from distml.values import Many, Opaque, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

_LABELS: dict[str, list[Dim | None]] = {"int": [], "binary": [Dim.of(1)], "categorical": [None]}
"""The axes of labels behind the batch."""
_CHANNELS = {"grayscale": 1, "rgb": 3, "rgba": 4}


def images(
    call: Call, labels: Value, label_mode: Value, color_mode: Value, batch_size: Value, image_size: Value, subset: Value
) -> Value:
    """Images of one size in batches, with their labels; how many there are is not known."""
    sizes, mode, color = call.sizes(image_size), call.const(label_mode, str), call.const(color_mode, str)
    channels = _CHANNELS.get(color) if color is not UNKNOWN else None
    if sizes is None or len(sizes) != 2 or call.const(subset, str) == "both" or call.is_none(subset) is None:
        return call.unknown("dataset")
    single = call.is_none(batch_size)
    if single is None:
        return call.unknown("dataset")
    batch = [] if single else [call.symbol("batch", 1)]
    image = call.tensor([*batch, *sizes, None if channels is None else Dim.of(channels)], "float")
    if call.is_none(labels) is True or call.is_none(label_mode) is True:
        return made(call, image, None)
    more = _LABELS.get(mode) if mode is not UNKNOWN else None
    if more is None:
        return call.unknown("dataset")
    return made(call, Tup((image, call.tensor([*batch, *more], "int" if mode == "int" else "float"))), None)


bind(
    images,
    "-directory labels='inferred' label_mode='int' -class_names=None color_mode='rgb' batch_size=32 image_size=(256,256)"
    " -shuffle=True -seed=None -validation_split=None subset=None -interpolation='bilinear' -follow_links=False"
    " -crop_to_aspect_ratio=False -pad_to_aspect_ratio=False -data_format=None -verbose=True -format='tf'",
    "keras.utils.image_dataset_from_directory",
    "keras.preprocessing.image_dataset_from_directory",
)


def windows(call: Call, data: Value, targets: Value, length: Value, batch_size: Value) -> Value:
    """keras.utils.timeseries_dataset_from_array: windows of rows in batches, each with the target of its place."""
    series, single = call.facts.shape(call.shape(data)), call.is_none(batch_size)
    if single is None or not series.dims:
        return call.unknown("dataset")
    batch = [] if single else [call.symbol("batch", 1)]
    rows = call.tensor([*batch, call.dim(length), *series.dims[1:]], kind_of(data))
    if call.is_none(targets) is True:
        return made(call, rows, None)
    wanted = call.facts.shape(call.shape(targets))
    if call.is_none(targets) is None or not wanted.dims:
        return call.unknown("dataset")
    return made(call, Tup((rows, call.tensor([*batch, *wanted.dims[1:]], kind_of(targets)))), None)


def filled(call: Call, sequences: Value, maxlen: Value, dtype: Value) -> Value:
    """keras.utils.pad_sequences: an array of NumPy, one row a sequence, as long as the longest or as is asked for."""
    items = call.world.iterate(sequences)
    one = items.item if isinstance(items, Many) else items[0] if items else None
    count = items.length if isinstance(items, Many) else Dim.of(len(items))
    shape = None if one is None or isinstance(one, Opaque) else call.facts.shape(call.shape(one))
    length = call.symbol("longest") if call.is_none(maxlen) else call.dim(maxlen)
    if shape is None or not shape.dims:
        return Tensor("numpy", call.facts.unknown_shape())
    rows = call.symbol("sequences") if count is None else count
    return call.tensor([rows, length, *shape.dims[1:]], asked_kind(call, dtype, "int"), "numpy")


bind(
    windows,
    "data targets sequence_length -sequence_stride=1 -sampling_rate=1 batch_size=128 -shuffle=False -seed=None"
    " -start_index=None -end_index=None",
    "keras.utils.timeseries_dataset_from_array",
    "keras.preprocessing.timeseries_dataset_from_array",
)
bind(
    filled,
    "sequences maxlen=None dtype='int32' -padding='pre' -truncating='pre' -value=0.0",
    "keras.utils.pad_sequences",
    "keras.preprocessing.sequence.pad_sequences",
)
