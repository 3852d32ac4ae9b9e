"""tensorflow: how wide the results of functions are, and which take tensors of one dtype only (SHP312).

TensorFlow converts no tensor: an int32 and a float32, or a float32 and a float64, have no sum. Arrays of NumPy and numbers of
Python beside a tensor become what it is, but for a float beside integers. What a graph of Keras has no dtype here: Keras 3
converts its tensors. https://www.tensorflow.org/api_docs/python/tf/Tensor
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.registry import op
from distml.ops.rules import widths as rules
from distml.ops.rules import wrong_kinds
from distml.ops.rules.kinds import kind_of
from distml.ops.rules.laws import given, own, spelled, stand
from distml.ops.rules.pointwise import title
from distml.source.libraries import CHOOSES_FLOATS
from distml.values import NONE, Const, Prim

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from distml.ops.call import Call
    from distml.values import Tensor, Value

_TENSOR = "tensorflow.Tensor"
_HOMES = ("tensorflow", "tensorflow.math", "tensorflow.nn", "tensorflow.linalg", "tensorflow.random")
MADE = "eye normal ones stateless_normal stateless_uniform truncated_normal uniform zeros"
SAME = """
    abs acos acosh asin asinh atan atanh boolean_mask broadcast_to ceil clip_by_norm clip_by_value cos cosh cumprod cumsum
    cumulative_logsumexp digamma dropout elu ensure_shape erf erfc erfinv exp expand_dims expm1 floor gather gather_nd gelu
    identity l2_normalize leaky_relu lgamma log log1p log_sigmoid log_softmax negative norm pad reciprocal reduce_euclidean_norm
    reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance relu relu6 repeat
    reshape reverse rint roll round rsqrt selu shuffle sigmoid sign silu sin sinh slice softmax softplus softsign sort split sqrt
    square squeeze stop_gradient swish tan tanh tile transpose unstack zeros_like ones_like
"""
OF_BOTH = """
    add atan2 divide_no_nan floordiv floormod maximum minimum mod multiply multiply_no_nan pow squared_difference subtract
    xdivy xlog1py xlogy
"""
FLOATS = """
    acos acosh asin asinh atan atanh cos cosh elu erf erfc exp expm1 gelu l2_normalize lgamma log log1p log_sigmoid log_softmax
    reduce_logsumexp reduce_std reduce_variance rsqrt selu sigmoid silu sin sinh softmax softplus softsign sqrt tan tanh
"""
"""Those that take floats only."""
NUMBERS = "abs negative reduce_max reduce_mean reduce_min reduce_prod reduce_sum relu sign square"
"""Those that take no bools."""
DIVIDED = "divide truediv"
COMPARED = "equal not_equal greater greater_equal less less_equal"


def of_both(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """That of the tensors of TensorFlow among the arguments."""
    widths = {each.width for each in own(call, (*args, *kwargs.values()))}
    return widths.pop() if len(widths) == 1 else None


def compared(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """Bools, where it is known what one of the tensors is."""
    return "bool" if any(map(rules.width_of, own(call, (*args, *kwargs.values())))) else None


def divided(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """The same; of integers it is float64."""
    found = of_both(call, args, kwargs, result)
    return "float64" if found in ("int32", "int64") else found


def joined(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """That of the tensors that are joined."""
    first = given(args, kwargs, 0, "values") or NONE
    return of_both(call, rules.parts(call, first) or (), {}, result)


def one_dtype(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """All tensors among the arguments have one dtype; beside integers no number is a float."""
    values: list[Value] = []
    for each in (*args, *kwargs.values()):
        values += rules.parts(call, each) or [each]
    tensors = own(call, values)
    rules.of_one_width(call, tensors)
    numbers = [each for each in values if isinstance(each, Const | Prim) and kind_of(each) == "float"]
    whole = next((each for each in tensors if "int" in (rules.width_of(each) or "")), None)
    if whole is not None and numbers:
        rules.with_float(call, whole, numbers[0])


def of_either(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Tensor) -> str | None:
    """`tf.where(condition, x, y)`: that of the two."""
    return of_both(call, _either(args, kwargs), {}, result)


def either(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """The two are of one dtype."""
    one_dtype(call, _either(args, kwargs), {}, result)


def _either(args: Sequence[Value], kwargs: Mapping[str, Value]) -> list[Value]:
    return [each for each in (given(args, kwargs, 1, "x"), given(args, kwargs, 2, "y")) if each is not None]


def of_floats(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """The first argument has floats."""
    _refuse(call, [*args[:1], *kwargs.values()], ("int", "bool"), "floats are needed")


def of_numbers(call: Call, args: Sequence[Value], kwargs: Mapping[str, Value], result: Any) -> None:
    """No argument has bools."""
    _refuse(call, [*args, *kwargs.values()], ("bool",), "numbers are needed")


def _refuse(call: Call, values: Sequence[Value], kinds: tuple[str, ...], needed: str) -> None:
    for each in own(call, values):
        width = rules.width_of(each)
        if width is not None and rules.kind_of_width(width) in kinds and not call.world.get(rules.CHOSEN):
            hint = "convert it: tf.cast(..., tf.float32)"
            call.fail(wrong_kinds.CODE, f"{title(call)}: {needed}, these are {width} {call.show(each)}", hint=hint)


_MATHS = ("tensorflow", "tensorflow.math")
_BOTH_WAYS = " ".join(f"__{name}__ __r{name}__" for name in "add sub mul floordiv mod pow".split())
_DIVISION = "__truediv__ __rtruediv__"
_PRODUCT = "__matmul__ __rmatmul__"
_COMPARING = "__lt__ __le__ __gt__ __ge__"
_QUESTIONS = f"{COMPARED} logical_and logical_not logical_or is_finite is_inf is_nan"
_WIDTHS = (
    (rules.made, _HOMES, MADE),
    (rules.made, _MATHS, "shape size rank"),
    (rules.made_or_asked, _MATHS, "range"),
    (rules.of_data, _MATHS, "Variable constant convert_to_tensor"),
    (rules.same, _HOMES, SAME),
    (rules.same, [_TENSOR], "__getitem__ __neg__ __abs__ __iter__"),
    (rules.nothing, _MATHS, "cast"),
    (rules.always("float32"), _MATHS, "one_hot"),
    (rules.always("int64"), _MATHS, "argmax argmin"),
    (of_both, _HOMES, f"{OF_BOTH} matmul"),
    (of_both, [_TENSOR], f"{_BOTH_WAYS} {_PRODUCT}"),
    (of_either, _MATHS, "where"),
    (divided, _MATHS, DIVIDED),
    (divided, [_TENSOR], _DIVISION),
    (joined, _MATHS, "concat stack"),
    (compared, _MATHS, _QUESTIONS),
    (compared, [_TENSOR], f"{_COMPARING} __eq__ __ne__ __invert__"),
)
_NEEDS = (
    (of_floats, _HOMES, FLOATS),
    (of_numbers, _HOMES, f"{NUMBERS} {OF_BOTH}"),
    (of_numbers, [_TENSOR], f"{_BOTH_WAYS} __neg__ __abs__"),
    (one_dtype, _HOMES, f"{OF_BOTH} {DIVIDED} {COMPARED} matmul concat stack"),
    (one_dtype, [_TENSOR], f"{_BOTH_WAYS} {_DIVISION} {_PRODUCT} {_COMPARING}"),
    (either, _MATHS, "where"),
)

for _law, _homes, _names in _WIDTHS:
    stand(rules.LAWS, _homes, {_law: _names})
for _need, _homes, _names in _NEEDS:
    wrong_kinds.add(_need, *spelled(_homes, _names))


@op(*CHOOSES_FLOATS["tensorflow"])
def choose(call: Call, *args: Value, **options: Value) -> Value:
    """TensorFlow converts as NumPy does from there on."""
    call.world.put(rules.CHOSEN, True)
    return NONE
