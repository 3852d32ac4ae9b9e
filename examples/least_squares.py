"""Weighted least squares in NumPy: the weights are a row where a column is needed."""

import numpy as np


def fit(design: np.ndarray, observed: np.ndarray, weights: np.ndarray) -> np.ndarray:
    weighted = design * weights
    return np.linalg.solve(weighted.T @ design, weighted.T @ observed)


if __name__ == "__main__":
    print(fit(np.random.rand(200, 4), np.random.rand(200), np.ones(200)))
