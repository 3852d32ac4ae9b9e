"""The modules `random` and `secrets`: numbers of which only the bounds are known."""

from __future__ import annotations

from distml.ops.call import NONE, ONE, Call
from distml.ops.python.iterating import as_list, drawn, item_of
from distml.ops.python.likeness import low_of
from distml.ops.python.lists import record_of, shuffled
from distml.ops.python.sequences import range_
from distml.ops.registry import op
from distml.values import ListRecord, Num, Prim, Ref, Value

_FLOATS = "random uniform triangular gauss normalvariate lognormvariate expovariate betavariate gammavariate"
_FLOATS += " paretovariate vonmisesvariate weibullvariate"


def _names(*names: str) -> tuple[str, ...]:
    return tuple(f"{owner}.{name}" for owner in ("random", "random.Random") for name in names)


@op(*_names(*_FLOATS.split()))
def real(call: Call, *args: Value, **named: Value) -> Value:
    """random.random() and the other distributions: https://docs.python.org/3/library/random.html"""
    return Prim("float")


@op(*_names("randint"))
def randint(call: Call, a: Value, b: Value) -> Value:
    """random.randint(a, b): https://docs.python.org/3/library/random.html#random.randint"""
    return Num(call.symbol("randint", low_of(call, a)))


@op(*_names("randrange"), "secrets.randbelow")
def randrange(call: Call, start: Value, stop: Value | None = None, step: Value = ONE) -> Value:
    """random.randrange(start, stop, step): https://docs.python.org/3/library/random.html#random.randrange"""
    item = item_of(call, drawn(call, range_(call, start, stop, step)))
    low = None if item is None else low_of(call, item)
    return Num(call.symbol("randrange", 0 if stop is None else low))


@op(*_names("getrandbits"), "secrets.randbits")
def getrandbits(call: Call, k: Value, /) -> Value:
    """random.getrandbits(k): https://docs.python.org/3/library/random.html#random.getrandbits"""
    return Num(call.symbol("bits"))


@op(*_names("choice"), "secrets.choice")
def choice(call: Call, seq: Value) -> Value:
    """random.choice(seq): https://docs.python.org/3/library/random.html#random.choice"""
    item = item_of(call, drawn(call, seq))
    return call.unknown() if item is None else item


@op(*_names("choices"))
def choices(
    call: Call, population: Value, weights: Value = NONE, *, cum_weights: Value = NONE, k: Value = ONE
) -> Value:
    """random.choices(population, k=k): https://docs.python.org/3/library/random.html#random.choices"""
    return _drawn(call, population, k)


@op(*_names("sample"))
def sample(call: Call, population: Value, k: Value, *, counts: Value = NONE) -> Value:
    """random.sample(population, k): https://docs.python.org/3/library/random.html#random.sample"""
    return _drawn(call, population, k)


def _drawn(call: Call, population: Value, k: Value) -> Value:
    item = item_of(call, drawn(call, population))
    return call.world.allocate(ListRecord(None, item, call.dim(k)))


@op(*_names("shuffle"))
def shuffle(call: Call, x: Value) -> Value:
    """random.shuffle(x): https://docs.python.org/3/library/random.html#random.shuffle"""
    record = record_of(call, x)
    if record is not None and isinstance(x, Ref):
        call.world.replace(x, shuffled(call, as_list(call, record.items) if record.items is not None else record))
    return NONE


@op(*_names("seed", "setstate"))
def seed(call: Call, *args: Value, **named: Value) -> Value:
    """random.seed(a): https://docs.python.org/3/library/random.html#random.seed"""
    return NONE
