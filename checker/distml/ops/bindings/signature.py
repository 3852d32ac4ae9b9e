"""Signatures: how a library names and orders the parameters of a rule, in one line of text.

`"input_tensor axis=None keepdims=False -name=None"` is the library's own order. What has no default must be given; a
minus marks what shapes do not depend on, a plus what the rule does not need but the layer keeps as an attribute; the others go
to the rule, in this order. `*` begins what is given by name only.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from distml.ops.registry import answered, attribute, find_attribute, find_op, op
from distml.values import Const, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call


class Parameter(NamedTuple):
    """One parameter; `default` is None where it must be given."""

    name: str
    used: bool
    kept: bool
    default: Value | None
    positional: bool


@cache
def parameters(signature: str) -> tuple[Parameter, ...]:
    """The parameters that a signature lists."""
    found, positional = [], True
    for word in signature.split():
        if word == "*":
            positional = False
            continue
        name, equals, default = word.partition("=")
        value = _constant(ast.literal_eval(default)) if equals else None
        found.append(Parameter(name.lstrip("-+"), name[0] not in "-+", name[0] == "+", value, positional))
    return tuple(found)


def _constant(value: object) -> Value:
    return Tup(tuple(map(_constant, value))) if isinstance(value, tuple) else Const(value)


def arguments(signature: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> list[Value] | None:
    """The arguments for the rule; None where the library would not take them, so that nothing is known."""
    given = _given(signature, args, kwargs)
    return None if given is None else [given[each.name] for each in parameters(signature) if each.used]


def kept(signature: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> dict[str, Value]:
    """The arguments that a layer has as attributes, beside those its rule makes."""
    given = _given(signature, args, kwargs) or {}
    return {each.name: given[each.name] for each in parameters(signature) if each.kept and given}


def _given(signature: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> dict[str, Value] | None:
    """What each parameter is given; None where one has nothing, or there is none for what is given."""
    listed = parameters(signature)
    places = [parameter for parameter in listed if parameter.positional]
    if len(args) > len(places) or not kwargs.keys() <= {parameter.name for parameter in listed[len(args) :]}:
        return None
    given = {parameter.name: value for parameter, value in zip(places, args, strict=False)} | kwargs
    found = {each.name: value for each in listed if (value := given.get(each.name, each.default)) is not None}
    return found if len(found) == len(listed) else None


def bind(rule: Callable[..., Value], signature: str, *names: str) -> None:
    """Register a rule under a library's names, with the library's parameters."""
    parameters(signature)

    def bound(call: Call, *args: Value, **kwargs: Value) -> Value:
        given = arguments(signature, args, kwargs)
        return call.unknown() if given is None else rule(call, *given)

    bound.__module__ = home()
    op(*names)(bound)


def home(depth: int = 2) -> str:
    """The module that binds, as `namedtuple` finds it: the pages of docs/ops list a name under its family."""
    return str(sys._getframe(depth).f_globals["__name__"])


def adopt(name: str, source: str, ignored: str = "") -> None:
    """Register the op `source` of another library under a name, with that name's dialect.

    `ignored` are keywords that shapes do not depend on. What the op does not take otherwise is not followed.
    """
    rule, dropped = find_op(source), frozenset(ignored.split())
    if rule is None:
        raise ValueError(f"no op {source}")

    def bound(call: Call, *args: Value, **kwargs: Value) -> Value:
        kwargs = {key: value for key, value in kwargs.items() if key not in dropped}
        return answered(call, source, rule, args, kwargs)

    bound.__module__ = home()
    op(name)(bound)


def borrow(name: str, source: str, signature: str) -> None:
    """Register the op `source` of another library under a name whose parameters are called otherwise.

    What the signature gives no default is handed over by place, the rest by name. The name's dialect holds.
    """
    rule, listed = find_op(source), [parameter for parameter in parameters(signature) if parameter.used]
    if rule is None:
        raise ValueError(f"no op {source}")

    def bound(call: Call, *args: Value, **kwargs: Value) -> Value:
        given = arguments(signature, args, kwargs)
        if given is None:
            return call.unknown()
        pairs = list(zip(listed, given, strict=True))
        places = [value for parameter, value in pairs if parameter.default is None]
        named = {parameter.name: value for parameter, value in pairs if parameter.default is not None}
        return answered(call, source, rule, tuple(places), named)

    bound.__module__ = home()
    op(name)(bound)


def adopt_attribute(name: str, source: str) -> None:
    """Register the attribute `source` of another library's class under a name."""
    rule = find_attribute(source)
    if rule is None:
        raise ValueError(f"no attribute {source}")

    def bound(call: Call, self: Value) -> Value:
        call.name = source
        result: Value = rule(call, self)
        return result

    bound.__module__ = home()
    attribute(name)(bound)
