"""keras: data sets of files in folders.

https://keras.io/api/data_loading/image
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.bindings.tensorflow.data import made
from distml.ops.call import UNKNOWN
from distml.shapes import Dim
from distml.values import Tup, Value

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
