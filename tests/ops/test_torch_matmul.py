"""Products: against torch and NumPy, and what the messages say."""

from __future__ import annotations

import pytest

from ops.fuzz import numpy_tally, torch_tally
from ops.replay import family, replay_op_db, replay_op_db_errors
from ops.scene import Scene, scene

__all__ = ["scene"]

FUNCTIONS = ("matmul", "bmm", "dot", "inner", "tensordot")


@pytest.mark.requires("torch")
@pytest.mark.parametrize(("mode", "exact", "ranked"), [("exact", 0.99, 1), ("symbolic", 0.8, 1), ("opaque", 0, 0.5)])
def test_torch_samples(mode: str, exact: float, ranked: float) -> None:
    tally = replay_op_db(family("matmul"), mode, limit=20)
    assert not tally.wrong
    assert not tally.counts["unbound"]
    assert tally.share("exact") >= exact
    assert tally.share("exact", "partial") >= ranked


@pytest.mark.requires("torch")
def test_torch_error_samples() -> None:
    assert not replay_op_db_errors(family("matmul")).missed


@pytest.mark.requires("torch")
@pytest.mark.parametrize(("mode", "exact"), [("exact", 1), ("symbolic", 0.7), ("opaque", 0)])
def test_random_torch_calls(mode: str, exact: float) -> None:
    # torch.dot takes vectors only: the random operands are NumPy's.
    tally = torch_tally(("matmul", "bmm", "inner", "tensordot"), mode)
    assert not tally.wrong
    assert not tally.missed
    assert tally.share("exact", "found") >= exact


@pytest.mark.requires("numpy")
@pytest.mark.parametrize(("mode", "exact"), [("exact", 1), ("symbolic", 0.7), ("opaque", 0)])
def test_random_numpy_calls(mode: str, exact: float) -> None:
    tally = numpy_tally(FUNCTIONS, mode)
    assert not tally.wrong
    assert not tally.missed
    assert tally.share("exact", "found") >= exact


def test_columns_meet_rows(scene: Scene) -> None:
    code, message, hint = scene.error("torch.matmul", scene.tensor(8, 1600), scene.tensor(3136, 10))
    assert (code, hint) == ("SHP101", None)
    assert message == ("torch.matmul: [8, 1600] @ [3136, 10]: 1600 columns on the left meet 3136 rows on the right")


def test_which_transposition_fits(scene: Scene) -> None:
    assert scene.error("torch.mm", scene.tensor(8, 16), scene.tensor(4, 16))[2] == "transpose the right operand"
    assert scene.error("torch.mm", scene.tensor(16, 8), scene.tensor(16, 4))[2] == "transpose the left operand"
    assert scene.error("torch.mm", scene.tensor(4, 8), scene.tensor(16, 4))[2] == "exchange the operands"


def test_batches_of_bmm_do_not_broadcast(scene: Scene) -> None:
    code, message, _ = scene.error("torch.bmm", scene.tensor(3, 4, 5), scene.tensor(1, 5, 6))
    assert code == "SHP104"
    assert message == "torch.bmm: [3, 4, 5] and [1, 5, 6] have batches of 3 and 1"


def test_the_size_that_meets_is_learned(scene: Scene) -> None:
    scene.call("torch.matmul", scene.tensor(scene.b, scene.n), scene.tensor(64, 10))
    assert scene.error("torch.matmul", scene.tensor(2, scene.n), scene.tensor(65, 10))[0] == "SHP101"


def test_an_unknown_left_operand(scene: Scene) -> None:
    x = scene.opaque("x")
    assert scene.shape("torch.mm", x, scene.tensor(64, 10)) == "[x0, 10]"
    assert scene.shape("torch.matmul", scene.opaque("y"), scene.tensor(64)) == "[...]"


def test_addmm_expands_what_is_added(scene: Scene) -> None:
    left, right = scene.tensor(4, 8), scene.tensor(8, 3)
    assert scene.shape("torch.addmm", scene.tensor(3), left, right) == "[4, 3]"
    assert scene.error("torch.addmm", scene.tensor(4), left, right)[0] in ("SHP102", "SHP206")
    assert scene.error("torch.addmm", scene.tensor(2, 4, 3), left, right)[0] == "SHP206"
