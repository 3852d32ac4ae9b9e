"""torch.ops.torchvision: the compiled functions that torchvision's own code calls.

https://docs.pytorch.org/vision/stable/ops.html
"""

from __future__ import annotations

from distml.ops.call import Call
from distml.ops.registry import op
from distml.ops.torch.view import like
from distml.shapes import Dim
from distml.values import Tup, Value

_ROOT = "torch.ops.torchvision"
_PER_PLACE = frozenset({"ps_roi_align", "ps_roi_pool"})
"""Each place of the pooled map has channels of its own."""


@op(*(f"{_ROOT}.{name}" for name in ("roi_align", "roi_pool", *_PER_PLACE)))
def pooled(
    call: Call, input: Value, rois: Value, spatial_scale: Value, pooled_height: Value, pooled_width: Value, *rest: Value
) -> Value:
    """roi_align(input, rois, ...): a map of one size for each box, which has the number of its image and two corners"""
    image = call.of_rank(call.shape(input), 4)
    boxes = call.of_rank(call.shape(rois), 2, what="boxes")
    call.require_equal(boxes.head[1], Dim.of(5), "SHP305", f"{call.text} needs boxes of 5 numbers, gets {{left}}")
    name = call.name.rpartition(".")[2]
    height, width = call.dim(pooled_height), call.dim(pooled_width)
    channels: Dim | None = image.head[1]
    if name in _PER_PLACE:
        channels = image.head[1] // (height * width) if height is not None and width is not None else None
    made = like(call, input, call.tensor([boxes.head[0], channels, height, width]).shape)
    return made if name == "roi_align" else Tup((made, call.tensor(made.shape, "int")))


@op(f"{_ROOT}.nms")
def nms(call: Call, dets: Value, scores: Value, iou_threshold: Value) -> Value:
    """nms(boxes, scores, iou_threshold): the numbers of the boxes that are kept"""
    boxes, rated = call.of_rank(call.shape(dets), 2, what="boxes"), call.of_rank(call.shape(scores), 1, what="scores")
    call.require_equal(boxes.head[1], Dim.of(4), "SHP305", f"{call.text} needs boxes of 4 numbers, gets {{left}}")
    call.require_equal(boxes.head[0], rated.head[0], "SHP305", f"{call.text} has {{left}} boxes and {{right}} scores")
    return call.tensor([None], "int")
