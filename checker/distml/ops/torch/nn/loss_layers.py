"""torch.nn: losses as layers, each its function with the constructor's parameters.

https://docs.pytorch.org/docs/stable/nn.html#loss-functions
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any

from distml.ops.call import FALSE, NONE, ONE, TRUE, ZERO, Call
from distml.ops.registry import find_op, layer
from distml.ops.torch.nn.loss import IGNORED, MEAN

if TYPE_CHECKING:
    from collections.abc import Collection

    from distml.values import Value

LEGACY: dict[str, Value] = {"size_average": NONE, "reduce": NONE, "reduction": MEAN}
CLASSES: dict[str, Value] = {
    "weight": NONE,
    "size_average": NONE,
    "ignore_index": IGNORED,
    "reduce": NONE,
    "reduction": MEAN,
}

LOSSES: dict[str, tuple[str, dict[str, Value]]] = {
    "MSELoss": ("mse_loss", LEGACY),
    "L1Loss": ("l1_loss", LEGACY),
    "SmoothL1Loss": ("smooth_l1_loss", {**LEGACY, "beta": ONE}),
    "HuberLoss": ("huber_loss", {"reduction": MEAN, "delta": ONE}),
    "SoftMarginLoss": ("soft_margin_loss", LEGACY),
    "HingeEmbeddingLoss": ("hinge_embedding_loss", {"margin": ONE, **LEGACY}),
    "KLDivLoss": ("kl_div", {**LEGACY, "log_target": FALSE}),
    "PoissonNLLLoss": (
        "poisson_nll_loss",
        {"log_input": TRUE, "full": FALSE, "size_average": NONE, "eps": NONE, "reduce": NONE, "reduction": MEAN},
    ),
    "GaussianNLLLoss": ("gaussian_nll_loss", {"full": FALSE, "eps": NONE, "reduction": MEAN}),
    "BCELoss": ("binary_cross_entropy", {"weight": NONE, **LEGACY}),
    "BCEWithLogitsLoss": ("binary_cross_entropy_with_logits", {"weight": NONE, **LEGACY, "pos_weight": NONE}),
    "CrossEntropyLoss": ("cross_entropy", {**CLASSES, "label_smoothing": NONE}),
    "NLLLoss": ("nll_loss", CLASSES),
    "NLLLoss2d": ("nll_loss", CLASSES),
    "MultiLabelMarginLoss": ("multilabel_margin_loss", LEGACY),
    "MultiLabelSoftMarginLoss": ("multilabel_soft_margin_loss", {"weight": NONE, **LEGACY}),
    "MultiMarginLoss": ("multi_margin_loss", {"p": ONE, "margin": ONE, "weight": NONE, **LEGACY}),
    "MarginRankingLoss": ("margin_ranking_loss", {"margin": ZERO, **LEGACY}),
    "CosineEmbeddingLoss": ("cosine_embedding_loss", {"margin": ZERO, **LEGACY}),
    "TripletMarginLoss": ("triplet_margin_loss", {"margin": ONE, "p": NONE, "eps": NONE, "swap": FALSE, **LEGACY}),
    "TripletMarginWithDistanceLoss": (
        "triplet_margin_with_distance_loss",
        {"distance_function": NONE, "margin": ONE, "swap": FALSE, "reduction": MEAN},
    ),
    "CTCLoss": ("ctc_loss", {"blank": ZERO, "reduction": MEAN, "zero_infinity": FALSE}),
}
"""Layer -> function, and the parameters of its constructor."""


def _are_inputs(rule: Any, number: int, given: Collection[str], own: Collection[str]) -> bool:
    """Whether a call of a layer gives what it may: the parameters of its function that its constructor has not."""
    function = getattr(rule, "__wrapped__", rule)
    names = function.__code__.co_varnames[1 : function.__code__.co_argcount]
    free = list(takewhile(lambda name: name not in own, names))
    required = {*names[: len(names) - len(function.__defaults__ or ())]} - {*own}
    return number <= len(free) and {*free[number:]} >= {*given} and {*free[:number], *given} >= required


def _loss_layer(function: str, parameters: dict[str, Value]) -> type:
    class Loss:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
            if len(args) > len(parameters) or not kwargs.keys() <= parameters.keys():
                raise TypeError("too many arguments")
            return {**parameters, **dict(zip(parameters, args, strict=False)), **kwargs}

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], *args: Value, **kwargs: Value) -> Value:
            rule = find_op(f"torch.nn.functional.{function}")
            own = {name: attrs[name] for name in parameters if name in attrs}
            if rule is None or not _are_inputs(rule, len(args), kwargs.keys(), parameters.keys()):
                return call.unknown()
            result: Value = rule(call, *args, **own, **kwargs)
            return result

    return Loss


for _name, (_function, _parameters) in LOSSES.items():
    layer(f"torch.nn.{_name}")(_loss_layer(_function, _parameters))
