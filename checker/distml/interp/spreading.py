"""The arguments that are written at a call, those behind `*` and `**` among them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from distml.interp import comprehensions
from distml.interp.arguments import Arguments
from distml.interp.calls import each_alternative
from distml.interp.storage import record_held_by
from distml.interp.subscripts import subscript
from distml.ops.python.iterating import EXHAUSTING
from distml.ops.registry import find_layer
from distml.values import Bound, Const, DictRecord, Function, InstanceRecord, Lib, LibMethod, Opaque, Ref, Union, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distml.interp.machine import Machine


_SPREAD = ("*", "**")


class Written(NamedTuple):
    """One argument: `how` is "" for one by its place, "*", "**", or its name."""

    how: str
    value: Value


def arguments_of(vm: Machine, node: ast.Call, whole: bool = False) -> list[Written]:
    """What the arguments of a call come to; `whole` says that a generator among them is consumed at once."""
    found = []
    for argument in node.args:
        starred = isinstance(argument, ast.Starred)
        expression = argument.value if isinstance(argument, ast.Starred) else argument
        found.append(Written("*" * starred, _given(vm, expression, whole or starred)))
    return found + [Written(each.arg or "**", vm.language.evaluate(vm, each.value)) for each in node.keywords]


def spread(vm: Machine, written: Sequence[Written], call: Callable[[Arguments], Value]) -> Value:
    """What a call gives with these arguments. Where one that is spread may be several, it is called with each of them."""
    places = [place for place, (how, value) in enumerate(written) if how in _SPREAD and isinstance(value, Union)]
    if not places:
        return call(together(vm, written))

    def chosen(*values: Value) -> Value:
        taken = dict(zip(places, values, strict=True))
        return call(together(vm, [Written(how, taken.get(place, value)) for place, (how, value) in enumerate(written)]))

    return each_alternative(vm, [written[place].value for place in places], chosen)


def together(vm: Machine, written: Sequence[Written]) -> Arguments:
    """The arguments, those that are spread one by one."""
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    is_open, rest = False, None
    for how, value in written:
        if how == "*":
            items = vm.iterate(value)
            if isinstance(items, tuple):
                args.extend(items)
            else:
                is_open, rest = True, items
        elif how == "**":
            is_open = not _spread(vm, value, kwargs) or is_open
        elif how:
            kwargs[how] = value
        elif not is_open:
            args.append(value)
    return Arguments(args, kwargs, is_open, rest)


def consumes(callee: Value) -> bool:
    """Whether a call draws all items of an iterator before it does anything else: built-in containers, layers of layers."""
    return isinstance(callee, Lib | LibMethod) and (callee.name in EXHAUSTING or find_layer(callee.name) is not None)


def _given(vm: Machine, node: ast.expr, whole: bool) -> Value:
    if whole and isinstance(node, ast.GeneratorExp):
        return comprehensions.generator_expression(vm, node, whole=True)
    return vm.language.evaluate(vm, node)


def _spread(vm: Machine, value: Value, kwargs: dict[str, Value]) -> bool:
    """Add what `**value` holds; False when that is not all known."""
    record = mapping(vm, value)
    if record is None:
        return False
    for key, item in record.items.items():
        if isinstance(key, Const) and isinstance(key.value, str):
            kwargs[key.value] = item
    return record.exact


def mapping(vm: Machine, value: Value) -> DictRecord | None:
    """What `**value` unpacks: the items of a dict, or what an object gives for each of its `keys`. An object of a class derived
    from dict is asked for them where the class has an `__iter__` of its own; without one Python takes what the dict holds.
    """
    record = record_held_by(vm, value)
    if isinstance(value, Ref) and isinstance(vm.record(value), InstanceRecord):
        method = vm.attribute(value, "__iter__" if isinstance(record, DictRecord) else "__getitem__")
        if isinstance(method, Bound) and isinstance(method.function, Function):
            return _by_keys(vm, value)
    return record if isinstance(record, DictRecord) else None


def _by_keys(vm: Machine, value: Ref) -> DictRecord | None:
    method = vm.attribute(value, "keys")
    keys = vm.opaque("keys") if method is None else vm.apply(method, [])
    found = () if isinstance(keys, Opaque) else vm.iterate(keys)
    if not isinstance(found, tuple) or not found:
        return None
    items: dict[Value, Value] = {key: subscript(vm, value, key) for key in found if isinstance(key, Const)}
    return DictRecord(items, exact=len(items) == len(found))
