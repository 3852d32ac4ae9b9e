"""PCA with whitening, checked by reconstruction error."""
from typing import NamedTuple

import numpy as np


class Projection(NamedTuple):
    mean: np.ndarray
    basis: np.ndarray
    variances: np.ndarray


def fit(samples, n_components):
    mean = samples.mean(axis=0)
    centered = samples - mean
    covariance = centered.T @ centered / (len(samples) - 1)
    values, vectors = np.linalg.eigh(covariance)
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    return Projection(mean, vectors[:, :n_components], values[:n_components])


def transform(projection, samples, whiten=False):
    scores = (samples - projection.mean) @ projection.basis
    if whiten:
        scores = scores / np.sqrt(projection.variances + 1e-9)
    return scores


def inverse_transform(projection, scores):
    return scores @ projection.basis.T + projection.mean


if __name__ == "__main__":
    generator = np.random.default_rng(3)
    latent = generator.standard_normal((120, 3))
    mixing = generator.standard_normal((3, 8))
    observed = latent @ mixing + 0.01 * generator.standard_normal((120, 8))

    pca = fit(observed, n_components=3)
    scores = transform(pca, observed)
    restored = inverse_transform(pca, scores)
    error = np.abs(restored - observed).mean()
    assert error < 0.1, error
    whitened = transform(pca, observed, whiten=True)
    print("variance of whitened scores:", whitened.var(axis=0).round(2))
