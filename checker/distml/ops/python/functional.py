"""The module `functools`."""

from __future__ import annotations

from dataclasses import replace

from distml.ops.call import FALSE, Call
from distml.ops.python.iterating import drawn, few
from distml.ops.registry import op
from distml.values import Const, DictRecord, Function, Lib, Many, Num, Partial, Value

IDENTITY = Lib("functools.identity")
"""A callable that gives back its argument: what a decorator that changes nothing is."""
NOTES = "notes"
"""Names the fact that holds what libraries keep with a function."""


@op("functools.identity", "functools.total_ordering")
@op("typing.final", "typing.overload", "typing.override", "typing.no_type_check", "typing.runtime_checkable")
@op("typing_extensions.final", "typing_extensions.override", "typing_extensions.runtime_checkable")
def identity(call: Call, func: Value, /) -> Value:
    """A decorator that leaves what it decorates: https://docs.python.org/3/library/functools.html"""
    return func


@op("functools.wraps")
def wraps(call: Call, wrapped: Value, *args: Value, **options: Value) -> Value:
    """functools.wraps(wrapped): https://docs.python.org/3/library/functools.html#functools.wraps"""
    return Partial(Lib("functools.update_wrapper"), (), (("wrapped", wrapped),))


@op("typing.dataclass_transform", "typing_extensions.deprecated", "warnings.deprecated")
def marked(call: Call, *args: Value, **options: Value) -> Value:
    """A decorator with arguments that leaves what it decorates: https://docs.python.org/3/library/typing.html"""
    return IDENTITY


@op("functools.lru_cache")
def lru_cache(call: Call, maxsize: Value = Const(128), typed: Value = FALSE) -> Value:
    """functools.lru_cache(maxsize): https://docs.python.org/3/library/functools.html#functools.lru_cache"""
    if not isinstance(maxsize, Const | Num):
        return cache(call, maxsize)
    size = call.const(maxsize)
    # Of a small cache it is not followed what is thrown out, of a typed one how it tells 1 from 1.0.
    all_kept = size is None or (isinstance(size, int) and size >= 128)
    return Lib("functools.cache") if all_kept and call.const(typed) is False else IDENTITY


@op("functools.cache")
def cache(call: Call, func: Value, /) -> Value:
    """functools.cache(func): https://docs.python.org/3/library/functools.html#functools.cache"""
    return replace(func, kept=call.world.allocate(DictRecord({})).address) if isinstance(func, Function) else func


@op("functools.update_wrapper")
def update_wrapper(call: Call, wrapper: Value, wrapped: Value, *args: Value, **options: Value) -> Value:
    """functools.update_wrapper(wrapper): https://docs.python.org/3/library/functools.html#functools.update_wrapper"""
    notes = call.world.get((NOTES, wrapped))
    if notes is not None:
        call.world.put((NOTES, wrapper), notes)
    if isinstance(wrapper, Function) and isinstance(wrapped, Function):
        return replace(wrapper, name=wrapped.name)
    return wrapper


@op("functools.partial", "functools.partialmethod")
def partial(call: Call, func: Value, /, *args: Value, **keywords: Value) -> Value:
    """functools.partial(func, *args): https://docs.python.org/3/library/functools.html#functools.partial"""
    if isinstance(func, Partial):
        named = {**dict(func.kwargs), **keywords}
        return Partial(func.function, func.args + args, tuple(named.items()))
    return Partial(func, args, tuple(keywords.items()))


@op("functools.reduce")
def reduce(call: Call, function: Value, iterable: Value, initial: Value | None = None, /) -> Value:
    """functools.reduce(function, iterable): https://docs.python.org/3/library/functools.html#functools.reduce"""
    values = few(call, drawn(call, iterable))
    if isinstance(values, Many):
        # For what it changes and what may be wrong; the result of many is not known.
        call.world.apply_perhaps(function, (values.item if initial is None else initial, values.item))
        return call.unknown()
    left = list(values) if initial is None else [initial, *values]
    if not left:
        return call.unknown()
    result = left[0]
    for value in left[1:]:
        result = call.apply(function, result, value)
    return result


@op("functools.cmp_to_key")
def cmp_to_key(call: Call, mycmp: Value) -> Value:
    """functools.cmp_to_key(mycmp): https://docs.python.org/3/library/functools.html#functools.cmp_to_key"""
    return call.unknown()
