"""Soft assignments and class-conditional second moments (the E and M steps of a mixture)."""
import numpy as np


def responsibilities(points, means, precisions):
    gaps = points[:, None, :] - means[None]
    energy = np.einsum("nkd,kde,nke->nk", gaps, precisions, gaps)
    weights = np.exp(-0.5 * energy)
    return weights / weights.sum(axis=1, keepdims=True)


def moments(points, resp):
    mass = resp.sum(axis=0)
    means = np.einsum("nk,nd->kd", resp, points) / mass[:, None]
    gaps = points[:, None, :] - means
    scatter = np.einsum("nk,nkd,nke->kde", resp, gaps, gaps)
    return mass, means, scatter / mass[:, None, None]


def expectation_maximisation(points, k, steps=4):
    rng = np.random.default_rng(0)
    dim = points.shape[1]
    means = points[rng.permutation(len(points))[:k]]
    precisions = np.tile(np.eye(dim), (k, 1, 1))
    for _ in range(steps):
        resp = responsibilities(points, means, precisions)
        mass, means, covariances = moments(points, resp)
        precisions = np.linalg.inv(covariances + 1e-3 * np.eye(dim))
    return means, mass / mass.sum()


rng = np.random.default_rng(9)
cloud = np.concatenate([rng.normal(-2, 1, (30, 3)), rng.normal(2, 1, (30, 3))])
found, shares = expectation_maximisation(cloud, k=2)
print(found.round(2), shares.round(2))
