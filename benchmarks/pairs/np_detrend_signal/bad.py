"""Detrends noisy sensor channels with a moving average and reports the peaks."""
import numpy as np


def moving_average(signal, width, mode):
    kernel = np.ones(width) / width
    return np.convolve(signal, kernel, mode=mode)


def detrend(signal, width=9):
    trend = moving_average(signal, width, mode="valid")
    return signal - trend  # bug: 128 samples minus 120


def peaks(signal, threshold):
    inner = signal[1:-1]
    is_peak = (inner > signal[:-2]) & (inner > signal[2:]) & (inner > threshold)
    return np.flatnonzero(is_peak) + 1


def channels(count, samples=128):
    t = np.linspace(0.0, 4.0, samples)
    rng = np.random.default_rng(2)
    for index in range(count):
        drift = 0.5 * index * t
        wave = np.sin(2 * np.pi * (index + 1) * t)
        yield f"ch{index}", wave + drift + 0.1 * rng.normal(size=samples)


def main():
    found = {}
    for name, signal in channels(3):
        flat = detrend(signal)
        found[name] = peaks(flat, threshold=0.5)
    for name, positions in found.items():
        print(f"{name}: {len(positions)} peaks at {positions[:5]}")


main()
