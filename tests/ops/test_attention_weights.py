"""`F.multi_head_attention_forward`, whose weights the program has by itself: what is told beside what PyTorch does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from interp.programs import errors_of, revealed

HEAD = "import torch\nimport torch.nn.functional as F\n"
APART = "in_proj_weight=None, use_separate_proj_weight=True"
FORMS: list[dict[str, Sequence[int]]] = [
    {},
    {"out": (8, 8)},
    {"out": (5, 7)},
    {"out": (8,)},
    {"out": (5, 8, 1)},
    {"bias": (23,)},
    {"bias": (8,)},
    {"bias": (1,)},
    {"key": (6,)},
    {"key": (6,), "value": (10,)},
    {"key": (6,), "k": (8, 8)},
    {"q": (8, 9)},
    {"q": (9, 8)},
    {"q": (8,)},
    {"k": (8, 9)},
    {"k": (16, 8)},
    {"v": (8, 9)},
    {"packed": (24, 9)},
    {"packed": (25, 8)},
    {"packed": (16, 8)},
]


def program(form: dict[str, Sequence[int]], apart: bool) -> str:
    key, value = form.get("key", (8,))[0], form.get("value", (8,))[0]
    sizes = {"q": (8, 8), "k": (8, key), "v": (8, value), "packed": (24, 8), "bias": (24,), "out": (5, 8)}
    made = {name: f"torch.zeros({tuple(form.get(name, size))})" for name, size in sizes.items()}
    weights = ", ".join([APART, *(f"{name}_proj_weight={made[name]}" for name in "qkv")])
    weights = weights if apart else f"in_proj_weight={made['packed']}"
    return (
        f"y, _ = F.multi_head_attention_forward(torch.zeros(4, 2, 8), torch.zeros(6, 2, {key}), "
        f"torch.zeros(6, 2, {value}), 8, 2, in_proj_bias={made['bias']}, bias_k=None, bias_v=None, add_zero_attn=False, "
        f"dropout_p=0.0, out_proj_weight={made['out']}, out_proj_bias=None, {weights})\n"
    )


@pytest.mark.requires("torch")
@pytest.mark.parametrize("apart", [True, False])
def test_weights_that_do_not_fit(apart: bool) -> None:
    for form in FORMS:
        text, names = HEAD + program(form, apart), dict[str, object]()
        try:
            exec(text, names)
        except (RuntimeError, AssertionError, ValueError, IndexError):
            assert len(errors_of(text)) == 1, (form, apart)
        else:
            shape = list(names["y"].shape)  # type: ignore[attr-defined]
            assert not errors_of(text), (form, apart)
            assert revealed(f"{text}reveal_shape(y)\n") == [f"Tensor{shape}"], (form, apart)
