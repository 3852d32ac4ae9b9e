"""The modules `random` and `secrets`: numbers of which only the bounds are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from distml.ops.call import NONE, ONE, UNKNOWN, Call
from distml.ops.python.iterating import as_list, drawn, item_of
from distml.ops.python.likeness import low_of
from distml.ops.python.lists import record_of, shuffled
from distml.ops.python.sequences import range_
from distml.ops.registry import op
from distml.values import InstanceRecord, Lib, ListRecord, Num, Prim, Ref, Value

if TYPE_CHECKING:
    from collections.abc import Callable

_Rule = TypeVar("_Rule", bound="Callable[..., Any]")

_FLOATS = "random uniform triangular gauss normalvariate lognormvariate expovariate betavariate gammavariate"
_FLOATS += " paretovariate vonmisesvariate weibullvariate"


_GENERATOR = "random.Random"


@op(_GENERATOR, "random.SystemRandom")
def generator(call: Call, seed: Value = NONE) -> Value:
    """random.Random(seed): a generator of its own: https://docs.python.org/3/library/random.html#random.Random"""
    return call.world.allocate(InstanceRecord(Lib(_GENERATOR), exact=False))


def _drawing(*names: str) -> Callable[[_Rule], _Rule]:
    """Register an op as functions of the module, which are methods of its hidden generator, and as those of any generator."""

    def register(rule: _Rule) -> _Rule:
        def method(call: Call, self: Value, /, *args: Value, **named: Value) -> Value:
            given: Value = rule(call, *args, **named)
            return given

        method.__module__, method.__doc__ = rule.__module__, rule.__doc__
        op(*(f"{_GENERATOR}.{name}" for name in names))(method)
        return op(*(f"random.{name}" for name in names))(rule)

    return register


@_drawing(*_FLOATS.split())
def real(call: Call, *args: Value, **named: Value) -> Value:
    """random.random() and the other distributions: https://docs.python.org/3/library/random.html"""
    return Prim("float")


@_drawing("randint")
def randint(call: Call, a: Value, b: Value) -> Value:
    """random.randint(a, b): https://docs.python.org/3/library/random.html#random.randint"""
    return Num(call.symbol("randint", low_of(call, a), call.dim(b)))


@op("secrets.randbelow")
@_drawing("randrange")
def randrange(call: Call, start: Value, stop: Value | None = None, step: Value = ONE) -> Value:
    """random.randrange(start, stop, step): https://docs.python.org/3/library/random.html#random.randrange"""
    item = item_of(call, drawn(call, range_(call, start, stop, step)))
    low = None if item is None else low_of(call, item)
    end = call.dim(start if stop is None else stop)
    by = call.const(step, int)
    high = None if end is None or by is UNKNOWN or by < 1 else end - 1
    return Num(call.symbol("randrange", 0 if stop is None else low, high))


@op("secrets.randbits")
@_drawing("getrandbits")
def getrandbits(call: Call, k: Value, /) -> Value:
    """random.getrandbits(k): https://docs.python.org/3/library/random.html#random.getrandbits"""
    return Num(call.symbol("bits"))


@op("secrets.choice")
@_drawing("choice")
def choice(call: Call, seq: Value) -> Value:
    """random.choice(seq): https://docs.python.org/3/library/random.html#random.choice"""
    item = item_of(call, drawn(call, seq))
    return call.unknown() if item is None else item


@_drawing("choices")
def choices(
    call: Call, population: Value, weights: Value = NONE, *, cum_weights: Value = NONE, k: Value = ONE
) -> Value:
    """random.choices(population, k=k): https://docs.python.org/3/library/random.html#random.choices"""
    return _drawn(call, population, k)


@_drawing("sample")
def sample(call: Call, population: Value, k: Value, *, counts: Value = NONE) -> Value:
    """random.sample(population, k): https://docs.python.org/3/library/random.html#random.sample"""
    return _drawn(call, population, k)


def _drawn(call: Call, population: Value, k: Value) -> Value:
    item = item_of(call, drawn(call, population))
    return call.world.allocate(ListRecord(None, item, call.dim(k)))


@_drawing("shuffle")
def shuffle(call: Call, x: Value) -> Value:
    """random.shuffle(x): https://docs.python.org/3/library/random.html#random.shuffle"""
    record = record_of(call, x)
    if record is not None and isinstance(x, Ref):
        call.world.replace(x, shuffled(call, as_list(call, record.items) if record.items is not None else record))
    return NONE


@_drawing("seed", "setstate")
def seed(call: Call, *args: Value, **named: Value) -> Value:
    """random.seed(a): https://docs.python.org/3/library/random.html#random.seed"""
    return NONE
