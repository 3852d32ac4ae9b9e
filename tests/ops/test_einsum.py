"""einsum: against torch and NumPy, and what the messages say."""

from __future__ import annotations

import pytest

from distml.ops import ShapeError
from distml.shapes import Facts, Shape
from distml.values import Tensor

from ops.fuzz import numpy_tally, torch_tally
from ops.replay import Tally, replay_valid
from ops.scene import Scene, scene

__all__ = ["scene"]


@pytest.mark.requires("torch")
@pytest.mark.parametrize(("mode", "exact"), [("exact", 1), ("symbolic", 0.5), ("opaque", 0)])
def test_random_torch_calls(mode: str, exact: float) -> None:
    tally = torch_tally(("einsum",), mode, calls=600)
    assert not tally.wrong
    assert not tally.missed
    assert tally.share("exact", "found") >= exact


@pytest.mark.requires("numpy")
@pytest.mark.parametrize(("mode", "exact"), [("exact", 1), ("symbolic", 0.5), ("opaque", 0)])
def test_random_numpy_calls(mode: str, exact: float) -> None:
    tally = numpy_tally(("einsum",), mode, calls=600)
    assert not tally.wrong
    assert not tally.missed
    assert tally.share("exact", "found") >= exact


@pytest.mark.requires("torch")
def test_sublists() -> None:
    import torch

    x, y = torch.zeros(2, 3, 4), torch.zeros(2, 4, 5)
    tally = Tally()
    for args in (
        (x, [0, 1, 2], y, [0, 2, 3], [0, 1, 3]),
        (x, [0, 1, 2], y, [0, 2, 3]),
        (x, [..., 1, 2], y, [..., 2, 3], [..., 1, 3]),
    ):
        replay_valid(tally, "torch.einsum", "exact", args, {}, torch.einsum(*args))
    assert tally.share("exact") == 1


def test_a_label_with_two_sizes(scene: Scene) -> None:
    query, key = scene.tensor(2, 8, 10, 64), scene.tensor(2, 8, 12, 32)
    code, message, _ = scene.error("torch.einsum", "bhid,bhjd->bhij", query, key)
    assert code == "SHP103"
    assert message == "torch.einsum: 'bhid,bhjd->bhij': 'd' is 64 so far and 32 on operand 1"


def test_an_operand_of_another_rank(scene: Scene) -> None:
    message = scene.error("torch.einsum", "bid,bjd->bij", scene.tensor(2, 3, 4), scene.tensor(3, 4))[1]
    assert message == "torch.einsum: 'bid,bjd->bij' wants 3 axes of operand 1, which is [3, 4]"


def test_an_unknown_operand_learns_its_rank(scene: Scene) -> None:
    key = scene.opaque("k")
    assert scene.shape("torch.einsum", "bhid,bhjd->bhij", scene.tensor(2, 8, 10, 64), key) == "[2, 8, 10, j]"
    assert Facts(scene.world).shape(scene.world.begin("x").shape(key)).rank == 4


def test_an_unknown_operand_under_an_ellipsis(scene: Scene) -> None:
    assert scene.shape("torch.einsum", "...ij,...jk->...ik", scene.opaque("x"), scene.tensor(3, 4)) == "[..., x_2, 4]"


def test_an_equation_that_is_not_known(scene: Scene) -> None:
    made = scene.call("torch.einsum", scene.opaque("equation"), scene.tensor(2, 3))
    assert made.shape != Shape.of(2, 3)
    assert made.shape.rank is None


@pytest.mark.parametrize(("library", "function"), [("jax", "jax.numpy.einsum"), ("torch", "torch.einsum")])
def test_axes_of_dots_that_the_result_lacks_are_summed(library: str, function: str, scene: Scene) -> None:
    first, second = (Tensor(library, Shape.of(*sizes), "float") for sizes in ((4, 2), (2, 4)))
    assert scene.shape(function, "...j,jk->jk", first, second) == "[2, 4]"


def test_numpy_refuses_axes_of_dots_that_the_result_lacks(scene: Scene) -> None:
    first, second = (Tensor("numpy", Shape.of(*sizes), "float") for sizes in ((4, 2), (2, 4)))
    with pytest.raises(ShapeError):
        scene.call("numpy.einsum", "...j,jk->jk", first, second)
