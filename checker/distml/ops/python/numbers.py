"""Built-in functions on numbers: `sum`, `min`, `max`, `abs`, `round`, `pow` and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, ZERO, Call
from distml.ops.dialect import dialect
from distml.ops.python.arithmetic import binary, operate
from distml.ops.python.comparing import compare
from distml.ops.python.folding import MAX_BITS, compute
from distml.ops.python.iterating import drawn, item_of, sort_keys
from distml.ops.python.likeness import either, is_number, kind_of, low_of, remembered, shaped_like
from distml.ops.python.ratios import quotient_of
from distml.ops.registry import find_op, op
from distml.ops.rules.one_value import require_number, require_truth
from distml.solver.formula import at_least, both, equal
from distml.solver.formula import either as one_of
from distml.values import Const, Expr, Many, Num, Opaque, Prim, Tensor, Tup, Union, Value, union

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.shapes import Dim


@op("builtins.sum")
def sum_(call: Call, iterable: Value, /, start: Value = ZERO) -> Value:
    """sum(iterable, start): https://docs.python.org/3/library/functions.html#sum"""
    values = drawn(call, iterable)
    if isinstance(values, tuple):
        result = start
        for value in values:
            result = operate(call, "+", result, value)
        return result
    item = values.item
    if isinstance(item, Tensor):
        # At least one round; none leaves the start as it is.
        return union([operate(call, "+", start, operate(call, "+", item, item_of(call, values) or item)), start])
    if kind_of(item) in ("int", "bool") and kind_of(start) in ("int", "bool"):
        return _sum_of_integers(call, values, start)
    return Prim("float") if kind_of(item) == "float" and kind_of(start) == "float" else call.unknown()


def _sum_of_integers(call: Call, values: Many, start: Value) -> Value:
    if values.same and values.length is not None:
        product = binary(call, "*", values.item, call.number(values.length))
        found = None if product is None else binary(call, "+", start, product)
        if found is not None:
            return found
    low, first = low_of(call, values.item), low_of(call, start)
    return Num(call.symbol("sum", first if low is not None and low >= 0 else None))


@op("builtins.max")
def max_(call: Call, *args: Value, key: Value = NONE, default: Value | None = None) -> Value:
    """max(*args): https://docs.python.org/3/library/functions.html#max"""
    return _extreme(call, args, key, default, largest=True)


@op("builtins.min")
def min_(call: Call, *args: Value, key: Value = NONE, default: Value | None = None) -> Value:
    """min(*args): https://docs.python.org/3/library/functions.html#min"""
    return _extreme(call, args, key, default, largest=False)


def _extreme(call: Call, args: Sequence[Value], key: Value, default: Value | None, *, largest: bool) -> Value:
    values: tuple[Value, ...] | Many = drawn(call, args[0]) if len(args) == 1 else tuple(args)
    keys = sort_keys(call, key, values)
    if isinstance(values, Many):
        if kind_of(values.item) in ("int", "bool") and default is None:
            return Num(call.symbol("max" if largest else "min", low_of(call, values.item)))
        return call.unknown()
    if not values:
        return call.unknown() if default is None else default
    if key != NONE:
        best = None if keys is None else extreme(call, keys, largest=largest)
        first = [value for value, found in zip(values, keys or (), strict=False) if found == best]
        return first[0] if first and isinstance(best, Const) else either(call, values)
    for value in values if len(values) > 1 else ():
        require_truth(call, value)  # that of a comparison with another item
    return extreme(call, values, largest=largest)


def extreme(call: Call, values: Sequence[Value], *, largest: bool) -> Value:
    """The largest or smallest of some numbers."""
    kept: list[Value] = []
    for value in values:
        beaten = "<=" if largest else ">="
        if any(compare(call, beaten, value, other) for other in kept):
            continue
        kept = [other for other in kept if not compare(call, beaten, other, value)]
        kept.append(value)
    if len(kept) == 1:
        return kept[0]
    if not all(is_number(value) for value in kept):
        return call.unknown() if any(not isinstance(v, Const | Num | Prim) for v in kept) else either(call, kept)
    dims = [call.dim(value) for value in kept if kind_of(value) in ("int", "bool")]
    known = [dim for dim in dims if dim is not None]
    if len(known) < len(kept):
        return either(call, kept) if all(kind_of(value) != "float" for value in kept) else Prim("float")
    return _between(call, known, largest=largest)


def _between(call: Call, dims: Sequence[Dim], *, largest: bool) -> Value:
    """An unknown integer that is one of `dims`, the same whenever it is asked for."""
    name = "max" if largest else "min"
    lows = [dim.low for dim in dims]
    known = [low for low in lows if low is not None]
    if largest:
        low = max(known) if known else None
    else:
        low = min(known) if len(known) == len(lows) else None
    key = (name, frozenset(dims))
    text = f"{name}({', '.join(str(dim) for dim in dims)})"
    found = remembered(call, key, low, text)
    chosen = call.dim(found)
    if call.world.watched and chosen is not None:
        bounds = [at_least(chosen, dim) if largest else at_least(dim, chosen) for dim in dims]
        call.world.demand(both(one_of(*(equal(chosen, dim) for dim in dims)), *bounds), "", text)
    return found


@op("builtins.abs", "operator.abs")
def abs_(call: Call, x: Value, /) -> Value:
    """abs(x): https://docs.python.org/3/library/functions.html#abs"""
    if isinstance(x, Tensor):
        name = f"{dialect(x.lib).tensor}.__abs__"
        rule = find_op(name)
        result: Value = call.unknown() if rule is None else rule(Call(call.world, name, x.lib), x)
        return result
    if isinstance(x, Union):
        return union([abs_(call, option) for option in x.options])
    if isinstance(x, Const):
        return compute(call, abs, x) or call.unknown()
    if isinstance(x, Num):
        dim = call.facts.dim(x.dim)
        if dim.low is not None and dim.low >= 0:
            return x
        high = (-dim).low
        return call.number(-dim) if high is not None and high >= 0 else remembered(call, ("abs", dim), 0, f"abs({dim})")
    if isinstance(x, Prim):
        return Num(call.symbol("abs")) if x.kind in ("int", "bool") else Prim("float")
    return shaped_like(call, x) if isinstance(x, Opaque | Expr) else call.unknown()


@op("builtins.round")
def round_(call: Call, number: Value, ndigits: Value = NONE) -> Value:
    """round(number, ndigits): https://docs.python.org/3/library/functions.html#round"""
    if isinstance(number, Const) and isinstance(ndigits, Const):
        return compute(call, round, number, ndigits) or call.unknown()
    if isinstance(number, Num):
        return number if ndigits == NONE else call.unknown()
    if kind_of(number) != "float":
        return call.unknown()
    if ndigits != NONE:
        return Prim("float") if isinstance(ndigits, Const | Num) else call.unknown()
    known = quotient_of(call, number)
    if known is not None and known[1] == 1:
        return call.number(known[0])
    low = known[0].low if known is not None else None
    positive = low is not None and low >= 0 and known is not None and (known[1].low or 0) > 0
    if known is not None:
        return remembered(call, ("round", *known), 0 if positive else None, f"round({known[0]}/{known[1]})")
    return Num(call.symbol("round", None))


@op("builtins.divmod")
def divmod_(call: Call, x: Value, y: Value, /) -> Value:
    """divmod(x, y): https://docs.python.org/3/library/functions.html#divmod"""
    return Tup((operate(call, "//", x, y), operate(call, "%", x, y)))


@op("builtins.pow", "math.pow")
def pow_(call: Call, base: Value, exp: Value, mod: Value = NONE) -> Value:
    """pow(base, exp, mod): https://docs.python.org/3/library/functions.html#pow"""
    if mod != NONE:
        small = all(isinstance(v, Const) and isinstance(v.value, int) for v in (base, exp, mod))
        return (compute(call, pow, base, exp, mod) if small else None) or Num(call.symbol("pow", None))
    if call.name != "math.pow":
        return operate(call, "**", base, exp)
    for value in (base, exp):
        require_number(call, value)
    return compute(call, float, operate(call, "**", base, exp)) or Prim("float")


@op("builtins.chr", "builtins.bin", "builtins.hex", "builtins.oct", "builtins.ascii")
def text_of_number(call: Call, value: Value, /) -> Value:
    """chr(i), bin(x), hex(x), oct(x): https://docs.python.org/3/library/functions.html#chr"""
    if call.name != "builtins.ascii":
        require_number(call, value)
    functions = {"chr": chr, "bin": bin, "hex": hex, "oct": oct}
    function = functions.get(call.name.rpartition(".")[2])
    return (compute(call, function, value) if function is not None else None) or Prim("str")


@op("builtins.ord")
def ord_(call: Call, c: Value, /) -> Value:
    """ord(c): https://docs.python.org/3/library/functions.html#ord"""
    return compute(call, ord, c) or Num(call.symbol("ord"))


@op("builtins.hash", "builtins.id")
def identity(call: Call, object: Value, /) -> Value:
    """hash(object), id(object): https://docs.python.org/3/library/functions.html#hash"""
    return Num(call.symbol("hash", None))


@op("builtins.int.bit_length", "builtins.int.bit_count")
def bit_length(call: Call, self: Value) -> Value:
    """int.bit_length(): https://docs.python.org/3/library/stdtypes.html#int.bit_length"""
    number = self.value if isinstance(self, Const) else None
    if isinstance(number, int) and number.bit_length() <= MAX_BITS:
        return Const(number.bit_length() if call.name.endswith("length") else number.bit_count())
    return Num(call.symbol("bits"))


@op("builtins.float.is_integer", "builtins.int.is_integer")
def is_integer(call: Call, self: Value) -> Value:
    """float.is_integer(): https://docs.python.org/3/library/stdtypes.html#float.is_integer"""
    if kind_of(self) in ("int", "bool"):
        return Const(True)
    return compute(call, float.is_integer, self) or Prim("bool")
