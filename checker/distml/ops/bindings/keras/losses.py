"""keras: losses as classes, functions and names: what a prediction and its labels need of each other.

https://keras.io/api/losses
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distml.ops.call import NONE
from distml.ops.registry import layer, op
from distml.ops.rules.axes import product
from distml.ops.rules.loss import CODE
from distml.shapes import Dim, Shape
from distml.values import Class, Const, Function, InstanceRecord, Lib, Ref, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call


def _dropped(labels: Shape, scores: Shape) -> tuple[Shape, Shape]:
    """Where one has an axis of size 1 more at the end than the other, it goes."""
    if labels.dims is None or scores.dims is None:
        return labels, scores
    if len(labels.dims) == len(scores.dims) + 1 and labels.dims[-1] == 1:
        return Shape(labels.dims[:-1]), scores
    if len(scores.dims) == len(labels.dims) + 1 and scores.dims[-1] == 1:
        return labels, Shape(scores.dims[:-1])
    return labels, scores


def class_numbers(call: Call, labels: Shape, scores: Shape) -> None:
    """One class number for each row of scores (SHP501)."""
    if labels.dims is None or not scores.dims:
        return
    rows = product(call, scores.dims[:-1])
    count = product(call, labels.dims)
    if not count.differs(rows):
        return
    alike = len(labels.dims) == len(scores.dims) and not labels.dims[-1].differs(scores.dims[-1])
    call.fail(
        CODE,
        f"{call.text}: labels {labels!r} are taken as class numbers, one for each row of the scores {scores!r}",
        *call.notes(*labels.dims, *scores.dims),
        hint="one-hot labels are for categorical_crossentropy" if alike else None,
    )


def categories(call: Call, labels: Shape, scores: Shape) -> None:
    """One score for each label (SHP501): labels are one-hot."""
    labels, scores = _dropped(labels, scores)
    if labels.dims is None or scores.dims is None:
        return
    text = f"{call.text}: one-hot labels need the shape of the scores {scores!r}, get {labels!r}"
    numbers = len(labels.dims) < len(scores.dims) or (len(labels.dims) == len(scores.dims) and labels.dims[-1] == 1)
    hint = "class numbers are for sparse_categorical_crossentropy" if numbers else None
    if len(labels.dims) != len(scores.dims):
        call.fail(CODE, text, *call.notes(*labels.dims, *scores.dims), hint=hint)
    for one, other in zip(scores.dims, labels.dims, strict=True):
        if one.differs(other):
            call.fail(CODE, text, *call.notes(one, other), hint=hint)


def elementwise(call: Call, labels: Shape, scores: Shape) -> None:
    """Labels and predictions broadcast (SHP501)."""
    labels, scores = _dropped(labels, scores)
    call.broadcast(scores, labels, code=CODE, message=f"{call.text}: the prediction and the labels")


_SPARSE = ("sparse_categorical_crossentropy",)
_CATEGORIES = ("categorical_crossentropy",)
_ELEMENTWISE = """binary_crossentropy mean_squared_error mean_absolute_error mean_absolute_percentage_error
mean_squared_logarithmic_error huber log_cosh logcosh hinge squared_hinge poisson kl_divergence mse mae mape msle"""
BY_NAME: dict[str, Any] = {
    **dict.fromkeys(_SPARSE, class_numbers),
    **dict.fromkeys(_CATEGORIES, categories),
    **dict.fromkeys(_ELEMENTWISE.split(), elementwise),
}
_CLASSES = {"KLDivergence": "kl_divergence", "LogCosh": "log_cosh"}


def rule_of(call: Call, loss: Value) -> Any:
    """The rule of a loss given by name, as a function or as an object; None where it is not known."""
    if isinstance(loss, Const) and isinstance(loss.value, str):
        return BY_NAME.get(loss.value)
    record = call.world.record(loss) if isinstance(loss, Ref) else None
    owner = loss if isinstance(loss, Lib) else record.cls if isinstance(record, InstanceRecord) else None
    if not isinstance(owner, Lib) or not owner.name.startswith("keras.losses."):
        return None
    return BY_NAME.get(_snake(owner.name.rpartition(".")[2]))


def _snake(name: str) -> str:
    if name in _CLASSES or name in BY_NAME:
        return _CLASSES.get(name, name)
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _loss_class(rule: Callable[[Call, Shape, Shape], None]) -> type:
    class Loss:
        bases = ()

        @staticmethod
        def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
            return {"reduction": kwargs.get("reduction", NONE)}

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], y_true: Value, y_pred: Value, **options: Value) -> Value:
            rule(call, call.shape(y_true), call.shape(y_pred))
            plain = call.is_none(attrs["reduction"])
            return call.tensor([], "float") if plain else call.unranked("float")

    return Loss


def _loss_function(rule: Callable[[Call, Shape, Shape], None]) -> Callable[..., Value]:
    def loss(call: Call, y_true: Value, y_pred: Value, *args: Value, **options: Value) -> Value:
        scores = call.shape(y_pred)
        rule(call, call.shape(y_true), scores)
        if scores.dims is None or args or "axis" in options:
            return call.unranked("float")
        return call.tensor(Shape(scores.dims[:-1]), "float")

    return loss


for _name, _rule in BY_NAME.items():
    op(f"keras.losses.{_name}")(_loss_function(_rule))
    if _name not in ("mse", "mae", "mape", "msle", "logcosh"):
        _class = next((key for key, value in _CLASSES.items() if value == _name), _camel(_name))
        layer(f"keras.losses.{_class}")(_loss_class(_rule))


@layer("keras.losses.Loss")
class Loss:
    """https://keras.io/api/losses/#creating-custom-losses: `call` says what each example costs, a call of it reduces that."""

    bases = ()
    entry = "__call__"

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
        """What a call reduces to; by place, versions of Keras mean different things."""
        return {} if args else {"reduction": kwargs.get("reduction", NONE)}


@op("keras.losses.Loss.__call__")
def own_loss(call: Call, self: Value, y_true: Value, y_pred: Value, *args: Value, **options: Value) -> Value:
    """A loss of the program: one number, where it reduces in Keras's own way."""
    method = call.world.attribute(self, "call")
    if method is not None:
        call.apply(method, y_true, y_pred)
    plain = call.is_none((call.attrs(self) or {}).get("reduction", call.unknown()))
    return call.tensor([], "float") if plain and not args and not options else call.unranked("float")


def own(call: Call, loss: Value) -> bool:
    """Whether a loss is a function or an object of the program."""
    record = call.world.record(loss) if isinstance(loss, Ref) else None
    return isinstance(loss, Function) or (isinstance(record, InstanceRecord) and isinstance(record.cls, Class))


def checked(call: Call, loss: Value, labels: Shape, scores: Shape) -> None:
    """The labels a model is trained with fit its output, as far as both and the loss are known."""
    rule = rule_of(call, loss)
    if rule is None:
        return
    if labels.rank == 1 and scores.rank == 2:
        # `fit` makes a column of a vector of labels.
        labels = Shape((*labels.head, Dim.of(1)))
    rule(call, labels, scores)
