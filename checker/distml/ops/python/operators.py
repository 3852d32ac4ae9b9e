"""The module `operator`: operators as functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import NONE, Call
from distml.ops.dialect import dialect
from distml.ops.python.arithmetic import METHODS, ORDER, operate, unary
from distml.ops.python.comparing import compare
from distml.ops.python.indexing import getitem
from distml.ops.registry import find_op, op
from distml.values import Lib, Partial, Tensor, Tup, Value, as_bool

if TYPE_CHECKING:
    from collections.abc import Callable

_PAGE = "https://docs.python.org/3/library/operator.html"


def _binary(symbol: str, method: str) -> None:
    name = method.strip("_")
    names = {"truediv": ("truediv",), "and": ("and_",), "or": ("or_",)}.get(name, (name,))

    def rule(call: Call, a: Value, b: Value, /) -> Value:
        return operate(call, symbol, a, b)

    _register(rule, names, method)


def _inplace(symbol: str, method: str) -> None:
    name = f"i{method.strip('_')}"

    def rule(call: Call, a: Value, b: Value, /) -> Value:
        return operate(call, symbol, a, b)

    _register(rule, (name,), f"__{name}__")


def _register(rule: Callable[..., Value], names: tuple[str, ...], method: str) -> None:
    rule.__doc__ = f"operator.{names[0]}: {_PAGE}#operator.{names[0]}"
    op(*(f"operator.{name}" for name in (*names, method)))(rule)


for _symbol, _method in METHODS.items():
    _binary(_symbol, _method)
    if _symbol not in ORDER:
        _inplace(_symbol, _method)


@op("operator.neg", "operator.pos", "operator.inv", "operator.invert", "operator.not_")
def sign(call: Call, a: Value, /) -> Value:
    """operator.neg(a) and its kin: https://docs.python.org/3/library/operator.html#operator.neg"""
    symbols = {"neg": "-", "pos": "+", "inv": "~", "invert": "~", "not_": "not"}
    return unary(call, symbols[call.name.rpartition(".")[2]], a) or call.unknown()


@op("operator.is_", "operator.is_not")
def is_(call: Call, a: Value, b: Value, /) -> Value:
    """operator.is_(a, b): https://docs.python.org/3/library/operator.html#operator.is_"""
    answer = compare(call, "is" if call.name == "operator.is_" else "is not", a, b)
    return as_bool(answer)


@op("operator.concat", "operator.iconcat")
def concat(call: Call, a: Value, b: Value, /) -> Value:
    """operator.concat(a, b): https://docs.python.org/3/library/operator.html#operator.concat"""
    return operate(call, "+", a, b)


@op("operator.itemgetter")
def itemgetter(call: Call, item: Value, /, *items: Value) -> Value:
    """operator.itemgetter(item): https://docs.python.org/3/library/operator.html#operator.itemgetter"""
    return Partial(Lib("operator.itemgetter.call"), (Tup((item, *items)),))


@op("operator.itemgetter.call")
def itemgetter_call(call: Call, items: Value, obj: Value, /) -> Value:
    """A call of what `itemgetter` made."""
    found = tuple(_item(call, obj, item) for item in call.items(items) or ())
    return found[0] if len(found) == 1 else Tup(found)


def _item(call: Call, obj: Value, index: Value) -> Value:
    if isinstance(obj, Tensor):
        owner = dialect(obj.lib).tensor
        rule = find_op(f"{owner}.__getitem__")
        if rule is None:
            return call.unknown()
        result: Value = rule(Call(call.world, f"{owner}.__getitem__", obj.lib, call.text), obj, index)
        return result
    return getitem(call, obj, index)


@op("operator.attrgetter")
def attrgetter(call: Call, attr: Value, /, *attrs: Value) -> Value:
    """operator.attrgetter(attr): https://docs.python.org/3/library/operator.html#operator.attrgetter"""
    return Partial(Lib("operator.attrgetter.call"), (Tup((attr, *attrs)),))


@op("operator.attrgetter.call")
def attrgetter_call(call: Call, names: Value, obj: Value, /) -> Value:
    """A call of what `attrgetter` made."""
    found: list[Value] = []
    for name in call.items(names) or ():
        path = call.const(name, str)
        value: Value | None = obj
        for part in path.split(".") if isinstance(path, str) else ():
            value = None if value is None else call.world.attribute(value, part)
        found.append(call.unknown() if value is None or not isinstance(path, str) else value)
    return found[0] if len(found) == 1 else Tup(tuple(found))


@op("operator.methodcaller")
def methodcaller(call: Call, name: Value, /, *args: Value, **named: Value) -> Value:
    """operator.methodcaller(name): https://docs.python.org/3/library/operator.html#operator.methodcaller"""
    kwargs = tuple(named.items())
    return Partial(Lib("operator.methodcaller.call"), (name, Tup(args), Partial(NONE, (), kwargs)))


@op("operator.methodcaller.call")
def methodcaller_call(call: Call, name: Value, args: Value, named: Value, obj: Value, /) -> Value:
    """A call of what `methodcaller` made."""
    text = call.const(name, str)
    method = call.world.attribute(obj, text) if isinstance(text, str) else None
    if method is None or not isinstance(named, Partial):
        return call.unknown()
    return call.apply(method, *(call.items(args) or ()), kwargs=dict(named.kwargs))
