"""torch.nn: Transformer, its encoder and decoder and their layers.

https://docs.pytorch.org/docs/stable/generated/torch.nn.Transformer.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, TRUE, ZERO, Call
from distml.ops.registry import layer, op
from distml.ops.rules import attention as rules
from distml.ops.rules.layers import given, size
from distml.ops.torch.nn.attention import MultiheadAttention, heads_of, require_heads
from distml.values import Const, InstanceRecord, Lib, ListRecord, Ref, Tensor, Value

if TYPE_CHECKING:
    from distml.shapes import Shape

WIDE, RELU, SIX = Const(2048), Const("relu"), Const(6)
MAX_LAYERS = 4


def _attention(call: Call, d_model: Value, nhead: Value, batch_first: Value, bias: Value) -> Value:
    attrs = MultiheadAttention.init(call, d_model, nhead, ZERO, bias, batch_first=batch_first)
    return call.world.allocate(InstanceRecord(Lib("torch.nn.MultiheadAttention"), attrs))


def _layer_attrs(
    call: Call, d_model: Value, nhead: Value, dim_feedforward: Value, batch_first: Value, bias: Value
) -> dict[str, Value]:
    require_heads(call, d_model, nhead, "d_model")
    size(call, dim_feedforward, "dim_feedforward")
    return {
        "d_model": d_model,
        "nhead": nhead,
        "batch_first": batch_first,
        "self_attn": _attention(call, d_model, nhead, batch_first, bias),
    }


def _heads(call: Call, attrs: dict[str, Value]) -> rules.Heads:
    width = given(call, attrs, "d_model")
    own = {"embed_dim": width, "kdim": width, "vdim": width, "num_heads": given(call, attrs, "nhead")}
    flags = {"batch_first": given(call, attrs, "batch_first"), "add_bias_kv": FALSE, "add_zero_attn": FALSE}
    return heads_of(call, {**own, **flags})


def _attend(
    call: Call, heads: rules.Heads, query: Shape, key: Shape, masks: tuple[Value, Value], causal: Value
) -> None:
    """A block that keeps the shape of the query; a causal hint may replace its mask."""
    hinted = call.is_none(causal) is not True and call.flag(causal) is not False
    rules.attend(call, heads, query, key, key, rules.Masks(masks[0], NONE if hinted else masks[1]), (FALSE, TRUE))


@layer("torch.nn.TransformerEncoderLayer")
class TransformerEncoderLayer:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerEncoderLayer.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        d_model: Value,
        nhead: Value,
        dim_feedforward: Value = WIDE,
        dropout: Value = NONE,
        activation: Value = RELU,
        layer_norm_eps: Value = NONE,
        batch_first: Value = FALSE,
        norm_first: Value = FALSE,
        bias: Value = TRUE,
        device: Value = NONE,
        dtype: Value = NONE,
    ) -> dict[str, Value]:
        """d_model must be divisible by nhead."""
        return _layer_attrs(call, d_model, nhead, dim_feedforward, batch_first, bias)

    @staticmethod
    def forward(
        call: Call,
        attrs: dict[str, Value],
        src: Value,
        src_mask: Value = NONE,
        src_key_padding_mask: Value = NONE,
        is_causal: Value = FALSE,
    ) -> Value:
        """The shape of the source."""
        shape = call.shape(src)
        _attend(call, _heads(call, attrs), shape, shape, (src_key_padding_mask, src_mask), is_causal)
        return call.tensor(call.facts.shape(shape), "float")


@layer("torch.nn.TransformerDecoderLayer")
class TransformerDecoderLayer:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerDecoderLayer.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        d_model: Value,
        nhead: Value,
        dim_feedforward: Value = WIDE,
        dropout: Value = NONE,
        activation: Value = RELU,
        layer_norm_eps: Value = NONE,
        batch_first: Value = FALSE,
        norm_first: Value = FALSE,
        bias: Value = TRUE,
        device: Value = NONE,
        dtype: Value = NONE,
    ) -> dict[str, Value]:
        """d_model must be divisible by nhead."""
        attrs = _layer_attrs(call, d_model, nhead, dim_feedforward, batch_first, bias)
        return {**attrs, "multihead_attn": _attention(call, d_model, nhead, batch_first, bias)}

    @staticmethod
    def forward(
        call: Call,
        attrs: dict[str, Value],
        tgt: Value,
        memory: Value,
        tgt_mask: Value = NONE,
        memory_mask: Value = NONE,
        tgt_key_padding_mask: Value = NONE,
        memory_key_padding_mask: Value = NONE,
        tgt_is_causal: Value = FALSE,
        memory_is_causal: Value = FALSE,
    ) -> Value:
        """The shape of the target."""
        heads, target, source = _heads(call, attrs), call.shape(tgt), call.shape(memory)
        _attend(call, heads, target, target, (tgt_key_padding_mask, tgt_mask), tgt_is_causal)
        _attend(call, heads, target, source, (memory_key_padding_mask, memory_mask), memory_is_causal)
        return call.tensor(call.facts.shape(target), "float")


def _stack(call: Call, item: Value, count: Value) -> Value:
    """A ModuleList of copies, which are one module here: their shapes are the same."""
    size(call, count, "num_layers")
    number = call.const(count, int)
    known = isinstance(number, int) and 0 <= number <= 256
    record = ListRecord((item,) * number) if known else ListRecord(None, item, call.dim(count))
    items = call.world.allocate(record)
    return call.world.allocate(InstanceRecord(Lib("torch.nn.ModuleList"), {"__items__": items}))


def _through(
    call: Call, attrs: dict[str, Value], first: Value, rest: tuple[Value, ...], options: dict[str, Value]
) -> Value:
    """Each layer on the result of the one before, until the shape no longer changes."""
    layers = given(call, attrs, "layers")
    own = call.attrs(layers) or {}
    items = own.get("__items__")
    record = call.world.record(items) if isinstance(items, Ref) else None
    if not isinstance(record, ListRecord):
        return call.unknown()
    steps = record.items if record.items is not None else (record.item,)
    for item in steps[:MAX_LAYERS]:
        before = first
        if item is None:
            return call.unknown()
        first = call.world.apply(item, (first, *rest), options)
        if isinstance(first, Tensor) and isinstance(before, Tensor) and call.shape(first) == call.shape(before):
            return _normalized(call, attrs, first)
    known = record.items is not None and len(record.items) <= MAX_LAYERS
    return _normalized(call, attrs, first) if known else call.unknown()


def _normalized(call: Call, attrs: dict[str, Value], value: Value) -> Value:
    norm = given(call, attrs, "norm")
    return value if call.is_none(norm) is not False else call.apply(norm, value)


@layer("torch.nn.TransformerEncoder")
class TransformerEncoder:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerEncoder.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        encoder_layer: Value,
        num_layers: Value,
        norm: Value = NONE,
        enable_nested_tensor: Value = TRUE,
        mask_check: Value = TRUE,
    ) -> dict[str, Value]:
        """Copies of a layer."""
        return {"layers": _stack(call, encoder_layer, num_layers), "num_layers": num_layers, "norm": norm}

    @staticmethod
    def forward(
        call: Call,
        attrs: dict[str, Value],
        src: Value,
        mask: Value = NONE,
        src_key_padding_mask: Value = NONE,
        is_causal: Value = NONE,
    ) -> Value:
        """Through all layers."""
        # Unless told, the stack calls a mask causal only if it has the right size.
        causal = FALSE if call.is_none(is_causal) else is_causal
        options = {"src_mask": mask, "src_key_padding_mask": src_key_padding_mask, "is_causal": causal}
        return _through(call, attrs, src, (), options)


@layer("torch.nn.TransformerDecoder")
class TransformerDecoder:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerDecoder.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(call: Call, decoder_layer: Value, num_layers: Value, norm: Value = NONE) -> dict[str, Value]:
        """Copies of a layer."""
        return {"layers": _stack(call, decoder_layer, num_layers), "num_layers": num_layers, "norm": norm}

    @staticmethod
    def forward(
        call: Call,
        attrs: dict[str, Value],
        tgt: Value,
        memory: Value,
        tgt_mask: Value = NONE,
        memory_mask: Value = NONE,
        tgt_key_padding_mask: Value = NONE,
        memory_key_padding_mask: Value = NONE,
        tgt_is_causal: Value = NONE,
        memory_is_causal: Value = FALSE,
    ) -> Value:
        """Through all layers."""
        options = {
            "tgt_mask": tgt_mask,
            "memory_mask": memory_mask,
            "tgt_key_padding_mask": tgt_key_padding_mask,
            "memory_key_padding_mask": memory_key_padding_mask,
            "tgt_is_causal": FALSE if call.is_none(tgt_is_causal) else tgt_is_causal,
            "memory_is_causal": memory_is_causal,
        }
        return _through(call, attrs, tgt, (memory,), options)


@layer("torch.nn.Transformer")
class Transformer:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.Transformer.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        d_model: Value = Const(512),
        nhead: Value = Const(8),
        num_encoder_layers: Value = SIX,
        num_decoder_layers: Value = SIX,
        dim_feedforward: Value = WIDE,
        dropout: Value = NONE,
        activation: Value = RELU,
        custom_encoder: Value = NONE,
        custom_decoder: Value = NONE,
        layer_norm_eps: Value = NONE,
        batch_first: Value = FALSE,
        norm_first: Value = FALSE,
        bias: Value = TRUE,
        device: Value = NONE,
        dtype: Value = NONE,
    ) -> dict[str, Value]:
        """An encoder and a decoder of layers of one size."""
        attrs = _layer_attrs(call, d_model, nhead, dim_feedforward, batch_first, bias)
        parts: dict[str, Value] = {}
        for name, custom, count in (
            ("Encoder", custom_encoder, num_encoder_layers),
            ("Decoder", custom_decoder, num_decoder_layers),
        ):
            kind = TransformerEncoderLayer if name == "Encoder" else TransformerDecoderLayer
            one = kind.init(call, d_model, nhead, dim_feedforward, batch_first=batch_first, bias=bias)
            item = call.world.allocate(InstanceRecord(Lib(f"torch.nn.Transformer{name}Layer"), one))
            stack = {"layers": _stack(call, item, count), "num_layers": count, "norm": NONE}
            own = call.world.allocate(InstanceRecord(Lib(f"torch.nn.Transformer{name}"), stack))
            parts[name.lower()] = own if call.is_none(custom) else custom
        return {**{k: v for k, v in attrs.items() if k != "self_attn"}, **parts}

    @staticmethod
    def forward(
        call: Call,
        attrs: dict[str, Value],
        src: Value,
        tgt: Value,
        src_mask: Value = NONE,
        tgt_mask: Value = NONE,
        memory_mask: Value = NONE,
        src_key_padding_mask: Value = NONE,
        tgt_key_padding_mask: Value = NONE,
        memory_key_padding_mask: Value = NONE,
        src_is_causal: Value = NONE,
        tgt_is_causal: Value = NONE,
        memory_is_causal: Value = FALSE,
    ) -> Value:
        """The source through the encoder, and with it the target through the decoder."""
        first = {"mask": src_mask, "src_key_padding_mask": src_key_padding_mask, "is_causal": src_is_causal}
        memory = call.world.apply(given(call, attrs, "encoder"), (src,), first)
        second = {
            "tgt_mask": tgt_mask,
            "memory_mask": memory_mask,
            "tgt_key_padding_mask": tgt_key_padding_mask,
            "memory_key_padding_mask": memory_key_padding_mask,
            "tgt_is_causal": tgt_is_causal,
            "memory_is_causal": memory_is_causal,
        }
        return call.world.apply(given(call, attrs, "decoder"), (tgt, memory), second)


@op("torch.nn.Transformer.generate_square_subsequent_mask")
def generate_square_subsequent_mask(call: Call, *args: Value, **options: Value) -> Value:
    """torch.nn.Transformer.generate_square_subsequent_mask: (size, size).

    A static method, so that the size may follow an instance.
    """
    sizes = [*args, options["sz"]] if "sz" in options else list(args)
    found = next((dim for dim in map(call.dim, sizes[:2]) if dim is not None), None)
    return call.tensor([found, found], "float")
