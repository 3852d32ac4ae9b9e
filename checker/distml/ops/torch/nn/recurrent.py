"""torch.nn: RNN, LSTM, GRU and their cells.

https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, ONE, TRUE, ZERO, Call
from distml.ops.registry import layer
from distml.ops.rules import recurrent as rules
from distml.ops.rules.layers import attribute_of, given, optional, parameter, size
from distml.ops.rules.linear import with_last
from distml.ops.rules.ranks import Dims, each_rank
from distml.ops.torch.nn.packed import Packed, packed
from distml.ops.torch.nn.wrapping import PARTLY
from distml.shapes import Dim, Shape
from distml.values import Const, Opaque, Tensor, Tup, Union, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_MOST_LAYERS = 64
TANH = Const("tanh")


def _parameters(
    call: Call, own: rules.Recurrence, hidden: Dim, gates: int, attrs: dict[str, Value]
) -> dict[str, Value]:
    """The weights of the first layer, and of all layers where their number is known."""
    count, both = call.const(attrs["num_layers"], int), call.flag(attrs["bidirectional"])
    if not isinstance(count, int) or both is None or own.input is None or own.out is None or own.features is None:
        return {PARTLY: TRUE}
    found: dict[str, Value] = {PARTLY: TRUE} if count > _MOST_LAYERS else {}
    rows = hidden * gates
    for index in range(min(count, _MOST_LAYERS)):
        inside = own.input if index == 0 else own.features
        for suffix in ("", "_reverse") if both else ("",):
            name = f"l{index}{suffix}"
            found[f"weight_ih_{name}"] = parameter(call, (rows, inside))
            found[f"weight_hh_{name}"] = parameter(call, (rows, own.out))
            bias = optional(call, attrs["bias"], parameter(call, (rows,)))
            found[f"bias_ih_{name}"] = found[f"bias_hh_{name}"] = bias
            if own.out != hidden:
                found[f"weight_hr_{name}"] = parameter(call, (own.out, hidden))
    return found


def _sizes(call: Call, attrs: dict[str, Value]) -> rules.Recurrence:
    hidden, projected = call.dim(given(call, attrs, "hidden_size")), call.dim(given(call, attrs, "proj_size"))
    layers, both = call.dim(given(call, attrs, "num_layers")), call.flag(given(call, attrs, "bidirectional"))
    directions = None if both is None else 2 if both else 1
    zero = projected is not None and not projected.terms
    out = hidden if zero else projected if projected is not None and projected.is_nonzero else None
    return rules.Recurrence(
        input=call.dim(given(call, attrs, "input_size")),
        out=out,
        cell=hidden,
        layers=None if layers is None or directions is None else layers * directions,
        features=None if out is None or directions is None else out * directions,
        batch_first=call.flag(given(call, attrs, "batch_first")),
    )


def _layer(kind: str) -> type:
    class Recurrent:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(
            call: Call,
            input_size: Value,
            hidden_size: Value,
            num_layers: Value = ONE,
            *args: Value,
            **kwargs: Value,
        ) -> dict[str, Value]:
            names = ["bias", "batch_first", "dropout", "bidirectional", "proj_size", "device", "dtype"]
            if kind == "RNN":
                names.insert(0, "nonlinearity")
            rest = {**dict(zip(names, args, strict=False)), **kwargs}
            inside, hidden = size(call, input_size, "input_size"), size(call, hidden_size, "hidden_size", 1)
            size(call, num_layers, "num_layers", 1)
            attrs: dict[str, Value] = {
                "input_size": attribute_of(call, input_size, inside),
                "hidden_size": attribute_of(call, hidden_size, hidden),
                "num_layers": num_layers,
                "bias": rest.get("bias", TRUE),
                "batch_first": rest.get("batch_first", FALSE),
                "dropout": rest.get("dropout", ZERO),
                "bidirectional": rest.get("bidirectional", FALSE),
                "proj_size": rest.get("proj_size", ZERO),
            }
            return {**attrs, **_parameters(call, _sizes(call, attrs), hidden, GATES[kind], attrs)}

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], input: Value, hx: Value = NONE) -> Value:
            own = _sizes(call, attrs)
            bundle = packed(call, input)
            if bundle is not None:
                return _over_packed(call, own, bundle, hx, kind)
            over = _over_tensor(call, own, input, hx, kind)
            if isinstance(input, Opaque | Union):
                # It may be a PackedSequence.
                return call.any_of(over, Tup((call.unknown("output"), call.unknown("state"))))
            return over

    return Recurrent


def _over_tensor(call: Call, own: rules.Recurrence, input: Value, hx: Value, kind: str) -> Value:
    shape = call.of_rank(call.shape(input), 2, 3, what="an input")
    rules.require_features(call, own, shape)
    shape = call.facts.shape(shape)
    sure = shape.rank is not None

    def rule(dims: Dims) -> Value:
        _require_states(call, own, rules.batch_of(own, dims), hx, kind, sure)
        output, states = rules.outputs(call, own, dims, cells=kind == "LSTM")
        return Tup((output, Tup(tuple(states)) if kind == "LSTM" else states[0]))

    return each_rank(call, shape, (3, 2), rule)


def _over_packed(call: Call, own: rules.Recurrence, bundle: Packed, hx: Value, kind: str) -> Value:
    rules.require_features(call, own, call.shape(bundle.data))
    _require_states(call, own, (bundle.batch,), hx, kind, sure=True)
    _, states = rules.outputs(
        call, own._replace(batch_first=True), (bundle.batch, Dim.of(1), Dim.of(1)), kind == "LSTM"
    )
    data = call.tensor([call.facts.axis(call.shape(bundle.data), 0), own.features], "float")
    return Tup((bundle.again(call, data), Tup(tuple(states)) if kind == "LSTM" else states[0]))


def _require_states(call: Call, own: rules.Recurrence, batch: Dims | None, hx: Value, kind: str, sure: bool) -> None:
    if call.is_none(hx) is not False:
        return
    states: Sequence[Value] = (hx,)
    if kind == "LSTM":
        states = call.items(hx) or ()
        if isinstance(hx, Tensor) or len(states) != 2:
            return
    for state, name, wanted in zip(states, ("h_0", "c_0"), (own.out, own.cell), strict=False):
        if isinstance(state, Tensor | Opaque):
            rules.require_state(call, own, batch, call.shape(state), wanted, name, sure)


def _cell(kind: str) -> type:
    class Cell:
        bases = ("torch.nn.Module",)

        @staticmethod
        def init(
            call: Call,
            input_size: Value,
            hidden_size: Value,
            bias: Value = TRUE,
            *args: Value,
            nonlinearity: Value = TANH,
            device: Value = NONE,
            dtype: Value = NONE,
        ) -> dict[str, Value]:
            inside, hidden = size(call, input_size, "input_size"), size(call, hidden_size, "hidden_size")
            rows = hidden * GATES[kind]
            vector = optional(call, bias, parameter(call, (rows,)))
            return {
                "input_size": attribute_of(call, input_size, inside),
                "hidden_size": attribute_of(call, hidden_size, hidden),
                "bias": bias,
                "weight_ih": parameter(call, (rows, inside)),
                "weight_hh": parameter(call, (rows, hidden)),
                "bias_ih": vector,
                "bias_hh": vector,
            }

        @staticmethod
        def forward(call: Call, attrs: dict[str, Value], input: Value, hx: Value = NONE) -> Value:
            hidden = call.dim(given(call, attrs, "hidden_size"))
            shape = call.of_rank(call.shape(input), 1, 2, what="an input")
            own = rules.Recurrence(call.dim(given(call, attrs, "input_size")), hidden, hidden, None, None, None)
            rules.require_features(call, own, shape)
            states: Sequence[Value] = (hx,) if kind != "LSTM" else call.items(hx) or ()
            for state, name in zip(states, ("hx", "cx"), strict=False):
                if isinstance(state, Tensor | Opaque):
                    rules.require_cell_state(call, shape, call.shape(state), hidden, name)
            result = _like_rows(call, shape, hidden)
            return Tup((result, result)) if kind == "LSTM" else result

    return Cell


def _like_rows(call: Call, shape: Shape, hidden: Dim | None) -> Tensor:
    last = call.symbol("hidden_size") if hidden is None else hidden
    return call.tensor(with_last(call, call.facts.shape(shape), last), "float")


for _kind in GATES:
    layer(f"torch.nn.{_kind}")(_layer(_kind))
    layer(f"torch.nn.{_kind}Cell")(_cell(_kind))
