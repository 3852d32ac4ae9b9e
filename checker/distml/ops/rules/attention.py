"""Attention: queries that look at keys and get values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from distml.ops.broadcast import meet
from distml.ops.rules.layers import known_shape
from distml.ops.rules.linear import with_last
from distml.ops.rules.ranks import Dims, as_rank, match
from distml.shapes import Dim, Shape
from distml.values import NONE, Tensor, Tup, Value

if TYPE_CHECKING:
    from distml.ops.call import Call


class Heads(NamedTuple):
    """The sizes of a multi-head attention; `extra` keys are added to the sequence, `output` is what the last projection gives
    where that is not the embedding."""

    embed: Dim | None
    number: Dim | None
    key: Dim | None
    value: Dim | None
    batch_first: bool | None
    extra: int | None = 0
    output: Dim | None = None


class Weights(NamedTuple):
    """The weights of the projections of queries, keys and values, one under the other or apart, their bias, and the last one."""

    together: Value
    apart: tuple[Value, Value, Value] | None
    bias: Value
    last: Value


class Masks(NamedTuple):
    """The optional masks: which keys are padding, and which query may see which key."""

    padding: Value = NONE
    attention: Value = NONE


class Lengths(NamedTuple):
    """The axes of query and key by their meaning, where they are known."""

    batch: Dim | None
    queries: Dim | None
    keys: Dim | None


def require_features(call: Call, shape: Shape, needs: Dim | None, name: str) -> None:
    """The last axis has the embedding size (SHP401)."""
    call.require_equal(
        needs,
        call.facts.axis(shape, -1),
        "SHP401",
        f"{call.text} needs {{left}} features on the last axis of the {name}, gets {{right}} "
        f"({name} {call.show(shape)})",
    )


def attend(
    call: Call, heads: Heads, query: Shape, key: Shape, value: Shape, masks: Masks, weights: tuple[Value, Value]
) -> Value:
    """torch.nn.MultiheadAttention: the values and the weights; `weights` are need_weights, average_attn_weights."""
    triple = (("query", query, heads.embed), ("key", key, heads.key), ("value", value, heads.value))
    for name, shape, needs in triple:
        call.of_rank(shape, 2, 3, what=f"a {name}")
        require_features(call, shape, needs, name)
    query, key, value = _same_rank(call, {name: shape for name, shape, _ in triple})
    lengths = _lengths(call, heads, query, key, value)
    _require_masks(call, heads, lengths, masks, query.rank)
    features = heads.output or heads.embed or call.symbol("embed_dim")
    output = Tensor("torch", with_last(call, query, features), "float")
    wanted, flag = _weights(call, heads, lengths, query.rank, weights[1]), call.flag(weights[0])
    return Tup((output, call.any_of(wanted, NONE) if flag is None else wanted if flag else NONE))


def require_weights(call: Call, weights: Weights, query: Shape, key: Shape, value: Shape) -> Dim:
    """Fail where weights do not fit the features that they are multiplied with (SHP401); gives the features of the result.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html: apart they are [E, E], [E, kdim] and
    [E, vdim], together [3E, E]; the bias is [3E], and the last ones have E columns.
    """
    features = [call.facts.axis(shape, -1) for shape in (query, key, value)]
    embed = features[0]
    three = None if embed is None else embed * 3
    if weights.apart is None:
        _require_weight(call, weights.together, "in_proj_weight", three, embed)
    else:
        for name, weight, columns in zip(("q", "k", "v"), weights.apart, features, strict=True):
            _require_weight(call, weight, f"{name}_proj_weight", embed, columns)
    _require_weight(call, weights.bias, "in_proj_bias", three)
    return _require_weight(call, weights.last, "out_proj_weight", None, embed) or call.symbol("features")


def _require_weight(call: Call, weight: Value, name: str, *sizes: Dim | None) -> Dim | None:
    """Fail where a weight is not of these sizes, as far as they are known; gives the first one that it has."""
    if not isinstance(weight, Tensor):
        return None
    shape = call.of_rank(call.shape(weight), len(sizes), what=name)
    needed = ", ".join("..." if size is None else str(size) for size in sizes)
    for axis, size in enumerate(sizes):
        text = f"{call.text}: {name} is {shape!r}, [{needed}] is needed"
        call.require_equal(size, call.facts.axis(shape, axis), "SHP401", text)
    return call.facts.axis(shape, 0)


def _same_rank(call: Call, shapes: dict[str, Shape]) -> tuple[Shape, Shape, Shape]:
    """Query, key and value are all with a batch or all without (SHP301)."""
    ranks = {call.facts.shape(shape).rank for shape in shapes.values()} - {None}
    if len(ranks) == 1:
        rank = ranks.pop()
        query, key, value = (
            call.of_rank(shape, rank, what=f"a {name}") if rank else shape for name, shape in shapes.items()
        )
        return query, key, value
    query, key, value = (call.facts.shape(shape) for shape in shapes.values())
    if len(ranks) > 1:
        call.fail(
            "SHP301",
            f"{call.text}: query {query!r}, key {key!r} and value {value!r} are partly with a batch, partly without",
        )
    return query, key, value


def _lengths(call: Call, heads: Heads, query: Shape, key: Shape, value: Shape) -> Lengths:
    if query.dims is None or key.dims is None or value.dims is None:
        return Lengths(None, None, None)
    if len(query.dims) == 2:
        _match_sequences(call, key, value, 0)
        return Lengths(None, query.dims[0], key.dims[0])
    if heads.batch_first is None:
        return Lengths(None, None, None)
    batch, length = (0, 1) if heads.batch_first else (1, 0)
    for name, shape in (("key", key), ("value", value)):
        text = f"{call.text}: the query {query!r} has a batch of {{left}}, the {name} {shape!r} one of {{right}}"
        call.require_equal(query.dims[batch], shape.head[batch], "SHP104", text, hint=_batch_hint(heads))
    _match_sequences(call, key, value, length)
    return Lengths(query.dims[batch], query.dims[length], key.dims[length])


def _batch_hint(heads: Heads) -> str | None:
    return None if heads.batch_first else "is the batch the first axis? then set batch_first=True"


def _match_sequences(call: Call, key: Shape, value: Shape, axis: int) -> None:
    text = f"{call.text}: the key {key!r} has a length of {{left}}, the value {value!r} one of {{right}}"
    call.require_equal(key.head[axis], value.head[axis], "SHP104", text)


def _require_masks(call: Call, heads: Heads, lengths: Lengths, masks: Masks, rank: int | None) -> None:
    if rank is None:
        return
    padding, attention = known_shape(call, masks.padding), known_shape(call, masks.attention)
    if padding is not None:
        wanted = (lengths.keys,) if rank == 2 else (lengths.batch, lengths.keys)
        require_mask(call, "key_padding_mask", padding, wanted)
    if attention is None:
        return
    if attention.rank is not None and attention.rank not in (2, 3):
        call.fail("SHP301", f"{call.text} needs attn_mask with 2 or 3 axes, gets {attention!r}")
    if attention.rank == 2:
        require_mask(call, "attn_mask", attention, (lengths.queries, lengths.keys))
    elif attention.rank == 3:
        batch = Dim.of(1) if rank == 2 else lengths.batch
        rows = None if batch is None or heads.number is None else batch * heads.number
        require_mask(call, "attn_mask", attention, (rows, lengths.queries, lengths.keys))


def require_mask(call: Call, name: str, mask: Shape, wanted: tuple[Dim | None, ...]) -> None:
    """A mask has exactly the axes that are wanted (SHP104)."""
    dims = as_rank(call, mask, len(wanted))
    shown = ", ".join("?" if d is None else str(d) for d in wanted)
    if dims is None:
        call.fail("SHP301", f"{call.text} needs {name} [{shown}], gets {mask!r}")
    for needs, gets in zip(wanted, dims, strict=True):
        text = f"{call.text} needs {name} [{shown}], gets {mask!r}: {{right}}, not {{left}}"
        match(call, needs, gets, "SHP104", text, sure=mask.rank is not None)


def _weights(call: Call, heads: Heads, lengths: Lengths, rank: int | None, average: Value) -> Value:
    if rank is None:
        return call.unranked("float")
    keys = None if lengths.keys is None or heads.extra is None else lengths.keys + heads.extra
    table: list[Dim | None] = [lengths.queries, keys]
    batch = [] if rank == 2 else [lengths.batch]
    flat, full = call.tensor([*batch, *table], "float"), call.tensor([*batch, heads.number, *table], "float")
    flag = call.flag(average)
    return call.any_of(flat, full) if flag is None else flat if flag else full


def scaled_dot_product(call: Call, query: Shape, key: Shape, value: Shape, mask: Value, grouped: bool | None) -> Shape:
    """torch.nn.functional.scaled_dot_product_attention: (..., L, E), (..., S, E), (..., S, V) to (..., L, V)."""
    shapes = {"query": query, "key": key, "value": value}
    for name, shape in shapes.items():
        if call.facts.at_least(shape, 2) is None:
            call.fail("SHP301", f"{call.text} needs a {name} with at least 2 axes, gets {call.show(shape)}")
    text = f"{call.text}: the query {call.show(query)} has {{left}} features, the key {call.show(key)} {{right}}"
    call.require_equal(call.facts.axis(query, -1), call.facts.axis(key, -1), "SHP401", text)
    text = f"{call.text}: the key {call.show(key)} has a length of {{left}}, the value {call.show(value)} {{right}}"
    call.require_equal(call.facts.axis(key, -2), call.facts.axis(value, -2), "SHP104", text)
    query, key, value = (call.facts.shape(shape) for shape in (query, key, value))
    last = call.facts.axis(value, -1) or call.symbol("features")
    if query.dims is None or key.dims is None or value.dims is None:
        return with_last(call, query, last) if query.dims is not None and not grouped else call.facts.unknown_shape()
    lead = _lead(call, (query.dims, key.dims, value.dims), grouped)
    if lead is None:
        return call.facts.unknown_shape()
    _require_score_mask(call, mask, Shape((*lead.head, query.dims[-2], key.dims[-2])))
    return Shape((*lead.head, query.dims[-2], last))


def _lead(call: Call, triple: tuple[Dims, Dims, Dims], grouped: bool | None) -> Shape | None:
    """The axes before the sequences: they broadcast, but for heads that share a key."""
    if grouped is None:
        return None
    if grouped and all(len(dims) > 2 for dims in triple):
        for dims in triple[1:]:
            text = f"{call.text}: {{dim}} query heads are not divisible by {{by}} key or value heads"
            call.require_divisible(triple[0][-3], dims[-3], "SHP404", text)
        batch = call.broadcast(
            *(Shape(dims[:-3]) for dims in triple), code="SHP104", message=f"{call.text}: batch axes"
        )
        return Shape((*batch.head, triple[0][-3]))
    return call.broadcast(*(Shape(dims[:-2]) for dims in triple), code="SHP104", message=f"{call.text}: batch axes")


def _require_score_mask(call: Call, mask: Value, scores: Shape) -> None:
    """The mask broadcasts to the scores (SHP104)."""
    shape = known_shape(call, mask)
    if shape is None or shape.dims is None:
        return
    pairs = zip(reversed(scores.head), reversed(shape.dims), strict=False)
    wrong = [(needs, gets) for needs, gets in pairs if gets != 1 and meet(call, needs, gets) is None]
    wrong += [
        (needs, gets)
        for needs, gets in zip(reversed(scores.head), reversed(shape.dims), strict=False)
        if needs == 1 and gets.constant not in (None, 0, 1)
    ]
    if wrong or len(shape.dims) > len(scores.head):
        dims = [dim for pair in wrong for dim in pair]
        call.fail("SHP104", f"{call.text}: attn_mask {shape!r} does not fit the scores {scores!r}", *call.notes(*dims))


def attend_heads(call: Call, query: Shape, key: Shape, value: Shape) -> Shape:
    """Attention with the heads before the features, as JAX keeps them: (..., T, N, E), (..., S, K, E), (..., S, K, V)
    to (..., T, N, V), where N is a multiple of K."""
    query, key, value = (call.facts.shape(shape) for shape in (query, key, value))
    if query.dims is None or key.dims is None or value.dims is None:
        return call.facts.unknown_shape()
    ranks = {len(query.dims), len(key.dims), len(value.dims)}
    if len(ranks) > 1 or min(ranks) < 3:
        text = f"{call.text}: query {query!r}, key {key!r} and value {value!r} must have as many axes, 3 at least"
        call.fail("SHP301", text, *call.notes(*query.dims, *key.dims))
    for other, name in ((key, "key"), (value, "value")):
        for one, two in zip(query.dims[:-3], other.head[:-3], strict=True):
            text = f"{call.text}: the query {query!r} and the {name} {other!r} differ in a batch axis: {{left}} and {{right}}"
            call.require_equal(one, two, "SHP104", text)
    text = f"{call.text}: the query {query!r} has {{left}} features, the key {key!r} {{right}}"
    call.require_equal(query.dims[-1], key.dims[-1], "SHP401", text)
    for axis, what in ((-3, "a length"), (-2, "heads")):
        text = f"{call.text}: the key {key!r} and the value {value!r} differ in {what}: {{left}} and {{right}}"
        call.require_equal(key.dims[axis], value.dims[axis], "SHP104", text)
    text = f"{call.text}: {{dim}} query heads are not divisible by {{by}} key heads"
    call.require_divisible(query.dims[-2], key.dims[-2], "SHP404", text)
    return Shape((*query.dims[:-1], value.dims[-1]))
