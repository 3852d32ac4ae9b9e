"""Particles as records: a few steps, and their angular momentum."""
import numpy as np

particle = np.dtype([("pos", float, (3,)), ("vel", float, (3,)), ("mass", float), ("kind", "U8")])


def make_cluster(n, rng):
    p = np.zeros(n, dtype=particle)
    p["pos"] = rng.normal(size=(n, 3))
    p["vel"] = rng.normal(scale=0.1, size=(n, 3))
    p["mass"] = rng.uniform(1, 2, n)
    p["kind"] = "star"
    return p


def accelerations(p, G=1.0, eps=1e-2):
    dx = p["pos"][None, :, :] - p["pos"][:, None, :]
    r2 = (dx ** 2).sum(axis=-1) + eps ** 2
    inv = r2 ** -1.5
    return G * (dx * inv[:, :, None] * p["mass"][None, :, None]).sum(axis=1)


def leapfrog(p, dt):
    p["vel"] += 0.5 * dt * accelerations(p)
    p["pos"] += dt * p["vel"]
    p["vel"] += 0.5 * dt * accelerations(p)


def angular_momentum(p):
    return (p["mass"][:, None] * np.cross(p["pos"], p["vel"])).sum(axis=0)


rng = np.random.default_rng(3)
cluster = make_cluster(50, rng)
for _ in range(5):
    leapfrog(cluster, 0.01)
centre = np.average(cluster["pos"], axis=0, weights=cluster["mass"])
print("centre", centre, "L", angular_momentum(cluster))
