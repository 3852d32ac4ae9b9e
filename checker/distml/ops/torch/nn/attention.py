"""torch.nn: MultiheadAttention and scaled dot product attention.

https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.ops.call import FALSE, NONE, TRUE, ZERO, Call
from distml.ops.registry import layer, op
from distml.ops.rules import attention as rules
from distml.ops.rules.layers import attribute_of, given, optional, parameter, size
from distml.ops.torch.nn.linear import Linear
from distml.values import InstanceRecord, Lib

if TYPE_CHECKING:
    from distml.values import Value


@op("torch.nn.functional.scaled_dot_product_attention")
def scaled_dot_product_attention(
    call: Call,
    query: Value,
    key: Value,
    value: Value,
    attn_mask: Value = NONE,
    dropout_p: Value = ZERO,
    is_causal: Value = FALSE,
    scale: Value = NONE,
    enable_gqa: Value = FALSE,
) -> Value:
    """torch.nn.functional.scaled_dot_product_attention"""
    shapes = call.shape(query), call.shape(key), call.shape(value)
    result = rules.scaled_dot_product(call, *shapes, attn_mask, call.flag(enable_gqa))
    return call.tensor(result, call.dtype(query))


@op("torch.nn.functional.multi_head_attention_forward")
def multi_head_attention_forward(
    call: Call,
    query: Value,
    key: Value,
    value: Value,
    embed_dim_to_check: Value,
    num_heads: Value,
    in_proj_weight: Value,
    in_proj_bias: Value,
    bias_k: Value,
    bias_v: Value,
    add_zero_attn: Value,
    dropout_p: Value,
    out_proj_weight: Value,
    out_proj_bias: Value,
    training: Value = TRUE,
    key_padding_mask: Value = NONE,
    need_weights: Value = TRUE,
    attn_mask: Value = NONE,
    use_separate_proj_weight: Value = FALSE,
    q_proj_weight: Value = NONE,
    k_proj_weight: Value = NONE,
    v_proj_weight: Value = NONE,
    static_k: Value = NONE,
    static_v: Value = NONE,
    average_attn_weights: Value = TRUE,
    is_causal: Value = FALSE,
) -> Value:
    """torch.nn.functional.multi_head_attention_forward: always (length, batch, features)."""
    embed, biased, zero = call.dim(embed_dim_to_check), call.is_none(bias_k), call.flag(add_zero_attn)
    separate, static = call.flag(use_separate_proj_weight), call.is_none(static_k) and call.is_none(static_v)
    own = embed if separate is False else None
    extra = None if biased is None or zero is None or not static else int(not biased) + int(zero)
    shapes = call.shape(query), call.shape(key), call.shape(value)
    apart = (q_proj_weight, k_proj_weight, v_proj_weight) if separate else None
    weights = rules.Weights(NONE if separate is None else in_proj_weight, apart, in_proj_bias, out_proj_weight)
    output = rules.require_weights(call, weights, *shapes)
    heads = rules.Heads(embed, call.dim(num_heads), own, own, batch_first=False, extra=extra, output=output)
    masks = rules.Masks(key_padding_mask, attn_mask if call.flag(is_causal) is False else NONE)
    return rules.attend(call, heads, *shapes, masks, (need_weights, average_attn_weights))


def require_heads(call: Call, embed: Value, heads: Value, name: str = "embed_dim") -> None:
    """The embedding falls into equal heads (SHP404)."""
    width, count = size(call, embed, name, 1), size(call, heads, "num_heads", 1)
    text = f"{call.text}: {name}={{dim}} is not divisible by num_heads={{by}}"
    call.require_divisible(width, count, "SHP404", text)


@layer("torch.nn.MultiheadAttention")
class MultiheadAttention:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html"""

    bases = ("torch.nn.Module",)

    @staticmethod
    def init(
        call: Call,
        embed_dim: Value,
        num_heads: Value,
        dropout: Value = ZERO,
        bias: Value = TRUE,
        add_bias_kv: Value = FALSE,
        add_zero_attn: Value = FALSE,
        kdim: Value = NONE,
        vdim: Value = NONE,
        batch_first: Value = FALSE,
        device: Value = NONE,
        dtype: Value = NONE,
    ) -> dict[str, Value]:
        """embed_dim must be divisible by num_heads."""
        require_heads(call, embed_dim, num_heads)
        width = size(call, embed_dim, "embed_dim", 1)
        heads = size(call, num_heads, "num_heads", 1)
        own = {name: embed_dim if call.is_none(v) else v for name, v in (("kdim", kdim), ("vdim", vdim))}
        return {
            "embed_dim": attribute_of(call, embed_dim, width),
            "num_heads": num_heads,
            "head_dim": call.unknown("head_dim") if heads.constant == 0 else call.number(width // heads),
            "dropout": dropout,
            **own,
            "batch_first": batch_first,
            "add_bias_kv": add_bias_kv,
            "add_zero_attn": add_zero_attn,
            "in_proj_weight": parameter(call, (width * 3, width))
            if call.is_none(kdim) and call.is_none(vdim)
            else call.unknown("in_proj_weight"),
            "in_proj_bias": optional(call, bias, parameter(call, (width * 3,))),
            "out_proj": _projection(call, embed_dim, bias),
        }

    @staticmethod
    def forward(
        call: Call,
        attrs: dict[str, Value],
        query: Value,
        key: Value,
        value: Value,
        key_padding_mask: Value = NONE,
        need_weights: Value = TRUE,
        attn_mask: Value = NONE,
        average_attn_weights: Value = TRUE,
        is_causal: Value = FALSE,
    ) -> Value:
        """The values, and the weights where they are needed."""
        # A causal hint may replace the mask without looking at it.
        mask = attn_mask if call.flag(is_causal) is False else NONE
        masks = rules.Masks(key_padding_mask, mask)
        shapes = call.shape(query), call.shape(key), call.shape(value)
        return rules.attend(call, heads_of(call, attrs), *shapes, masks, (need_weights, average_attn_weights))


def _projection(call: Call, embed_dim: Value, bias: Value) -> Value:
    return call.world.allocate(InstanceRecord(Lib("torch.nn.Linear"), Linear.init(call, embed_dim, embed_dim, bias)))


def heads_of(call: Call, attrs: dict[str, Value]) -> rules.Heads:
    """The sizes of an attention layer."""
    extra = [call.flag(given(call, attrs, name)) for name in ("add_bias_kv", "add_zero_attn")]
    return rules.Heads(
        embed=call.dim(given(call, attrs, "embed_dim")),
        number=call.dim(given(call, attrs, "num_heads")),
        key=call.dim(given(call, attrs, "kdim")),
        value=call.dim(given(call, attrs, "vdim")),
        batch_first=call.flag(given(call, attrs, "batch_first")),
        extra=None if None in extra else sum(bool(e) for e in extra),
    )
