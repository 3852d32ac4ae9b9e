"""tensorflow: sessions of TensorFlow 1: what a run gives for what is fetched, and what may be fed.

https://www.tensorflow.org/api_docs/python/tf/compat/v1/Session
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distml.ops.call import NONE
from distml.ops.registry import layer, op
from distml.shapes import Dim, Shape
from distml.values import Const, DictRecord, ListRecord, Num, Ref, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.ops.call import Call
    from distml.shapes import Symbol

SESSIONS = ("tensorflow.Session", "tensorflow.InteractiveSession")


@layer(*SESSIONS)
class Session:
    """https://www.tensorflow.org/api_docs/python/tf/compat/v1/Session"""

    @staticmethod
    def init(call: Call, *args: Value, **kwargs: Value) -> dict[str, Value]:
        """Nothing that shapes depend on."""
        return {}


@op(*(f"{name}.__enter__" for name in SESSIONS))
def enter(call: Call, self: Value) -> Value:
    """The session itself."""
    return self


@op(*(f"{name}.{method}" for name in SESSIONS for method in ("__exit__", "close")))
def leave(call: Call, self: Value, *args: Value) -> Value:
    """Nothing; an exception passes."""
    return NONE


@op(*(f"{name}.run" for name in SESSIONS))
def run(
    call: Call,
    self: Value,
    fetches: Value,
    feed_dict: Value = NONE,
    options: Value = NONE,
    run_metadata: Value = NONE,
) -> Value:
    """Session.run: the values of what is fetched, arranged as the fetches are."""
    return _fetched(call, fetches, _feed(call, feed_dict))


@op("tensorflow.Tensor.eval")
def evaluate(call: Call, self: Value, feed_dict: Value = NONE, session: Value = NONE) -> Value:
    """Tensor.eval: the value in a session."""
    return _fetched(call, self, _feed(call, feed_dict))


def _fetched(call: Call, fetch: Value, sizes: dict[Symbol, Dim]) -> Value:
    """An array for a tensor; a list, a tuple or a dict for a list, a tuple or a dict."""
    if isinstance(fetch, Tensor):
        if fetch.shape.rank == 0 and fetch.dtype not in ("float", "int", "bool", "complex"):
            return call.unknown("fetched")  # a string is no array
        return Tensor("numpy", _of_one_run(call, fetch.shape, sizes), fetch.dtype)
    if isinstance(fetch, Tup):
        return replace(fetch, items=tuple(_fetched(call, item, sizes) for item in fetch.items))
    record = call.world.record(fetch) if isinstance(fetch, Ref) else None
    if isinstance(record, ListRecord) and record.items is not None:
        return call.list_of([_fetched(call, item, sizes) for item in record.items])
    if isinstance(record, DictRecord) and record.exact:
        items = {key: _fetched(call, item, sizes) for key, item in record.items.items()}
        return call.world.allocate(DictRecord(items))
    return call.unknown("fetched")


def _of_one_run(call: Call, shape: Shape, sizes: dict[Symbol, Dim]) -> Shape:
    """The sizes that the graph leaves open may be others in each run: they are those that are fed, or any."""
    dims = call.facts.shape(shape).dims
    if dims is None:
        return call.facts.unknown_shape()
    return Shape(
        tuple(dim.substitute({symbol: _size(call, symbol, sizes) for symbol in dim.symbols()}) for dim in dims)
    )


def _size(call: Call, symbol: Symbol, sizes: dict[Symbol, Dim]) -> Dim:
    return sizes.setdefault(symbol, call.symbol(symbol.name, symbol.low))


def _feed(call: Call, feed_dict: Value) -> dict[Symbol, Dim]:
    """What the open sizes are where `feed_dict` is fed (SHP305 where a tensor does not take its value)."""
    record = call.world.record(feed_dict) if isinstance(feed_dict, Ref) else None
    sizes: dict[Symbol, Dim] = {}
    for key, value in record.items.items() if isinstance(record, DictRecord) else ():
        given = _given(call, value)
        if not isinstance(key, Tensor) or given is None or given.dims is None or key.shape.dims is None:
            continue
        if not _takes(key.shape.dims, given.dims):
            message = f"{call.text}: a value of {call.show(given)} cannot be fed to a tensor of {call.show(key.shape)}"
            call.fail("SHP305", message, *call.notes(*key.shape.dims, *given.dims))
        for wanted, size in zip(key.shape.dims, given.dims, strict=True):
            sizes |= {symbol: size for symbol in wanted.symbols() if Dim.symbol(symbol) == wanted}
    return sizes


def _given(call: Call, value: Value) -> Shape | None:
    """The shape of what is fed, where it is an array, a number, or a list of them."""
    if isinstance(value, Tensor):
        return call.facts.shape(value.shape) if value.lib == "numpy" else None
    record = call.world.record(value) if isinstance(value, Ref) else None
    is_data = isinstance(value, Num | Tup) or isinstance(record, ListRecord)
    is_number = isinstance(value, Const) and type(value.value) in (int, float, bool)
    return call.shape(value) if is_data or is_number else None


def _takes(wanted: Sequence[Dim], given: Sequence[Dim]) -> bool:
    """Whether a value may be fed: as many axes, and the sizes that are written down."""
    if len(wanted) != len(given):
        return False
    return not any(dim.constant is not None and dim.differs(size) for dim, size in zip(wanted, given, strict=True))
