"""Linear algebra and Fourier transforms: against torch, and what the messages say."""

from __future__ import annotations

import pytest

from ops.replay import family, replay_op_db, replay_op_db_errors
from ops.scene import Scene, scene

__all__ = ["scene"]

LINALG = ("linalg", "solve", "norms")
SPECTRA = ("fft", "signal")


@pytest.mark.requires("torch")
@pytest.mark.parametrize(("mode", "exact"), [("exact", 0.95), ("symbolic", 0.5), ("opaque", 0)])
def test_linear_algebra(mode: str, exact: float) -> None:
    tally = replay_op_db(family(*LINALG), mode, limit=8)
    assert not tally.wrong
    assert not tally.counts["unbound"]
    assert tally.share("exact") >= exact


@pytest.mark.requires("torch")
@pytest.mark.parametrize(("mode", "exact"), [("exact", 1), ("symbolic", 0.99), ("opaque", 0.3)])
def test_spectra(mode: str, exact: float) -> None:
    tally = replay_op_db(family(*SPECTRA), mode, limit=8)
    assert not tally.wrong
    assert tally.share("exact") >= exact


@pytest.mark.requires("torch")
def test_error_samples() -> None:
    tally = replay_op_db_errors(family(*LINALG, *SPECTRA))
    # What is missed is about other parameters than sizes.
    assert all("windows" in m or "ormqr" in m for m in tally.missed)


@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "eigh", "slogdet", "matrix_exp"])
def test_square_matrices(scene: Scene, name: str) -> None:
    code, message, _ = scene.error(f"torch.linalg.{name}", scene.tensor(5, 3, 4))
    assert code == "SHP105"
    assert message == f"torch.linalg.{name} needs square matrices, gets [5, 3, 4]: 3 rows, 4 columns"


def test_square_is_learned(scene: Scene) -> None:
    assert scene.shape("torch.linalg.inv", scene.tensor(scene.b, 3)) == "[3, 3]"


def test_solve(scene: Scene) -> None:
    assert scene.shape("torch.linalg.solve", scene.tensor(7, 3, 3), scene.tensor(7, 3)) == "[7, 3]"
    assert scene.shape("torch.linalg.solve", scene.tensor(7, 3, 3), scene.tensor(3, 5)) == "[7, 3, 5]"
    code, message, _ = scene.error("torch.linalg.solve", scene.tensor(3, 3), scene.tensor(4, 2))
    assert code == "SHP101"
    assert "[3, 3] has 3 columns, the right-hand side [4, 2] has 4 rows" in message


def test_svd_and_qr_of_symbols(scene: Scene) -> None:
    u, s, vh = scene.call("torch.linalg.svd", scene.tensor(scene.b, 5, 5)).items
    assert [repr(t.shape) for t in (u, s, vh)] == ["[b, 5, 5]", "[b, 5]", "[b, 5, 5]"]
    q, r = scene.call("torch.linalg.qr", scene.tensor(scene.n, scene.n)).items
    assert [repr(t.shape) for t in (q, r)] == ["[n, n]", "[n, n]"]


def test_spectra_of_symbols(scene: Scene) -> None:
    assert scene.shape("torch.fft.rfft", scene.tensor(4, scene.n)) == "[4, (n//2) + 1]"
    assert scene.shape("torch.fft.irfft", scene.tensor(4, scene.n)) == "[4, 2*n - 2]"
    spectrum = scene.call("torch.stft", scene.tensor(2, 16000), 400, 160, return_complex=True)
    assert repr(spectrum.shape) == "[2, 201, 101]"


def test_a_window_longer_than_the_input(scene: Scene) -> None:
    code, message, _ = scene.error("torch.stft", scene.tensor(2, 100), 400, 160, center=False, return_complex=True)
    assert code == "SHP403"
    assert message == "torch.stft: a window of 400 points is longer than the input of 100"
