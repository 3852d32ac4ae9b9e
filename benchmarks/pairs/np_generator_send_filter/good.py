"""An adaptive filter as a coroutine: it is sent a block of samples and the wanted signal, and gives back what it predicts."""

from collections.abc import Generator

import numpy as np

TAPS = 8


def adaptive(taps: int, rate: float) -> Generator[np.ndarray | None, tuple[np.ndarray, np.ndarray], None]:
    weights = np.zeros(taps)
    predicted = None
    while True:
        block, wanted = yield predicted
        predicted = block @ weights
        error = wanted - predicted
        weights = weights + rate * block.T @ error / len(block)


def windows(signal: np.ndarray, size: int) -> np.ndarray:
    return np.lib.stride_tricks.sliding_window_view(signal, size)


def main() -> None:
    rng = np.random.default_rng(0)
    signal = rng.standard_normal(256)
    blocks = windows(signal[:-1], TAPS)
    wanted = signal[TAPS:]
    learner = adaptive(TAPS, rate=0.05)
    next(learner)
    for start in range(0, 240, 60):
        predicted = learner.send((blocks[start : start + 60], wanted[start : start + 60]))
        print(float(np.mean((predicted - wanted[start : start + 60]) ** 2)))


if __name__ == "__main__":
    main()
