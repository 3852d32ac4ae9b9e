"""keras: keras.applications: what the well-known networks give for an image.

https://keras.io/api/applications
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.keras.base import in_graph, placeholder
from distml.ops.bindings.keras.models import INPUTS, MODEL, NETWORK, OUTPUTS
from distml.ops.bindings.signature import bind
from distml.ops.call import NONE
from distml.ops.registry import op
from distml.shapes import Dim
from distml.values import Const, InstanceRecord, Lib, Tensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call

_STEP = 32
_CHANNELS = """vgg16.VGG16 512, vgg19.VGG19 512, resnet50.ResNet50 2048, resnet.ResNet50 2048, resnet.ResNet101 2048,
resnet.ResNet152 2048, resnet_v2.ResNet50V2 2048, resnet_v2.ResNet101V2 2048, resnet_v2.ResNet152V2 2048,
mobilenet.MobileNet 1024, mobilenet_v2.MobileNetV2 1280, densenet.DenseNet121 1024, densenet.DenseNet169 1664,
densenet.DenseNet201 1920, efficientnet.EfficientNetB0 1280, efficientnet.EfficientNetB1 1280,
efficientnet.EfficientNetB2 1408, efficientnet.EfficientNetB3 1536, efficientnet.EfficientNetB4 1792,
efficientnet.EfficientNetB5 2048, efficientnet.EfficientNetB6 2304, efficientnet.EfficientNetB7 2560,
efficientnet_v2.EfficientNetV2B0 1280,
efficientnet_v2.EfficientNetV2B1 1280, efficientnet_v2.EfficientNetV2B2 1408, efficientnet_v2.EfficientNetV2B3 1536,
efficientnet_v2.EfficientNetV2S 1280, efficientnet_v2.EfficientNetV2M 1280, efficientnet_v2.EfficientNetV2L 1280,
mobilenet_v3.MobileNetV3Small 576, mobilenet_v3.MobileNetV3Large 960, convnext.ConvNeXtTiny 768, convnext.ConvNeXtSmall 768,
convnext.ConvNeXtBase 1024, convnext.ConvNeXtLarge 1536, convnext.ConvNeXtXLarge 2048,
inception_v3.InceptionV3 -2048, xception.Xception -2048, inception_resnet_v2.InceptionResNetV2 -1536"""
"""Where each network is and the channels of its last feature map; negative where that is not 1/32 of the image."""


_WIDTHS: dict[str, Callable[[float], int | None]] = {
    "mobilenet": lambda alpha: int(1024 * alpha),
    "mobilenet_v2": lambda alpha: 1280 if alpha <= 1 else None,
}
"""The channels of the last feature map by the factor of the width, where a network takes one."""


def _depth(call: Call, module: str, channels: int, alpha: Value) -> Dim | None:
    """The channels of the last feature map."""
    factor, width = call.const(alpha, (int, float)), _WIDTHS.get(module)
    if factor in (1, 1.0):
        return Dim.of(abs(channels))
    made = None if width is None or not isinstance(factor, int | float) else width(factor)
    return None if made is None else Dim.of(made)


def _network(path: str, channels: int) -> Callable[..., Value]:
    module, _, name = path.partition(".")

    def build(call: Call, **options: Value) -> Value:
        """https://keras.io/api/applications: the class scores, or the last feature map, pooled or not"""
        top, pooling = call.flag(options.get("include_top", Const(True))), options.get("pooling", NONE)
        given, sizes = options.get("input_tensor", NONE), call.items(options.get("input_shape", NONE))
        if call.is_none(given) is not True or top is None or "classifier_activation" in options:
            return call.unknown("model")
        image = placeholder(call, sizes if sizes is not None and len(sizes) == 3 else (NONE, NONE, Const(3)))
        batch, *spatial = image.shape.head[:-1]
        depth = _depth(call, module, channels, options.get("alpha", Const(1)))
        whole = channels > 0 and all(size.constant is not None and not (size % _STEP).terms for size in spatial)
        small: list[Dim | None] = [size // _STEP if whole else None for size in spatial]
        if top:
            dims = [batch, call.dim(options.get("classes", Const(1000)))]
        elif call.const(pooling, str) in ("avg", "max"):
            dims = [batch, depth]
        elif call.is_none(pooling):
            dims = [batch, *small, depth]
        else:
            return call.unknown("model")
        usual = whole and not {"depth_multiplier", "width_coefficient"} & options.keys()
        usual = usual and call.const(options.get("alpha", Const(1)), (int, float)) in (1, 1.0)
        own: dict[str, Value] = {NETWORK: Const(name)} if usual else {}
        return _model(call, image, in_graph(call, call.tensor(dims, "float", "tensorflow")), own)

    return build


def _model(call: Call, image: Tensor, output: Tensor, own: dict[str, Value]) -> Value:
    return call.world.allocate(InstanceRecord(Lib(MODEL), {INPUTS: image, OUTPUTS: output, **own}))


for _entry in _CHANNELS.split(","):
    _path, _count = _entry.split()
    _name = _path.partition(".")[2]
    op(f"keras.applications.{_path}")(_network(_path, int(_count)))
    _short = f"keras.applications.{_name}"
    if _path != "resnet.ResNet50":
        op(_short)(_network(_path, int(_count)))


def prepared(call: Call, x: Value) -> Value:
    """preprocess_input(x): the same sizes, in the library of what is given."""
    return call.tensor(call.shape(x), "float", x.lib) if isinstance(x, Tensor) else call.unknown()


def decoded(call: Call, preds: Value) -> Value:
    """decode_predictions(preds): names for a score of each of the 1000 classes, for each image (SHP301)."""
    shape = call.of_rank(call.shape(preds), 2, what="predictions")
    text = f"{call.text} needs the scores of {{right}} classes, gets {{left}} (predictions {call.show(shape)})"
    call.require_equal(call.facts.axis(shape, 1), Dim.of(1000), "SHP301", text)
    return call.unknown("predictions")


_MODULES = {path.split()[0].partition(".")[0] for path in _CHANNELS.split(",")}
for _module in (*sorted(_MODULES), "imagenet_utils", "nasnet"):
    bind(prepared, "x -data_format=None -mode=None", f"keras.applications.{_module}.preprocess_input")
    bind(decoded, "preds -top=5", f"keras.applications.{_module}.decode_predictions")
