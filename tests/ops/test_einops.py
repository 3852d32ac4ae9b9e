"""einops against the real one, on NumPy arrays."""

from __future__ import annotations

from typing import Any

import pytest

from distml.ops import ShapeError
from distml.shapes import Dim, Facts, Shape
from distml.values import Const, Opaque, Tensor

from ops.replay import Tally, replay_failing, replay_valid
from ops.world import ScratchWorld

pytestmark = pytest.mark.requires("einops", "numpy")

VALID: list[tuple[str, Any, str, dict[str, Any]]] = [
    ("rearrange", (2, 3, 4), "b c d -> b d c", {}),
    ("rearrange", (2, 3, 4), "b c d -> (b c) d", {}),
    ("rearrange", (6, 4), "(b c) d -> b c d", {"b": 2}),
    ("rearrange", (6, 4), "(b c) d -> b c d", {"b": 2, "c": 3}),
    ("rearrange", (6, 4), "(b 1 c) d -> b c 1 d", {"b": 2}),
    ("rearrange", (2, 3, 32, 32), "b c (h p1) (w p2) -> b (h w) (p1 p2 c)", {"p1": 4, "p2": 8}),
    ("rearrange", (2, 10, 24), "b n (h d) -> b h n d", {"h": 8}),
    ("rearrange", (2, 10, 72), "b n (qkv h d) -> qkv b h n d", {"h": 8, "qkv": 3}),
    ("rearrange", (2, 1, 3), "b 1 c -> b c", {}),
    ("rearrange", (2, 1, 3), "b () c -> b c ()", {}),
    ("rearrange", (2, 3, 4, 5), "b ... c -> c b ...", {}),
    ("rearrange", (2, 3, 4, 5), "b ... c -> b (... c)", {}),
    ("rearrange", (2, 5), "b ... c -> b (...) c", {}),
    ("rearrange", (2, 5), "... -> (...)", {}),
    ("rearrange", (2, 3, 4), "... d -> ... 1 d", {}),
    ("rearrange", [(2, 3), (2, 3)], "l b c -> b (l c)", {}),
    ("reduce", (2, 3, 4, 6), "b c (h 2) (w 3) -> b c h w", {"reduction": "max"}),
    ("reduce", (2, 3, 4, 6), "b c h w -> b c", {"reduction": "mean"}),
    ("reduce", (2, 3, 4, 6), "b c h w -> b c 1 1", {"reduction": "sum"}),
    ("reduce", (2, 3, 4, 6), "b ... -> b", {"reduction": "min"}),
    ("reduce", (2, 3, 4, 6), "b ... w -> ... w", {"reduction": "prod"}),
    ("reduce", (2, 3), "b c ->", {"reduction": "sum"}),
    ("reduce", [(2, 3), (2, 3)], "l b c -> b c", {"reduction": "mean"}),
    ("reduce", (2, 3), "b c -> c b", {"reduction": "rearrange"}),
    ("reduce", (6, 3), "(a b) c -> a (b c)", {"reduction": "rearrange", "a": 2}),
    ("reduce", (2, 3), "b ... -> (b s) ...", {"reduction": "repeat", "s": 4}),
    ("reduce", (2, 3), "b c -> b 1 c 5", {"reduction": "repeat"}),
    ("repeat", (2, 3), "b c -> b n c", {"n": 5}),
    ("repeat", (2, 3), "b c -> (b n) c", {"n": 5}),
    ("repeat", (2, 3), "b c -> b c 4", {}),
    ("repeat", (2, 3), "h w -> (h 2) (w 2)", {}),
    ("repeat", (3,), "d -> b d", {"b": 7}),
    ("repeat", (2, 3, 4), "... d -> ... (d k)", {"k": 2}),
    ("repeat", (1, 3), "1 d -> b d", {"b": 7}),
    ("repeat", (2, 3), "n d -> b n d", {"b": 0}),
    ("repeat", (2, 3), "n d -> n (d k)", {"k": 0}),
    ("rearrange", (0, 3), "a c -> c a", {"a": 0}),
    ("rearrange", (0, 3), "(a b) c -> a b c", {"b": 4}),
    ("rearrange", (0, 3), "(a b) c -> a b c", {"a": 2, "b": 0}),
]

INVALID: list[tuple[str, Any, str, dict[str, Any]]] = [
    ("rearrange", (2, 3, 4), "b c -> c b", {}),
    ("rearrange", (2,), "b c ... -> c b ...", {}),
    ("rearrange", (2, 3, 30, 30), "b c (h p) w -> b (h w) (p c)", {"p": 16}),
    ("rearrange", (2, 3, 4), "b c d -> b c", {}),
    ("rearrange", (2, 3, 4), "b c d -> b c d e", {}),
    ("rearrange", (6, 4), "(b c) d -> b c d", {}),
    ("rearrange", (6, 4), "(b c) d -> b c d", {"b": 4}),
    ("rearrange", (6, 4), "(b c) d -> b c d", {"b": 2, "c": 2}),
    ("rearrange", (6, 4), "b d -> d b", {"b": 5}),
    ("rearrange", (6, 4), "b d -> d b", {"b": 0}),
    ("rearrange", (6, 4), "(b c) d -> b c d", {"b": 0}),
    ("rearrange", (0, 4), "(b c) d -> b c d", {"b": 0}),
    ("rearrange", (6, 4), "b d -> d b", {"x": 5}),
    ("rearrange", (6, 4), "b b -> b", {}),
    ("rearrange", (6, 4), "b (d -> b d", {}),
    ("rearrange", (6, 4), "b d", {}),
    ("rearrange", (6, 4), "b 1 -> b", {}),
    ("rearrange", (6, 2), "b 2 -> b 2", {}),
    ("rearrange", (6, 2), "b c -> b c ...", {}),
    ("rearrange", [(2, 3), (2, 4)], "l b c -> b (l c)", {}),
    ("reduce", (2, 3, 5), "b c (h 2) -> b c h", {"reduction": "max"}),
    ("reduce", (2, 3, 5), "b c h -> b c d", {"reduction": "max"}),
    ("reduce", (2, 3), "b c -> b", {"reduction": "rearrange"}),
    ("reduce", (2, 3), "b c -> b c n", {"reduction": "repeat"}),
    ("reduce", (2, 3), "b c -> b", {"reduction": "repeat", "n": 2}),
    ("repeat", (2, 3), "b c -> b c n", {}),
    ("repeat", (2, 3), "b c -> b c n", {"n": -1}),
    ("repeat", (2, 3), "b c -> b c 0", {}),
    ("repeat", (2, 3), "b c -> b", {}),
]


def real(function: str, shape: Any, pattern: str, options: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
    import einops
    import numpy as np

    made = [np.zeros(s) for s in shape] if isinstance(shape, list) else np.zeros(shape)
    return (made, pattern), getattr(einops, function)


@pytest.mark.parametrize("mode", ["exact", "symbolic", "opaque"])
def test_valid_calls(mode: str) -> None:
    tally = Tally()
    for function, shape, pattern, options in VALID:
        args, call = real(function, shape, pattern, options)
        replay_valid(tally, f"einops.{function}", mode, args, options, call(*args, **options))
    assert not tally.wrong
    assert tally.share("exact", "partial") > (0.6 if mode == "opaque" else 0.99)
    assert tally.share("exact") > {"exact": 0.99, "symbolic": 0.9, "opaque": 0}[mode]


@pytest.mark.parametrize("case", INVALID, ids=lambda case: f"{case[0]} {case[2]}")
def test_what_raises_is_found(case: tuple[str, Any, str, dict[str, Any]]) -> None:
    function, _, _, options = case
    args, call = real(*case)
    with pytest.raises(Exception) as raised:
        call(*args, **options)
    tally = Tally()
    replay_failing(tally, f"einops.{function}", args, options, str(raised.value))
    assert not tally.missed


def test_einsum_pack_and_unpack() -> None:
    import einops
    import numpy as np

    tally = Tally()
    x, y = np.zeros((2, 3, 4)), np.zeros((2, 5, 4))
    sums = (x, y, "b i d, b j d -> b i j")
    trace = (np.zeros((2, 3, 3)), "b i i -> b")
    packs = ([x, np.zeros((2, 4)), np.zeros((2, 3, 5, 4))], "b * d")
    unpacks = (np.zeros((2, 9, 4)), [(3,), (), (5,)], "b * d")
    with_rest = (np.zeros((2, 9, 4)), [(3,), (-1, 2)], "b * d")
    calls = (("einsum", sums), ("einsum", trace), ("pack", packs), ("unpack", unpacks), ("unpack", with_rest))
    for name, args in calls:
        replay_valid(tally, f"einops.{name}", "exact", args, {}, getattr(einops, name)(*args))
    assert not tally.wrong
    assert tally.share("exact") == 1


def test_layers() -> None:
    world = ScratchWorld()
    layer = world.call(
        "einops.layers.torch.Rearrange", Const("b c (h p) (w q) -> b (h w) (p q c)"), p=Const(8), q=Const(8)
    )
    patches = world.apply(layer, [Tensor("torch", Shape.of(2, 3, 32, 32))])
    assert isinstance(patches, Tensor)
    assert patches.shape == Shape.of(2, 16, 192)
    pool = world.call("einops.layers.torch.Reduce", Const("b c h w -> b c"), Const("mean"))
    assert world.apply(pool, [Tensor("torch", Shape.of(2, 3, 8, 8))]).shape == Shape.of(2, 3)  # type: ignore[attr-defined]
    with pytest.raises(ShapeError, match=r"30 of .* is no multiple of 8"):
        world.apply(layer, [Tensor("torch", Shape.of(2, 3, 30, 32))])


def test_unknown_tensor_learns_rank_and_divisibility() -> None:
    world = ScratchWorld()
    x = Opaque("x", world.serial())
    heads = world.call("einops.rearrange", x, Const("b n (h d) -> b h n d"), h=Const(8))
    b, h, n, d = heads.shape.head
    assert (repr(b), h, repr(n), repr(d)) == ("b", 8, "n", "d")
    shape = world.begin("x").shape(x)
    assert Facts(world).shape(shape).head[2] == 8 * d


def test_sizes_that_are_not_known_are_no_error() -> None:
    world = ScratchWorld()
    b = Facts(world).symbol("b")
    x = Tensor("torch", Shape((b, Dim.of(30))))
    made = world.call("einops.rearrange", x, Const("b (h d) -> b h d"), h=Opaque("heads", world.serial()))
    assert made.shape.rank == 3
    assert world.call("einops.rearrange", x, Opaque("pattern", world.serial())).shape.rank is None
