"""torch: functions of one element, or of elements that broadcast.

https://docs.pytorch.org/docs/stable/torch.html#pointwise-ops and #comparison-ops; each name is
registered as a function, as a method and, where torch has it, as a method in place (`x.add_(y)`).
"""

from __future__ import annotations

import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from distml.ops.call import NONE, Call, ShapeError
from distml.ops.registry import op
from distml.ops.rules import elements
from distml.ops.rules.elements import combined, mapped
from distml.ops.rules.kinds import counted, floating, kind_of, promote, real
from distml.ops.rules.pointwise import elementwise, fits_into, ufunc, warn_difference
from distml.ops.torch.dtypes import into
from distml.values import Tensor, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def split(names: str) -> list[str]:
    """The names in a table's line."""
    return names.split()


def in_place(function: Callable[..., Value]) -> Callable[..., Value]:
    """The form of an op that writes its result into its first operand, which cannot grow."""

    @functools.wraps(function)
    def changed(call: Call, *args: Any, **kwargs: Any) -> Value:
        target = args[0] if args else kwargs.pop("input", kwargs.pop("self", None))
        assert target is not None
        with assigning(call):
            result = function(call, target, *args[1:], **kwargs)
        if isinstance(result, Tensor):
            fits_into(call, result.shape, call.shape(target))
        return written(call, target)

    return changed


@contextmanager
def assigning(call: Call) -> Iterator[None]:
    """Operands that do not broadcast cannot be assigned either: one code for both."""
    try:
        yield
    except ShapeError as error:
        code = "SHP305" if error.code == "SHP102" else error.code
        raise ShapeError(code, error.message, error.notes, error.hint) from error


def written(call: Call, target: Value) -> Value:
    """The tensor whose elements were changed: the same object, its elements no longer known."""
    if isinstance(target, Tensor):
        return elements.written(call, target)
    return call.tensor(call.shape(target), kind_of(target))


def register(names: list[str], function: Callable[..., Value], also: tuple[str, ...] = ()) -> None:
    """Register a pointwise op as function, method and in-place method."""
    op(*(f"torch.{name}" for name in names), *(f"torch.Tensor.{name}" for name in names), *also)(function)
    op(*(f"torch.{name}_" for name in names), *(f"torch.Tensor.{name}_" for name in names))(in_place(function))


def _unary(kind: Callable[[str | None], str | None]) -> Callable[..., Value]:
    def unary(call: Call, input: Value, *args: Value, out: Value = NONE, **options: Value) -> Value:
        """A function of each element."""
        content = None if args or options else mapped(call, ufunc(call), input)
        return into(call, Tensor(call.lib, call.shape(input), kind(kind_of(input)), content=content), out)

    return unary


def _same(kind: str | None) -> str | None:
    return kind


def _bool(kind: str | None) -> str | None:
    return "bool"


_FLOAT = """acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh cos cosh deg2rad digamma
erf erfc erfinv exp exp2 expm1 i0 lgamma log log10 log1p log2 logit mvlgamma rad2deg reciprocal rsqrt sigmoid sin sinc
sinh sqrt tan tanh celu selu elu"""
_SAME = """ceil conj_physical fix floor frac nan_to_num neg negative relu round sgn sign
threshold trunc bitwise_not dropout alpha_dropout feature_dropout feature_alpha_dropout rrelu"""
_KEPT = """positive conj resolve_conj resolve_neg hardshrink clone"""
_SPECIAL = """bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln i0 i0e i1
i1e log1p log_ndtr logit modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 multigammaln ndtr
ndtri psi scaled_modified_bessel_k0 scaled_modified_bessel_k1 sinc spherical_bessel_j0 airy_ai"""

register(split(_FLOAT), _unary(floating))
register(split("abs absolute"), _unary(real))
register(split(_SAME), _unary(_same))
register(["square"], _unary(counted))
register(["logical_not"], _unary(_bool))
op("torch.isnan", "torch.isinf", "torch.isfinite", "torch.isposinf", "torch.isneginf", "torch.isreal", "torch.signbit")(
    _unary(_bool)
)
op(*(f"torch.Tensor.{n}" for n in split("isnan isinf isfinite isposinf isneginf isreal signbit")))(_unary(_bool))
op(*(f"torch.special.{name}" for name in split(_SPECIAL)))(_unary(floating))
op("torch.special.round")(_unary(_same))
for _name in split(_KEPT):
    op(f"torch.{_name}", f"torch.Tensor.{_name}")(_unary(_same))


def _binary(kind: Callable[[str | None], str | None]) -> Callable[..., Value]:
    def binary(call: Call, input: Value, other: Value, *args: Value, out: Value = NONE, **options: Value) -> Value:
        """A function of two elements."""
        content = None if args or options else combined(call, ufunc(call), input, other)
        made = kind(promote((kind_of(input), kind_of(other))))
        return into(call, Tensor(call.lib, elementwise(call, input, other), made, content=content), out)

    return binary


_ARITHMETIC = "add mul multiply fmod remainder floor_divide gcd lcm"
_BITWISE = "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift"
_COMPARE = "eq ne lt le gt ge not_equal less less_equal greater greater_equal logical_and logical_or logical_xor"
_QUOTIENT = "true_divide atan2 arctan2 copysign hypot igamma igammac ldexp nextafter xlogy"
register(split(_ARITHMETIC), _binary(_same))
register(split(_BITWISE), _binary(_same))
register(split(_COMPARE), _binary(_bool))
register(split(_QUOTIENT), _binary(floating))
register(["heaviside"], _binary(_same))
op(*(f"torch.{n}" for n in split("maximum minimum fmax fmin")))(_binary(_same))
op(*(f"torch.Tensor.{n}" for n in split("maximum minimum fmax fmin")))(_binary(_same))
op(*(f"torch{m}.{n}" for n in split("logaddexp logaddexp2") for m in ("", ".Tensor")))(_binary(floating))
op("torch.isclose", "torch.Tensor.isclose")(_binary(_bool))
op(
    *(f"torch.special.{n}" for n in split("xlogy xlog1py gammainc gammaincc zeta chebyshev_polynomial_t")),
    *(f"torch.special.{n}_polynomial_{k}" for n, k in [("chebyshev", "u"), ("hermite", "h"), ("hermite", "he")]),
    *("torch.special.laguerre_polynomial_l", "torch.special.legendre_polynomial_p"),
)(_binary(floating))


def _difference(call: Call, input: Value, other: Value, *, alpha: Value = NONE, out: Value = NONE) -> Value:
    """torch.sub(input, other, *, alpha=1)"""
    shape = elementwise(call, input, other)
    warn_difference(call, call.shape(input), call.shape(other))
    plain = alpha == NONE and not call.name.endswith("rsub")
    content = combined(call, "subtract", input, other) if plain else None
    return into(call, Tensor(call.lib, shape, promote((kind_of(input), kind_of(other))), content=content), out)


register(["sub", "subtract"], _difference)
op("torch.rsub")(_difference)


def _divide(call: Call, input: Value, other: Value, *, rounding_mode: Value = NONE, out: Value = NONE) -> Value:
    """torch.div(input, other, *, rounding_mode=None)"""
    kind = promote((kind_of(input), kind_of(other)))
    whole = call.is_none(rounding_mode)
    kind = floating(kind) if whole else kind if whole is False else None
    content = combined(call, "divide", input, other) if whole else None
    return into(call, Tensor(call.lib, elementwise(call, input, other), kind, content=content), out)


register(["div", "divide"], _divide)


def _power(call: Call, input: Value, exponent: Value, *, out: Value = NONE) -> Value:
    """torch.pow(input, exponent)"""
    kind, content = promote((kind_of(input), kind_of(exponent))), combined(call, "power", input, exponent)
    return into(call, Tensor(call.lib, elementwise(call, input, exponent), kind, content=content), out)


register(["pow"], _power)


def _float_power(call: Call, input: Value, exponent: Value, *, out: Value = NONE) -> Value:
    """torch.float_power(input, exponent)"""
    kind = floating(promote((kind_of(input), kind_of(exponent))))
    return into(call, call.tensor(elementwise(call, input, exponent), kind), out)


register(["float_power"], _float_power)


def _polygamma(call: Call, n: Value, input: Value, *, out: Value = NONE) -> Value:
    """torch.polygamma(n, input), torch.Tensor.polygamma(n)"""
    tensor = n if call.name.startswith("torch.Tensor.") else input
    return into(call, call.tensor(call.shape(tensor), floating(kind_of(tensor))), out)


register(["polygamma"], _polygamma)
op("torch.special.polygamma")(_polygamma)
