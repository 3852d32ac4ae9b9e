"""Losses: what a prediction and its target need of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from distml.ops.broadcast import meet
from distml.ops.rules.layers import known_shape
from distml.ops.rules.ranks import same_shape
from distml.shapes import Dim, Shape
from distml.values import NONE, Const, Value

if TYPE_CHECKING:
    from distml.ops.call import Call

CODE = "SHP501"


def reduced(
    call: Call, full: Shape, reduction: Value, legacy: tuple[Value, Value] = (NONE, NONE), dtype: str | None = None
) -> Value:
    """The loss of every element, or one number; `legacy` are `size_average` and `reduce`."""
    scalar, table = call.tensor([], dtype), call.tensor(full, dtype)
    if all(call.is_none(flag) for flag in legacy):
        name = call.const(reduction, str)
        if name in ("mean", "sum"):
            return scalar
        return table if name == "none" else call.any_of(scalar, table)
    reduce = call.flag(legacy[1])
    if call.is_none(legacy[1]) or reduce:
        return scalar
    return call.any_of(scalar, table) if reduce is None else table


def paired(call: Call, input: Shape, target: Shape) -> Shape:
    """A loss that broadcasts the two: an error if they cannot meet, a warning if they
    meet crosswise, (N, 1) with (N,) (torch.nn.functional.mse_loss)."""
    input, target = call.facts.shape(input), call.facts.shape(target)
    _warn_if_crosswise(call, input, target)
    _require_meeting(call, input, target)
    return call.broadcast(input, target, code=CODE, message=call.text)


def _require_meeting(call: Call, input: Shape, target: Shape) -> None:
    if input.dims is None or target.dims is None:
        return
    for a, b in zip(reversed(input.dims), reversed(target.dims), strict=False):
        if meet(call, a, b) is None:
            call.fail(
                CODE,
                f"{call.text}: the prediction {input!r} and the target {target!r} do not match: {a} meets {b}",
                *call.notes(a, b),
                hint=_squeeze_hint(input, target),
            )


def _squeeze_hint(input: Shape, target: Shape) -> str | None:
    """One of the two has axes of size 1 more than the other."""
    if input.dims is None or target.dims is None or len(input.dims) == len(target.dims):
        return None
    longer, shorter, name = (
        (input.dims, target.dims, "prediction")
        if len(input.dims) > len(target.dims)
        else (target.dims, input.dims, "target")
    )
    for axis, dim in enumerate(longer):
        if dim == 1 and longer[:axis] + longer[axis + 1 :] == shorter:
            back = axis - len(longer)
            return f"squeeze the {name}: .squeeze({back})"
    return None


def _warn_if_crosswise(call: Call, input: Shape, target: Shape) -> None:
    if not is_crosswise(input, target):
        return
    dims = (*input.head, *target.head)
    call.warn(
        "SHP503",
        f"{call.text}: the prediction {input!r} and the target {target!r} broadcast to all pairs",
        *call.notes(*(d for d in dims if d != 1)),
        hint=_squeeze_hint(input, target),
    )


def is_crosswise(left: Shape, right: Shape) -> bool:
    """Whether the two hold the same numbers and yet broadcast to more: (N, 1) and (N,)."""
    if left.dims is None or right.dims is None or len(left.dims) == len(right.dims):
        return False
    bare = [tuple(d for d in dims if d != 1) for dims in (left.dims, right.dims)]
    if bare[0] != bare[1] or not bare[0]:
        return False
    pairs = list(zip(reversed(left.dims), reversed(right.dims), strict=False))
    if any(a != b and 1 not in (a.constant, b.constant) for a, b in pairs):
        return False
    return any(a == 1 and b != 1 for a, b in pairs) and _grows(left.dims, right.dims)


def _grows(left: tuple[Dim, ...], right: tuple[Dim, ...]) -> bool:
    longer, shorter = (left, right) if len(left) > len(right) else (right, left)
    behind = longer[len(longer) - len(shorter) :]
    return any(a == 1 and b != 1 for a, b in zip(behind, shorter, strict=True))


def alike(call: Call, input: Shape, target: Shape, what: str = "target") -> Shape:
    """A loss that needs both to have one shape (torch.nn.functional.binary_cross_entropy)."""
    input, target = call.facts.shape(input), call.facts.shape(target)
    hint = _squeeze_hint(input, target)
    message = f"{call.text}: the {what} {target!r} needs the shape of the prediction {input!r}"
    if hint is not None:
        call.fail(CODE, message, *call.notes(*input.head, *target.head), hint=hint)
    return same_shape(call, input, target, CODE, message)


def require_broadcastable(call: Call, value: Value, to: Shape, name: str) -> None:
    """An optional weight broadcasts to the elements of the loss without making them more."""
    shape = known_shape(call, value)
    if shape is not None:
        call.broadcast(to, shape, code=CODE, message=f"{call.text}: the {name}")


def classes(call: Call, input: Shape, target: Shape, target_dtype: str | None, soft: bool) -> Shape:
    """Scores (N, C, *places) against class numbers (N, *places), or with `soft` also against
    probabilities (N, C, *places): torch.nn.functional.cross_entropy and nll_loss.

    The result is the shape of the losses.
    """
    input, target = call.facts.shape(input), call.facts.shape(target)
    if input.rank == 0:
        call.fail(CODE, f"{call.text}: the prediction is a scalar, it needs an axis of classes")
    if input.dims is None or (target.dims is None and soft):
        return _some_rank(call, input, target)
    wanted = Shape(input.dims[:1] + input.dims[2:] if len(input.dims) > 1 else ())
    rank = target.rank
    if soft and rank == input.rank:
        return _probabilities(call, input, target, target_dtype, wanted)
    if rank is None:
        learned = call.facts.of_rank(target, len(wanted.head))
        rank, target = (None, target) if learned is None else (learned.rank, learned)
    if rank != len(wanted.head) or target.dims is None:
        _class_error(call, input, target, wanted)
    for a, b in zip(wanted.head, target.dims, strict=True):
        call.require_equal(a, b, CODE, _class_message(call, input, target, wanted), hint=_squeeze_hint(wanted, target))
    return wanted


def _probabilities(call: Call, input: Shape, target: Shape, dtype: str | None, wanted: Shape) -> Shape:
    if dtype in ("int", "bool"):
        _class_error(call, input, target, wanted)
    assert input.dims is not None
    assert target.dims is not None
    for axis, (a, b) in enumerate(zip(input.dims, target.dims, strict=True)):
        if a.differs(b) and b == 1 and axis == 1:
            _class_error(call, input, target, wanted)
        message = f"{call.text}: the target {target!r} does not match the prediction {input!r}: {{right}}, not {{left}}"
        call.require_equal(a, b, CODE, message)
    return wanted


def _some_rank(call: Call, input: Shape, target: Shape) -> Shape:
    """One of the ranks is not known: with two axes or more the first is the batch."""
    if input.least >= 2:
        message = f"{call.text}: the prediction has a batch of {{left}}, the target one of {{right}}"
        call.require_equal(call.facts.axis(input, 0), call.facts.axis(target, 0), CODE, message)
    if input.dims is not None:
        return Shape(input.dims[:1] + input.dims[2:] if len(input.dims) > 1 else ())
    return call.facts.unknown_shape()


def _class_message(call: Call, input: Shape, target: Shape, wanted: Shape) -> str:
    return f"{call.text}: the prediction {input!r} needs class numbers of shape {wanted!r}, gets {target!r}"


def _class_error(call: Call, input: Shape, target: Shape, wanted: Shape) -> NoReturn:
    dims = (*input.head, *target.head)
    hint = _squeeze_hint(wanted, target)
    if hint is None and input.dims == target.dims:
        hint = "use .argmax(1) for class numbers, or .float() for probabilities"
    call.fail(CODE, _class_message(call, input, target, wanted), *call.notes(*dims), hint=hint)


def require_class_weight(call: Call, weight: Value, input: Shape) -> None:
    """The weight has one number for each class."""
    shape = known_shape(call, weight)
    input = call.facts.shape(input)
    if shape is None or input.rank is None or input.rank == 0:
        return
    shape = call.of_rank(shape, 1, what="a weight")
    message = f"{call.text}: the prediction has {{left}} classes, the weight {{right}}"
    call.require_equal(input.at(min(input.rank - 1, 1)), call.facts.axis(shape, 0), CODE, message)


def is_reduction(value: Value, name: str) -> bool:
    """Whether the reduction is known to be `name`."""
    return isinstance(value, Const) and value.value == name


def weighted(call: Call, shape: Shape, weights: dict[str, Value]) -> Shape:
    """The elements of the loss after weights that broadcast with them."""
    for name, value in weights.items():
        given = known_shape(call, value)
        if given is not None:
            shape = call.broadcast(shape, given, code=CODE, message=f"{call.text}: the {name}")
        elif call.is_none(value) is None:
            shape = call.facts.unknown_shape()
    return shape


def rows(call: Call, shape: Shape) -> Shape:
    """One loss a row: the last axis is summed over."""
    shape = call.facts.shape(shape)
    return call.facts.unknown_shape() if shape.dims is None else Shape(shape.dims[:-1])


def require_variance(call: Call, input: Shape, variance: Shape) -> None:
    """The variance has the shape of the prediction, or one for a whole axis, which may be left out."""
    input, variance = call.facts.shape(input), call.facts.shape(variance)
    if input.dims is None or variance.dims is None or not variance.dims:
        return
    if len(input.dims) == len(variance.dims) + 1:
        variance = Shape((*variance.dims, Dim.of(1)))
    pairs = zip(input.dims, variance.head, strict=False)
    if len(input.dims) == len(variance.head) and all(b == 1 or not a.differs(b) for a, b in pairs):
        return
    call.fail(
        CODE,
        f"{call.text}: the variance {variance!r} does not fit the prediction {input!r}",
        *call.notes(*input.head, *variance.head),
    )


def require_class_numbers(call: Call, labels: Shape, scores: Shape) -> None:
    """Class numbers have the axes of the scores but for the last (SHP501)."""
    labels, scores = call.facts.shape(labels), call.facts.shape(scores)
    if labels.dims is None or scores.dims is None:
        return
    wanted = scores.dims[:-1]
    text = f"{call.text}: labels {labels!r} are one number each, scores {scores!r} need labels of the shape {Shape(wanted)!r}"
    if len(labels.dims) != len(wanted):
        hint = "these look like one-hot labels: use the loss for categories" if labels.dims == scores.dims else None
        call.fail(CODE, text, *call.notes(*labels.dims, *scores.dims), hint=hint)
    for one, other in zip(wanted, labels.dims, strict=True):
        call.require_equal(one, other, CODE, f"{text}: {{right}} is not {{left}}")
