"""jax: functions of elements: jax.lax, jax.nn and jax.scipy.special.

https://docs.jax.dev/en/latest/jax.lax.html, https://docs.jax.dev/en/latest/jax.nn.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.signature import bind
from distml.ops.numpy.dtypes import kind_of as asked_kind
from distml.ops.rules.kinds import floating, kind_of, real
from distml.ops.rules.ranks import same_shape
from distml.ops.semantics import tensors as rules
from distml.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call
    from distml.shapes import Shape

_LAX, _NN, _SPECIAL = "jax.lax.", "jax.nn.", "jax.scipy.special."
_FLOATING = """
    exp exp2 expm1 log log1p tan tanh sin cos acos asin atan sinh cosh asinh acosh atanh sqrt rsqrt cbrt logistic erf
    erfc erf_inv lgamma digamma bessel_i0e bessel_i1e
"""
bind(rules.unary(floating), "x -accuracy=None", *(f"{_LAX}{name}" for name in _FLOATING.split()))
_SAME = "neg sign floor ceil round conj bitwise_not population_count clz square reciprocal stop_gradient"
bind(rules.unary(), "x -rounding_method=None", *(f"{_LAX}{name}" for name in _SAME.split()))
bind(rules.unary(), "operand -y=None", f"{_LAX}integer_pow", f"{_LAX}optimization_barrier")
bind(rules.unary(real), "x", f"{_LAX}abs", f"{_LAX}real", f"{_LAX}imag")
bind(rules.unary(rules.always("bool")), "x", f"{_LAX}is_finite")


def of_one_rank(kind: Callable[[str | None], str | None]) -> Callable[..., Value]:
    """A function of pairs of elements: both have as many axes, or one is a number (SHP102)."""

    def rule(call: Call, x: Value, y: Value) -> Value:
        left, right = call.shape(x), call.shape(y)
        if left.rank and right.rank and left.rank != right.rank:
            text = f"{call.text}: {left!r} and {right!r} must have as many axes"
            call.fail("SHP102", text, *call.notes(*left.head, *right.head))
        made: Value = rules.binary(kind)(call, x, y)
        return made

    return rule


_BINARY = "add sub mul rem max min pow bitwise_and bitwise_or bitwise_xor shift_left nextafter"
bind(of_one_rank(rules.same), "x y", *(f"{_LAX}{name}" for name in _BINARY.split()))
bind(of_one_rank(lambda _: None), "x y", f"{_LAX}div", f"{_LAX}atan2", f"{_LAX}complex")
bind(of_one_rank(rules.always("bool")), "x y", *(f"{_LAX}{name}" for name in "eq ne lt le gt ge".split()))

_ACTIVATIONS = """
    relu relu6 sigmoid softplus soft_sign silu swish log_sigmoid leaky_relu hard_sigmoid hard_silu hard_swish hard_tanh
    elu celu selu gelu squareplus mish identity tanh sparse_plus sparse_sigmoid
"""
bind(
    rules.unary(lambda _: None),
    "x -negative_slope=0.01 -alpha=1.0 -approximate=True -b=4",
    *(f"{_NN}{name}" for name in _ACTIVATIONS.split()),
)
_UNARY = "erf erfc erfinv gammaln digamma expit logit entr i0 i0e i1 i1e ndtr ndtri log_ndtr loggamma gamma factorial"
bind(rules.unary(lambda _: None), "x -exact=False", *(f"{_SPECIAL}{name}" for name in _UNARY.split()))
_PAIRS = "xlogy xlog1py betaln beta gammainc gammaincc kl_div rel_entr zeta polygamma"
bind(rules.binary(lambda _: None), "x y", *(f"{_SPECIAL}{name}" for name in _PAIRS.split()))


def density(call: Call, x: Value, location: Value, scale: Value) -> Value:
    """A density of each element, with a place and a width that broadcast with it."""
    return call.tensor(
        call.broadcast(*(call.shape(value) for value in (x, location, scale)), message=call.text), "float"
    )


for _law in ("norm", "laplace", "logistic", "cauchy", "uniform", "expon"):
    _names = (f"jax.scipy.stats.{_law}.{name}" for name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf"))
    bind(density, "x loc=0 scale=1", *_names)


def converted(call: Call, x: Value, dtype: Value) -> Value:
    """jax.lax.convert_element_type: the same elements of another kind."""
    return call.tensor(call.shape(x), asked_kind(call, dtype, None))


bind(converted, "operand new_dtype", f"{_LAX}convert_element_type", f"{_LAX}bitcast_convert_type")


def alike(call: Call, left: Shape, right: Shape) -> Shape:
    """Two shapes that must be the same (SHP102)."""
    return same_shape(call, left, right, "SHP102", f"{call.text}: {left!r} and {right!r} must have the same shape")


def clamped(call: Call, low: Value, x: Value, high: Value) -> Value:
    """jax.lax.clamp: the bounds are numbers or have the shape of x."""
    shape = call.shape(x)
    for bound in (low, high):
        if call.shape(bound).rank:
            alike(call, shape, call.shape(bound))
    return call.tensor(shape, kind_of(x))


bind(clamped, "min x max", f"{_LAX}clamp")


def selected(call: Call, which: Value, x: Value, y: Value) -> Value:
    """jax.lax.select: elements of one or the other, which have one shape."""
    shape = alike(call, call.shape(x), call.shape(y))
    if call.shape(which).rank:
        alike(call, shape, call.shape(which))
    return call.tensor(shape, kind_of(x) if kind_of(x) == kind_of(y) else None)


bind(selected, "pred on_true on_false", f"{_LAX}select")
