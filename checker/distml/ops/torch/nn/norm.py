"""torch.nn: normalization layers and their functional forms.

https://docs.pytorch.org/docs/stable/nn.html#normalization-layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.ops.call import FALSE, NONE, TRUE, Call
from distml.ops.registry import layer, op
from distml.ops.rules import norm as rules
from distml.ops.rules.kinds import if_float
from distml.ops.rules.layers import attribute_of, floating, given, optional, parameter, size
from distml.shapes import Shape
from distml.values import Const, Num, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.shapes import Dim

BUFFERS = ("running_mean", "running_var", "num_batches_tracked")
VECTORS = ("running_mean", "running_var", "weight", "bias")


@op("torch.nn.functional.batch_norm", "torch.batch_norm")
def batch_norm(
    call: Call,
    input: Value,
    running_mean: Value = NONE,
    running_var: Value = NONE,
    weight: Value = NONE,
    bias: Value = NONE,
    *rest: Value,
    **options: Value,
) -> Value:
    """torch.nn.functional.batch_norm; torch.batch_norm has the vectors in another order."""
    vectors = dict(zip(VECTORS, (running_mean, running_var, weight, bias), strict=True))
    return call.tensor(rules.batch_norm(call, call.shape(input), (), vectors), call.dtype(input))


@op("torch.nn.functional.instance_norm", "torch.instance_norm")
def instance_norm(
    call: Call,
    input: Value,
    running_mean: Value = NONE,
    running_var: Value = NONE,
    weight: Value = NONE,
    bias: Value = NONE,
    *rest: Value,
    **options: Value,
) -> Value:
    """torch.nn.functional.instance_norm; torch.instance_norm has the vectors in another order."""
    vectors = dict(zip(VECTORS, (running_mean, running_var, weight, bias), strict=True))
    return call.tensor(rules.batch_norm(call, call.shape(input), (), vectors), call.dtype(input))


@op("torch.nn.functional.group_norm", "torch.group_norm")
def group_norm(
    call: Call,
    input: Value,
    num_groups: Value,
    weight: Value = NONE,
    bias: Value = NONE,
    eps: Value = NONE,
    cudnn_enabled: Value = TRUE,
) -> Value:
    """torch.nn.functional.group_norm"""
    vectors = {"weight": weight, "bias": bias}
    return call.tensor(rules.group_norm(call, call.shape(input), num_groups, vectors), call.dtype(input))


@op("torch.nn.functional.layer_norm", "torch.layer_norm")
def layer_norm(
    call: Call,
    input: Value,
    normalized_shape: Value,
    weight: Value = NONE,
    bias: Value = NONE,
    eps: Value = NONE,
    cudnn_enable: Value = TRUE,
) -> Value:
    """torch.nn.functional.layer_norm"""
    sizes = call.sizes(normalized_shape)
    rules.same_vectors(call, sizes, {"weight": weight, "bias": bias})
    return call.tensor(rules.last_axes(call, call.shape(input), sizes), call.dtype(input))


@op("torch.nn.functional.rms_norm", "torch.rms_norm")
def rms_norm(call: Call, input: Value, normalized_shape: Value, weight: Value = NONE, eps: Value = NONE) -> Value:
    """torch.nn.functional.rms_norm"""
    return layer_norm(call, input, normalized_shape, weight)


@op("torch.nn.functional.local_response_norm")
def local_response_norm(
    call: Call, input: Value, size: Value, alpha: Value = NONE, beta: Value = NONE, k: Value = NONE
) -> Value:
    """torch.nn.functional.local_response_norm"""
    shape = call.facts.at_least(call.shape(input), 3)
    if shape is None:
        call.fail("SHP301", f"{call.text} needs an input with at least 3 axes, gets {call.show(input)}")
    return call.tensor(shape, if_float(call.dtype(input)))


def _statistics(call: Call, features: Dim, affine: Value, tracked: Value, bias: Value = TRUE) -> dict[str, Value]:
    vector = parameter(call, (features,))
    buffer = Tensor("torch", vector.shape, "float")
    biased = optional(call, bias, vector)
    return {
        "weight": optional(call, affine, vector),
        "bias": optional(call, affine, biased),
        "running_mean": optional(call, tracked, buffer),
        "running_var": optional(call, tracked, buffer),
        "num_batches_tracked": optional(call, tracked, Tensor("torch", Shape(()), "int")),
        "affine": affine,
        "track_running_stats": tracked,
        "training": TRUE,
    }


def _of_the_input(attrs: dict[str, Value]) -> bool:
    """Whether it certainly normalizes by what the input itself has, and not by what was seen in training."""
    return attrs.get("training") == TRUE or attrs.get("track_running_stats") == FALSE


def _batch_layer(ranks: tuple[int, ...]) -> type:
    class BatchNorm:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(
            call: Call,
            num_features: Value,
            eps: Value = Const(1e-5),
            momentum: Value = Const(0.1),
            affine: Value = TRUE,
            track_running_stats: Value = TRUE,
            device: Value = NONE,
            dtype: Value = NONE,
            *,
            bias: Value = TRUE,
        ) -> dict[str, Value]:
            features = size(call, num_features, "num_features")
            attrs = _statistics(call, features, affine, track_running_stats, bias)
            return {
                "num_features": attribute_of(call, num_features, features),
                "eps": eps,
                "momentum": momentum,
                **attrs,
            }

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
            vectors = {name: given(call, attrs, name) for name in VECTORS}
            shape = rules.batch_norm(call, call.shape(input), ranks, vectors)
            # SyncBatchNorm, of any rank, sees the values of other processes too.
            if ranks and _of_the_input(attrs) and shape.dims is not None:
                rules.require_values(call, shape, (shape.dims[0], *shape.dims[2:]), "channel")
            return call.tensor(shape, floating(call, input))

    return BatchNorm


def _instance_layer(count: int) -> type:
    class InstanceNorm:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(
            call: Call,
            num_features: Value,
            eps: Value = Const(1e-5),
            momentum: Value = Const(0.1),
            affine: Value = FALSE,
            track_running_stats: Value = FALSE,
            device: Value = NONE,
            dtype: Value = NONE,
            *,
            bias: Value = TRUE,
        ) -> dict[str, Value]:
            features = size(call, num_features, "num_features")
            attrs = _statistics(call, features, affine, track_running_stats, bias)
            return {
                "num_features": attribute_of(call, num_features, features),
                "eps": eps,
                "momentum": momentum,
                **attrs,
            }

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
            shape = call.of_rank(call.shape(input), count + 1, count + 2, what="an input")
            vectors = {name: given(call, attrs, name) for name in VECTORS}
            shape = rules.per_channel(call, shape, -count - 1, vectors)
            if _of_the_input(attrs) and shape.dims is not None:
                rules.require_values(call, shape, shape.dims[-count:], "channel of each sample")
            return call.tensor(shape, floating(call, input))

    return InstanceNorm


def _lazy(base: Any) -> type:
    class LazyNorm:
        @staticmethod
        def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
            attrs: dict[str, Value] = base.init(call, Num(call.symbol("num_features")), *args, **kwargs)
            return attrs

        forward = base.forward

    return LazyNorm


@layer("torch.nn.GroupNorm")
class GroupNorm:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.GroupNorm.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        num_groups: Value,
        num_channels: Value,
        eps: Value = Const(1e-5),
        affine: Value = TRUE,
        device: Value = NONE,
        dtype: Value = NONE,
        *,
        bias: Value = TRUE,
    ) -> dict[str, Value]:
        """The channels must fall into equal groups."""
        groups, channels = size(call, num_groups, "num_groups", 1), size(call, num_channels, "num_channels")
        call.require_divisible(
            channels, groups, "SHP404", f"{call.text}: num_channels={{dim}} is not divisible by num_groups={{by}}"
        )
        vector = parameter(call, (channels,))
        return {
            "num_groups": num_groups,
            "num_channels": attribute_of(call, num_channels, channels),
            "eps": eps,
            "affine": affine,
            "weight": optional(call, affine, vector),
            "bias": optional(call, affine, optional(call, bias, vector)),
        }

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """The shape of the input."""
        vectors = {name: given(call, attrs, name) for name in ("weight", "bias")}
        shape = rules.group_norm(call, call.shape(input), given(call, attrs, "num_groups"), vectors)
        return call.tensor(shape, floating(call, input))


def _normalized(call: Call, normalized_shape: Value, affine: Value, bias: Value) -> dict[str, Value]:
    items = call.items(normalized_shape)
    if items is not None or call.sizes(normalized_shape) is not None:
        values = (normalized_shape,) if items is None else items
        dims = tuple(size(call, value, "normalized_shape") for value in values)
        weight, shape = parameter(call, dims), Tup(tuple(call.number(d) for d in dims))
    else:
        # A number or a sequence: the input cannot settle which.
        unknown = call.facts.unknown_shape("normalized_shape")
        return _weighted(call, normalized_shape, Tensor("torch", unknown, "float", parameter=True), affine, bias)
    return _weighted(call, shape, weight, affine, bias)


def _weighted(call: Call, shape: Value, weight: Tensor, affine: Value, bias: Value) -> dict[str, Value]:
    weighted = optional(call, affine, weight)
    return {"normalized_shape": shape, "weight": weighted, "bias": optional(call, affine, optional(call, bias, weight))}


@layer("torch.nn.LayerNorm")
class LayerNorm:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        normalized_shape: Value,
        eps: Value = Const(1e-5),
        elementwise_affine: Value = TRUE,
        bias: Value = TRUE,
        device: Value = NONE,
        dtype: Value = NONE,
    ) -> dict[str, Value]:
        """normalized_shape is one size or several."""
        attrs = _normalized(call, normalized_shape, elementwise_affine, bias)
        return {**attrs, "eps": eps, "elementwise_affine": elementwise_affine}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """The shape of the input."""
        sizes = call.sizes(given(call, attrs, "normalized_shape"))
        return call.tensor(rules.last_axes(call, call.shape(input), sizes), floating(call, input))


@layer("torch.nn.RMSNorm")
class RMSNorm:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.RMSNorm.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        normalized_shape: Value,
        eps: Value = NONE,
        elementwise_affine: Value = TRUE,
        device: Value = NONE,
        dtype: Value = NONE,
    ) -> dict[str, Value]:
        """normalized_shape is one size or several."""
        attrs = _normalized(call, normalized_shape, elementwise_affine, FALSE)
        return {**attrs, "eps": eps, "elementwise_affine": elementwise_affine}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], x: Value) -> Value:
        """The shape of the input."""
        return LayerNorm.forward(call, attrs, x)


@layer("torch.nn.LocalResponseNorm")
class LocalResponseNorm:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.LocalResponseNorm.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(call: Call, size: Value, alpha: Value = NONE, beta: Value = NONE, k: Value = NONE) -> dict[str, Value]:
        """`size` is the number of channels that are looked at together."""
        return {"size": size}

    @staticmethod
    def forward(call: Call, attrs: dict[str, Value], input: Value) -> Value:
        """The shape of the input."""
        return local_response_norm(call, input, NONE)


for _name, _ranks in {"BatchNorm1d": (2, 3), "BatchNorm2d": (4,), "BatchNorm3d": (5,)}.items():
    _class: Any = layer(f"torch.nn.{_name}")(_batch_layer(_ranks))
    _lazy_class: Any = layer(f"torch.nn.Lazy{_name}")(_lazy(_class))
    _lazy_class.bases = (f"torch.nn.{_name}",)
_of_any_rank: Any = _batch_layer(())


@layer("torch.nn.SyncBatchNorm")
class SyncBatchNorm:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.SyncBatchNorm.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        num_features: Value,
        eps: Value = Const(1e-5),
        momentum: Value = Const(0.1),
        affine: Value = TRUE,
        track_running_stats: Value = TRUE,
        process_group: Value = NONE,
        device: Value = NONE,
        dtype: Value = NONE,
        *,
        bias: Value = TRUE,
    ) -> dict[str, Value]:
        attrs: dict[str, Value] = _of_any_rank.init(
            call, num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        return attrs

    forward = _of_any_rank.forward


for _count in (1, 2, 3):
    _class = layer(f"torch.nn.InstanceNorm{_count}d")(_instance_layer(_count))
    _lazy_class = layer(f"torch.nn.LazyInstanceNorm{_count}d")(_lazy(_class))
    _lazy_class.bases = (f"torch.nn.InstanceNorm{_count}d",)
