"""torch.nn.utils.rnn: padding, packing and unpacking sequences.

https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.ops.call import FALSE, NONE, TRUE, ZERO, Call
from distml.ops.registry import op
from distml.shapes import Dim, Shape
from distml.values import Const, InstanceRecord, Lib, Many, Ref, Tensor, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "torch.nn.utils.rnn.PackedSequence"


class Packed(NamedTuple):
    """What is known of a PackedSequence: its rows, and the batch and length it unpacks to."""

    data: Value
    batch: Dim
    length: Dim

    def again(self, call: Call, data: Value) -> Value:
        """A PackedSequence of the same sequences with other rows."""
        return _instance(call, Packed(data, self.batch, self.length))


def packed(call: Call, value: Value) -> Packed | None:
    """What is known of a value that is a PackedSequence, None if it is none."""
    record = call.world.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, InstanceRecord) or record.cls != Lib(NAME):
        return None
    attrs = record.attrs
    batch, length = call.dim(attrs.get("__batch__", NONE)), call.dim(attrs.get("__length__", NONE))
    return Packed(
        attrs.get("data", call.unknown()),
        call.symbol("batch") if batch is None else batch,
        call.symbol("length") if length is None else length,
    )


def _instance(call: Call, bundle: Packed) -> Value:
    attrs: dict[str, Value] = {
        "data": bundle.data,
        "batch_sizes": call.tensor([bundle.length], "int"),
        "sorted_indices": call.any_of(call.tensor([bundle.batch], "int"), NONE),
        "unsorted_indices": call.any_of(call.tensor([bundle.batch], "int"), NONE),
        "__batch__": call.number(bundle.batch),
        "__length__": call.number(bundle.length),
    }
    return call.world.allocate(InstanceRecord(Lib(NAME), attrs))


@op("torch.nn.utils.rnn.pack_padded_sequence")
def pack_padded_sequence(
    call: Call, input: Value, lengths: Value, batch_first: Value = FALSE, enforce_sorted: Value = TRUE
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html"""
    first = call.flag(batch_first)
    shape = call.facts.at_least(call.shape(input), 2)
    if shape is None:
        call.fail("SHP301", f"{call.text} needs an input with at least 2 axes, gets {call.show(input)}")
    if first is None:
        return _instance(call, Packed(call.unranked(call.dtype(input)), call.symbol("batch"), call.symbol("length")))
    batch = call.facts.axis(shape, 0 if first else 1)
    given = call.shape(lengths)
    if batch is not None and given.rank == 1:
        message = f"{call.text}: the input has a batch of {{left}}, there are {{right}} lengths"
        call.require_equal(batch, given.head[0], "SHP104", message)
    shape = call.facts.shape(shape)
    rows = call.unranked(call.dtype(input)) if shape.dims is None else call.tensor([None, *shape.dims[2:]])
    data = Tensor("torch", rows.shape, call.dtype(input))
    return _instance(call, Packed(data, batch or call.symbol("batch"), _longest(call, lengths)))


def _longest(call: Call, lengths: Value) -> Dim:
    found = [call.const(item, int) for item in call.items(lengths) or ()]
    if found and all(isinstance(n, int) for n in found):
        return Dim.of(max(found))
    return call.symbol("length")


@op("torch.nn.utils.rnn.pad_packed_sequence")
def pad_packed_sequence(
    call: Call,
    sequence: Value,
    batch_first: Value = FALSE,
    padding_value: Value = ZERO,
    total_length: Value = NONE,
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_packed_sequence.html"""
    bundle, first = packed(call, sequence), call.flag(batch_first)
    if bundle is None:
        return Tup((call.unranked(), call.tensor([None], "int")))
    total = call.is_none(total_length)
    length = bundle.length if total else call.dim(total_length) if total is False else None
    rows = call.shape(bundle.data)
    lengths = call.tensor([bundle.batch], "int")
    if rows.dims is None or first is None:
        return Tup((call.unranked(call.dtype(bundle.data)), lengths))
    lead = [bundle.batch, length] if first else [length, bundle.batch]
    return Tup((call.tensor([*lead, *rows.dims[1:]], call.dtype(bundle.data)), lengths))


def _sequences(call: Call, sequences: Value) -> tuple[Dim | None, list[Shape]]:
    found = call.iterate(sequences)
    if isinstance(found, Many):
        return found.length, [call.shape(found.item)]
    return Dim.of(len(found)), [call.shape(item) for item in found]


def _common_rest(call: Call, shapes: Sequence[Shape]) -> tuple[Dim | None, ...] | None:
    """The axes behind the first, which all sequences share."""
    if not shapes or any(shape.dims is None or not shape.dims for shape in shapes):
        return None
    rest = [shape.head[1:] for shape in shapes]
    for other in rest[1:]:
        if len(other) != len(rest[0]) or any(a.differs(b) for a, b in zip(rest[0], other, strict=True)):
            call.fail(
                "SHP203",
                f"{call.text}: the sequences {shapes[0]!r} and {Shape((shapes[0].head[0], *other))!r} differ behind "
                "the first axis",
            )
    return rest[0]


def _padded_length(shapes: Sequence[Shape], known: bool) -> Dim | None:
    """The length of the longest."""
    lengths = [shape.head[0] for shape in shapes]
    if known and all(length == lengths[0] for length in lengths):
        return lengths[0]
    numbers = [length.constant for length in lengths]
    if not known or any(number is None for number in numbers):
        return None
    return Dim.of(max(number for number in numbers if number is not None))


@op("torch.nn.utils.rnn.pad_sequence")
def pad_sequence(
    call: Call,
    sequences: Value,
    batch_first: Value = FALSE,
    padding_value: Value = ZERO,
    padding_side: Value = Const("right"),
) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_sequence.html"""
    count, shapes = _sequences(call, sequences)
    rest, first = _common_rest(call, shapes), call.flag(batch_first)
    if rest is None:
        return call.unranked()
    known = call.items(sequences) is not None
    length = _padded_length(shapes, known)
    if first is None:
        return call.tensor([None, None, *rest])
    return call.tensor([count, length, *rest] if first else [length, count, *rest])


@op("torch.nn.utils.rnn.pack_sequence")
def pack_sequence(call: Call, sequences: Value, enforce_sorted: Value = TRUE) -> Value:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_sequence.html"""
    count, shapes = _sequences(call, sequences)
    rest = _common_rest(call, shapes)
    known = call.items(sequences) is not None
    data = call.unranked() if rest is None else call.tensor([None, *rest])
    length = None if rest is None else _padded_length(shapes, known)
    return _instance(call, Packed(data, count or call.symbol("batch"), length or call.symbol("length")))


@op("torch.nn.utils.rnn.unpad_sequence", "torch.nn.utils.rnn.unpack_sequence")
def unpad_sequence(call: Call, *args: Value, **kwargs: Value) -> Value:
    """A list of sequences of unknown lengths."""
    return Many(call.unknown("sequence"), "list")
