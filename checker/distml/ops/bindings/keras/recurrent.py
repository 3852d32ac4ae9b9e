"""keras: recurrent layers, and layers around layers.

https://keras.io/api/layers/recurrent_layers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.bindings.keras.base import LAYER, define, require_features, unbuilt
from distml.ops.bindings.keras.names import FEATURES
from distml.ops.rules.axes import replace_axes
from distml.ops.rules.layers import attribute_of, size
from distml.shapes import Dim
from distml.values import NONE, Const, InstanceRecord, Lib, Opaque, Ref, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.ops.call import Call

Attrs = dict[str, Value]
STATES = "__states__"
"""How many states a cell has."""
_STATES = {"LSTM": 2, "GRU": 1, "SimpleRNN": 1}


def _make(call: Call, units: Value, sequences: Value, state: Value) -> Attrs:
    own = attribute_of(call, units, size(call, units, "units", 1))
    return {"units": own, "return_sequences": sequences, "return_state": state, FEATURES: unbuilt(call)}


def _listed(call: Call, states: Value, count: int) -> tuple[Value, ...] | None:
    """The states that a call is given; a tensor alone is the state of a cell that has one."""
    if isinstance(states, Tensor):
        return (states,) if count == 1 else None
    return call.items(states)


def _require_states(call: Call, states: Value, count: int, units: Dim | None, batch: Dim | None) -> None:
    """As many states as the cell has, each (batch, units) (SHP405).

    Keras 3 spreads a batch of one, and one column of a second state.
    """
    given = _listed(call, states, count)
    if given is None:
        return
    if len(given) < count:
        call.fail("SHP405", f"{call.text} needs {count} states, gets {len(given)}")
    for place, state in enumerate(given[:count]):
        if not isinstance(state, Tensor):
            continue
        shape = call.facts.shape(call.shape(state))
        if shape.rank is not None and shape.rank > 2:
            call.fail("SHP405", f"{call.text} needs a state with 2 axes, gets {shape!r}", *call.notes(*shape.head))
        gets = call.facts.axis(shape, -1)
        if not place or (gets is not None and gets.constant not in (None, 1)):
            text = f"{call.text} needs a state with {{left}} features, gets {shape!r}"
            call.require_equal(units, gets, "SHP405", text)
        rows = call.facts.axis(shape, 0) if shape.rank == 2 else None
        if rows is not None and batch is not None and rows != Dim.of(1) and rows.differs(batch):
            text = f"{call.text}: the input has a batch of {batch}, its state {shape!r} one of {rows}"
            call.fail("SHP405", text, *call.notes(rows, batch))


def _initial(call: Call, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value | None:
    """The states that the program gives for the first step, if it gives some."""
    given = args[0] if args else kwargs.get("initial_state", NONE)
    return None if call.is_none(given) is not False else given


def _recurrent(states: int) -> Callable[..., Value]:
    def run(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
        """(batch, time, features) to the last output or to all of them, and the states behind it."""
        shape = call.of_rank(call.shape(inputs), 3, what="an input")
        require_features(call, attrs, shape)
        initial = _initial(call, args, kwargs)
        if initial is not None:
            _require_states(call, initial, states, call.dim(attrs["units"]), call.facts.axis(shape, 0))
        if shape.dims is None:
            return call.unknown()
        batch, time = shape.dims[:2]
        units, every, state = (
            call.dim(attrs["units"]),
            call.flag(attrs["return_sequences"]),
            call.flag(attrs["return_state"]),
        )
        if units is None or every is None or state is None:
            return call.unknown()
        output = call.tensor([batch, time, units] if every else [batch, units], "float")
        if not state:
            return output
        return call.list_of([output, *(call.tensor([batch, units], "float") for _ in range(states))])

    return run


_BEFORE = "units -activation='tanh'"
_AFTER = "+use_bias=True -dropout=0.0 -recurrent_dropout=0.0 -seed=None"
_FLAGS = "return_sequences=False return_state=False -go_backwards=False -stateful=False -unroll=False -time_major=False"
for _name, _count in _STATES.items():
    define(
        f"{_BEFORE} * -recurrent_activation='sigmoid' {_AFTER} {_FLAGS} +reset_after=True -unit_forget_bias=True"
        " -use_cudnn='auto' -implementation=2",
        _make,
        _recurrent(_count),
        _name,
        bases=("keras.layers.RNN", LAYER),
    )


def _cell(states: int) -> Callable[..., Attrs]:
    def make(call: Call, units: Value) -> Attrs:
        own = attribute_of(call, units, size(call, units, "units", 1))
        return {"units": own, STATES: Const(states), FEATURES: unbuilt(call)}

    return make


def _run_cell(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """One step: the output and the states."""
    shape = call.facts.shape(call.shape(inputs))
    if shape.rank != 2:
        return call.unknown()
    require_features(call, attrs, shape)
    units, count = call.dim(attrs["units"]), call.const(attrs[STATES], int)
    if args and isinstance(count, int):
        _require_states(call, args[0], count, units, call.facts.axis(shape, 0))
    output = call.tensor([call.facts.axis(shape, 0), units], "float")
    return Tup((output, call.list_of([output] * count) if isinstance(count, int) else call.unknown("states")))


for _name, _count in _STATES.items():
    define(
        f"{_BEFORE} * -recurrent_activation='sigmoid' {_AFTER} +reset_after=True -unit_forget_bias=True -implementation=2",
        _cell(_count),
        _run_cell,
        f"{_name}Cell",
    )
define("cells", lambda call, cells: {"cells": cells}, lambda call, *args, **kwargs: call.unknown(), "StackedRNNCells")


def _make_steps(call: Call, cell: Value, sequences: Value, state: Value) -> Attrs:
    return {"cell": cell, "return_sequences": sequences, "return_state": state}


def _cells(call: Call, cell: Value) -> tuple[Value, ...]:
    """The cells on top of each other; one alone is one of them."""
    items = call.items(cell)
    if items is not None:
        return items
    stacked = (call.attrs(cell) or {}).get("cells")
    return (cell,) if stacked is None else _cells(call, stacked)


def _begun(call: Call, cell: Value, batch: Dim | None) -> Value:
    """The states before the first step: as many, and as wide, as the program's cell says."""
    said = call.world.attribute(cell, "state_size")
    sizes = [] if said is None else [call.dim(size) for size in call.items(said) or (said,)]
    own = call.world.attribute(cell, "get_initial_state")
    if not sizes or None in sizes or not (own is None or isinstance(own, Opaque)):
        return call.unknown("states")
    return call.list_of([call.tensor([batch, size], "float", "tensorflow") for size in sizes])


def _step(call: Call, cell: Value, inputs: Tensor, states: Value | None) -> tuple[Tensor, tuple[Value, ...]] | None:
    """The output of a cell for one step, and the states behind it."""
    before = _begun(call, cell, call.facts.axis(inputs.shape, 0)) if states is None else states
    made = call.items(call.apply(cell, inputs, before))
    if made is None or len(made) != 2 or not isinstance(made[0], Tensor):
        return None
    return made[0], call.items(made[1]) or (made[1],)


def _steps(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """https://keras.io/api/layers/recurrent_layers/rnn: the last output of the cells, or all of them, and the states behind"""
    shape, cells = call.facts.shape(call.shape(inputs)), _cells(call, attrs["cell"])
    every, state = call.flag(attrs["return_sequences"]), call.flag(attrs["return_state"])
    if shape.rank != 3 or every is None or state is None or (state and cells != (attrs["cell"],)):
        return call.unknown()
    batch, time, features = shape.head
    made, states = call.tensor([batch, features], call.dtype(inputs), "tensorflow"), tuple[Value, ...]()
    initial = _initial(call, args, kwargs)
    if isinstance(initial, Tensor):
        initial = call.list_of([initial])
    for cell in cells:
        found = _step(call, cell, made, initial if len(cells) == 1 else None)
        if found is None:
            return call.unknown()
        made, states = found
    output = call.tensor(replace_axes(call, made.shape, 1, 0, (time,)), made.dtype) if every else made
    return call.list_of([output, *states]) if state else output


define(
    "cell return_sequences=False return_state=False -go_backwards=False -stateful=False -unroll=False -time_major=False"
    " -zero_output_for_mask=False",
    _make_steps,
    _steps,
    "RNN",
)


def _wrapping(call: Call, layer: Value, merge: Value) -> Attrs:
    return {"layer": layer, "merge_mode": merge}


def _inner(call: Call, attrs: Attrs) -> tuple[str, Attrs] | None:
    record = call.world.record(attrs["layer"]) if isinstance(attrs["layer"], Ref) else None
    if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Lib) or not record.exact:
        return None
    return record.cls.name.rpartition(".")[2], record.attrs


def _both_ways(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """The outputs of both directions side by side or merged, and the states of both behind them."""
    inner, merge = _inner(call, attrs), attrs["merge_mode"]
    if inner is None or inner[0] not in _STATES or not isinstance(merge, Const):
        return call.unknown()
    given = _initial(call, args, kwargs)
    halves = None if given is None else call.items(given)
    if halves is None or len(halves) % 2:
        result = _recurrent(_STATES[inner[0]])(call, inner[1], inputs)
    else:
        middle = len(halves) // 2
        for half in (halves[middle:], halves[:middle]):
            result = _recurrent(_STATES[inner[0]])(call, inner[1], inputs, call.list_of(half))
    listed = call.items(result) if isinstance(result, Ref) else (result,)
    output, *states = listed or ()
    if not isinstance(output, Tensor) or merge.value is None:
        return call.unknown()
    units = call.facts.axis(output.shape, -1)
    if merge.value == "concat" and units is not None:
        output = call.tensor(replace_axes(call, output.shape, -1, 1, (2 * units,)), "float")
    return call.list_of([output, *states, *states]) if states else output


define("layer merge_mode='concat' -backward_layer=None", _wrapping, _both_ways, "Bidirectional")


def _at_each_time(call: Call, attrs: Attrs, inputs: Value, *args: Value, **kwargs: Value) -> Value:
    """What the layer makes of each slice along axis 1."""
    shape = call.shape(inputs)
    if shape.dims is None:
        return call.unknown()
    if len(shape.dims) < 3:
        call.fail("SHP301", f"{call.text} needs an input with at least 3 axes, gets {shape!r}")
    batch, time, *rest = shape.dims
    result = call.apply(attrs["layer"], call.tensor([batch, *rest], call.dtype(inputs), "tensorflow"))
    if not isinstance(result, Tensor) or call.shape(result).dims is None:
        return call.unknown()
    return call.tensor(replace_axes(call, result.shape, 1, 0, (time,)), result.dtype)


define("layer merge_mode=None", _wrapping, _at_each_time, "TimeDistributed")


def _heads(call: Call, heads: Value, width: Value, output: Value, axes: Value) -> Attrs:
    return {"num_heads": heads, "key_dim": width, "output_shape": output, "attention_axes": axes}


def _attend(
    call: Call, attrs: Attrs, query: Value, value: Value, key: Value = NONE, *args: Value, **kwargs: Value
) -> Value:
    """https://keras.io/api/layers/attention_layers/multi_head_attention: the shape of the query."""
    asked, given = call.shape(query), call.shape(value)
    if asked.dims is None or given.dims is None or call.is_none(attrs["output_shape"]) is not True:
        return call.unknown()
    if len(asked.dims) != len(given.dims):
        call.fail("SHP301", f"{call.text} needs as many axes in the query, {asked!r}, as in the value, {given!r}")
    if len(asked.dims) == 3:
        text = f"{call.text}: the query {asked!r} has a batch of {{left}}, the value {given!r} one of {{right}}"
        call.require_equal(asked.dims[0], given.dims[0], "SHP104", text)
    if call.is_none(key) is False and call.shape(key).rank == 3 and len(given.dims) == 3:
        keys = call.shape(key)
        text = f"{call.text}: the key {keys!r} has {{left}} places, the value {given!r} has {{right}}"
        call.require_equal(call.facts.axis(keys, 1), given.dims[1], "SHP102", text)
    scores = call.flag(kwargs.get("return_attention_scores", Const(False)))
    output = call.tensor(call.facts.shape(asked), "float")
    if scores is None:
        return call.unknown()
    if not scores:
        return output
    heads, rows, columns = call.dim(attrs["num_heads"]), call.facts.axis(asked, 1), call.facts.axis(given, 1)
    plain = len(asked.dims) == 3 and call.is_none(attrs["attention_axes"]) is True
    weights = call.tensor([asked.dims[0], heads, rows, columns], "float") if plain else call.unknown("scores")
    return Tup((output, weights))


define(
    "num_heads key_dim -value_dim=None -dropout=0.0 -use_bias=True output_shape=None attention_axes=None"
    " -flash_attention=None -seed=None",
    _heads,
    _attend,
    "MultiHeadAttention",
)
