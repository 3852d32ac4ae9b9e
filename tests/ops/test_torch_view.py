"""Reshaping, axes, expanding: against torch and NumPy, and what the messages say."""

from __future__ import annotations

import pytest

from distml.shapes import Facts
from distml.values import Const, Lib, Tup

from ops.fuzz import numpy_tally, torch_tally
from ops.replay import family, replay_op_db, replay_op_db_errors
from ops.scene import Scene, scene

MODULES = ("view", "axes", "expand")
FUNCTIONS = (
    *("reshape", "broadcast_to", "flatten", "transpose", "swapaxes", "squeeze", "unsqueeze", "expand_dims"),
    *("permute", "movedim", "moveaxis", "tile", "unflatten"),
)


@pytest.mark.requires("torch")
@pytest.mark.parametrize(
    ("mode", "exact", "ranked"), [("exact", 0.95, 0.95), ("symbolic", 0.8, 0.9), ("opaque", 0, 0.28)]
)
def test_torch_samples(mode: str, exact: float, ranked: float) -> None:
    tally = replay_op_db(family(*MODULES), mode, limit=20)
    assert not tally.wrong
    assert not tally.counts["unbound"]
    assert tally.share("exact") >= exact
    assert tally.share("exact", "partial") >= ranked


@pytest.mark.requires("torch")
def test_torch_error_samples() -> None:
    assert not replay_op_db_errors(family(*MODULES)).missed


@pytest.mark.requires("torch")
@pytest.mark.parametrize(("mode", "exact"), [("exact", 1), ("symbolic", 0.85), ("opaque", 0), ("numbers", 0.5)])
def test_random_torch_calls(mode: str, exact: float) -> None:
    tally = torch_tally(FUNCTIONS, mode)
    assert not tally.wrong
    assert not tally.missed
    assert tally.share("exact", "found") >= exact


@pytest.mark.requires("numpy")
@pytest.mark.parametrize(("mode", "exact"), [("exact", 1), ("symbolic", 0.85), ("opaque", 0), ("numbers", 0.5)])
def test_random_numpy_calls(mode: str, exact: float) -> None:
    tally = numpy_tally(FUNCTIONS, mode)
    assert not tally.wrong
    assert not tally.missed
    assert tally.share("exact", "found") >= exact


__all__ = ["scene"]

VIEW = "torch.Tensor.view"


def test_flattened_convolution_with_the_wrong_count(scene: Scene) -> None:
    code, message, hint = scene.error(VIEW, scene.tensor(8, 16, 5, 5), -1, 256)
    assert code == "SHP201"
    assert message == "view: [8, 16, 5, 5] (3200 elements) cannot become [-1, 256]: 3200 is no multiple of 256"
    assert hint == "one of the 8 items has 400 elements (16*5*5): use 400, or flatten(1)"


def test_an_unknown_batch_is_no_excuse(scene: Scene) -> None:
    code, message, hint = scene.error(VIEW, scene.tensor(scene.b, 16, 5, 5), scene.b, 256)
    assert code == "SHP201"
    assert message == "view: [b, 16, 5, 5] (400*b elements) cannot become [b, 256] (256*b elements)"
    assert hint == "one of the b items has 400 elements (16*5*5): use 400, or flatten(1)"


def test_the_nearest_shape_that_fits(scene: Scene) -> None:
    assert scene.error(VIEW, scene.tensor(4, 10, 64), 4, 10, 8, 16)[2] == "[4, 10, 8, 8] would fit"


def test_a_rest_is_computed_exactly(scene: Scene) -> None:
    b, n = scene.b, scene.n
    assert scene.shape(VIEW, scene.tensor(b, n, 12 * n), b, n, -1, 4) == "[b, n, 3*n, 4]"
    assert scene.shape(VIEW, scene.tensor(b, 16, 5, 5), b, -1) == "[b, 400]"
    assert scene.error(VIEW, scene.tensor(b, 401), b, -1, 2)[0] == "SHP201"


def test_heads_that_are_not_known_keep_the_other_sizes(scene: Scene) -> None:
    """nanoGPT's `view(B, T, self.n_head, C // self.n_head)`: the number of heads cannot be -1."""
    heads = scene.opaque("n_head")
    channels = Facts(scene.world).symbol("c")
    known = scene.world.begin("x").dim(heads)
    assert known is not None
    x = scene.tensor(scene.b, scene.n, channels)
    assert scene.shape(VIEW, x, scene.b, scene.n, heads, channels // known) == "[b, n, n_head, (c//n_head)]"


def test_a_size_of_which_nothing_is_known_may_be_minus_one(scene: Scene) -> None:
    assert scene.shape(VIEW, scene.tensor(scene.b, 12), scene.b, scene.opaque("k"), 4) == "[b, 3, 4]"
    made = scene.call(VIEW, scene.tensor(scene.b, 12), scene.opaque("j"), scene.opaque("k"))
    assert made.shape.rank == 2


def test_unknown_ranks_stay_useful(scene: Scene) -> None:
    x = scene.opaque("x")
    assert scene.shape(VIEW, x, scene.b, -1, 4, 5) == "[b, size, 4, 5]"
    assert scene.shape("torch.Tensor.permute", scene.opaque("y"), 0, 2, 1) == "[y0, y2, y1]"
    assert scene.shape("torch.flatten", scene.opaque("z"), 1) == "[z0, features]"
    assert scene.shape("torch.unsqueeze", scene.opaque("u"), -1) == "[..., 1]"
    assert scene.shape("torch.transpose", scene.opaque("t"), 1, 2) == "[t0, t2, t1, ...]"


def test_permute_learns_the_rank(scene: Scene) -> None:
    x = scene.opaque("x")
    scene.call("torch.Tensor.permute", x, 0, 2, 1)
    assert scene.error("torch.Tensor.permute", x, 0, 1)[0] == "SHP205"


def test_a_view_as_another_type_keeps_the_rank(scene: Scene) -> None:
    made = scene.call(VIEW, scene.tensor(2, 3), Lib("torch.int16"))
    assert made.shape.rank == 2
    assert made.dtype == "int"


def test_expand_names_the_axis_that_cannot(scene: Scene) -> None:
    code, message, hint = scene.error("torch.Tensor.expand", scene.tensor(64), 32, 128)
    assert (code, hint) == ("SHP206", "only an axis of size 1 can be expanded")
    assert message == "expand: an axis of size 64 cannot become 128 ([64])"


def test_squeeze_of_a_size_that_may_be_one(scene: Scene) -> None:
    assert scene.shape("torch.squeeze", scene.tensor(scene.b, 1, 28)) == "[..., 28]"
    assert scene.shape("torch.squeeze", scene.tensor(scene.b, 1, 28), 1) == "[b, 28]"
    assert scene.shape("torch.squeeze", scene.tensor(8, 1, 28, 1), (1, 3)) == "[8, 28]"


def test_in_place_changes_go_through_the_world(scene: Scene) -> None:
    assert scene.shape("torch.Tensor.unsqueeze_", scene.tensor(3), 0) == "[1, 3]"
    assert scene.shape("torch.Tensor.t_", scene.tensor(3, 4)) == "[4, 3]"


def test_constants_of_axes_are_values(scene: Scene) -> None:
    x = scene.tensor(2, 3, 4)
    assert scene.shape("torch.Tensor.permute", x, Tup((Const(2), Const(0), Const(1)))) == "[4, 2, 3]"
    assert scene.shape("torch.unsqueeze", x, axis=1) == "[2, 1, 3, 4]"
