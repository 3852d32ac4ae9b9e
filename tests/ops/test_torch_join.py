"""Joining and splitting: against torch and NumPy, and what the messages say."""

from __future__ import annotations

import pytest

from distml.values import Many, Tup

from ops.fuzz import numpy_tally, torch_tally
from ops.replay import family, replay_op_db, replay_op_db_errors
from ops.scene import Scene, scene

__all__ = ["scene"]

MODULES = ("join", "split")
FUNCTIONS = (
    *("cat", "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack"),
    *("split", "array_split", "chunk", "tensor_split", "unbind"),
)


@pytest.mark.requires("torch")
@pytest.mark.parametrize(
    ("mode", "exact", "ranked"), [("exact", 0.92, 0.98), ("symbolic", 0.5, 0.95), ("opaque", 0, 0.2)]
)
def test_torch_samples(mode: str, exact: float, ranked: float) -> None:
    tally = replay_op_db(family(*MODULES), mode, limit=20)
    assert not tally.wrong
    assert not tally.counts["unbound"]
    assert tally.share("exact") >= exact
    assert tally.share("exact", "partial") >= ranked


@pytest.mark.requires("torch")
def test_torch_error_samples() -> None:
    tally = replay_op_db_errors(family(*MODULES))
    # What is missed is about `out=` or an argument of another type.
    assert all(any(word in m for word in ("out=", "'abc'", "tuple of Tensors", "None")) for m in tally.missed)


@pytest.mark.requires("torch")
@pytest.mark.parametrize(("mode", "exact"), [("exact", 1), ("symbolic", 0.6), ("opaque", 0), ("numbers", 0.4)])
def test_random_torch_calls(mode: str, exact: float) -> None:
    tally = torch_tally(FUNCTIONS, mode)
    assert not tally.wrong
    assert not tally.missed
    assert tally.share("exact", "found") >= exact


@pytest.mark.requires("numpy")
@pytest.mark.parametrize(("mode", "exact"), [("exact", 1), ("symbolic", 0.6), ("opaque", 0), ("numbers", 0.4)])
def test_random_numpy_calls(mode: str, exact: float) -> None:
    tally = numpy_tally(FUNCTIONS, mode)
    assert not tally.wrong
    assert not tally.missed
    assert tally.share("exact", "found") >= exact


def test_a_skip_connection_of_another_size(scene: Scene) -> None:
    deep, skip = scene.tensor(8, 64, 28, 28), scene.tensor(8, 32, 56, 56)
    code, message, _ = scene.error("torch.cat", [deep, skip], dim=1)
    assert code == "SHP203"
    assert message == "torch.cat: [8, 64, 28, 28] and [8, 32, 56, 56] differ on axis 2: 28 and 56"


def test_the_axis_along_which_it_would_work(scene: Scene) -> None:
    parts = [scene.tensor(8, 64), scene.tensor(8, 32)]
    assert scene.error("torch.cat", parts)[2] == "they can be joined along axis 1"
    assert scene.shape("torch.cat", parts, dim=1) == "[8, 96]"


def test_sizes_that_must_be_equal_are_learned(scene: Scene) -> None:
    parts = [scene.tensor(scene.b, scene.n), scene.tensor(8, 32)]
    assert scene.shape("torch.cat", parts, axis=1) == "[8, n + 32]"
    assert scene.error("torch.stack", [scene.tensor(scene.b), scene.tensor(5)])[0] == "SHP203"


def test_empty_vectors_join_anything_in_torch(scene: Scene) -> None:
    assert scene.shape("torch.cat", [scene.tensor(0), scene.tensor(4, 5)], 1) == "[4, 5]"


def test_an_unknown_part_leaves_what_the_others_tell(scene: Scene) -> None:
    made = scene.call("torch.cat", [scene.tensor(8, 64, 28), scene.opaque("skip")], 1)
    assert (made.shape.head[0], made.shape.head[2]) == (8, 28)
    assert made.shape.head[1].constant is None


def test_stack_needs_equal_shapes(scene: Scene) -> None:
    code, message, _ = scene.error("torch.stack", [scene.tensor(3, 4), scene.tensor(3, 5)])
    assert code == "SHP203"
    assert message == "torch.stack needs equal shapes, gets [3, 4] and [3, 5]: 4 is not 5"


def test_a_list_of_unknown_length(scene: Scene) -> None:
    many = Many(scene.tensor(3, 4), "list", scene.n)
    assert scene.shape("torch.stack", many) == "[n, 3, 4]"
    assert scene.shape("torch.cat", many) == "[3*n, 4]"


def test_split_sizes_must_add_up(scene: Scene) -> None:
    code, message, hint = scene.error("torch.split", scene.tensor(32, 100), [32, 32, 32], dim=1)
    assert code == "SHP204"
    assert message == "torch.split: [32, 32, 32] adds up to 96, the axis of [32, 100] has 100"
    assert hint == "the last part would have to be 36"


def test_three_chunks_of_a_symbol(scene: Scene) -> None:
    made = scene.call("torch.Tensor.chunk", scene.tensor(scene.b, 3 * scene.n), 3, dim=-1)
    assert isinstance(made, Tup)
    assert [repr(item.shape) for item in made.items] == ["[b, n]"] * 3


def test_chunks_of_an_unknown_number(scene: Scene) -> None:
    made = scene.call("torch.chunk", scene.tensor(scene.b, 4), 2)
    assert isinstance(made, Many)
    assert made.item.shape.head[1] == 4
