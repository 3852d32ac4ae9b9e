"""Recurrent layers: sequences in, sequences and states out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.ops.rules.ranks import as_rank, match
from distml.shapes import Dim, Shape

if TYPE_CHECKING:
    from distml.ops.call import Call
    from distml.values import Tensor

Dims = tuple[Dim, ...]


class Recurrence(NamedTuple):
    """The sizes of a recurrent layer; None is unknown.

    `layers` counts those of both directions; `out` is the size of the state that is given
    out (the projected one), `cell` that of the cell state; `features` that of the output.
    """

    input: Dim | None
    out: Dim | None
    cell: Dim | None
    layers: Dim | None
    features: Dim | None
    batch_first: bool | None


def require_features(call: Call, layer: Recurrence, input: Shape) -> None:
    """The last axis of the input has the size the layer was made for (SHP401)."""
    gets = call.facts.axis(input, -1)
    hint = None
    if layer.input is not None and gets is not None and layer.input.differs(gets) and gets.constant is not None:
        hint = f"set input_size to {gets}"
    call.require_equal(
        layer.input,
        gets,
        "SHP401",
        f"{call.text} needs {{left}} features on the last axis, gets {{right}} (input {call.show(input)})",
        hint=hint,
    )


def batch_of(layer: Recurrence, dims: Dims) -> Dims | None:
    """The batch axis of an input, () if it has none; None where its place is not known."""
    if len(dims) == 2:
        return ()
    if layer.batch_first is None:
        return None
    return (dims[0] if layer.batch_first else dims[1],)


def require_state(
    call: Call, layer: Recurrence, batch: Dims | None, state: Shape, size: Dim | None, name: str, sure: bool
) -> None:
    """A state is (layers * directions, batch, size), without a batch (layers * directions, size)."""
    state = call.facts.shape(state)
    if batch is None:
        return
    rank = 2 + len(batch)
    dims = as_rank(call, state, rank)
    if dims is None:
        call.fail(
            "SHP405",
            f"{call.text} needs a state {name} with {rank} axes for this input, gets {state!r}",
            *call.notes(*state.head),
        )
    if sure and state.rank is None:
        learned = call.of_rank(state, rank)
        dims = learned.dims or dims
    wanted = [layer.layers, *batch, size]
    shown = ", ".join("?" if d is None else str(d) for d in wanted)
    roles = ["layers and directions", "the batch", "hidden features"]
    if not batch:
        del roles[1]
    for needs, gets, role in zip(wanted, dims, roles, strict=True):
        message = f"{call.text} needs a state {name} [{shown}], gets {state!r}: {{left}} for {role}, not {{right}}"
        match(call, needs, gets, "SHP405", message, sure)


def outputs(call: Call, layer: Recurrence, dims: Dims, cells: bool) -> tuple[Tensor, list[Tensor]]:
    """The output sequence and the last states."""
    output = call.tensor([*dims[:-1], layer.features], "float")
    batch = batch_of(layer, dims)
    middle: list[Dim | None] = [None] if batch is None else list(batch)
    states = [call.tensor([layer.layers, *middle, layer.out], "float")]
    if cells:
        states.append(call.tensor([layer.layers, *middle, layer.cell], "float"))
    return output, states


def require_cell_state(call: Call, input: Shape, state: Shape, hidden: Dim | None, name: str) -> None:
    """The state of a cell has the batch of its input and the hidden size (SHP405)."""
    if call.facts.shape(state).rank not in (None, 1, 2):
        call.fail("SHP405", f"{call.text} needs {name} with 1 or 2 axes, gets {call.show(state)}")
    call.require_equal(
        hidden,
        call.facts.axis(state, -1),
        "SHP405",
        f"{call.text} needs {{left}} hidden features in {name}, gets {{right}} (state {call.show(state)})",
    )
    input, state = call.facts.shape(input), call.facts.shape(state)
    if input.rank == 2 and state.rank == 2:
        call.require_equal(
            input.head[0],
            state.head[0],
            "SHP405",
            f"{call.text}: the input has a batch of {{left}}, {name} one of {{right}}",
        )
