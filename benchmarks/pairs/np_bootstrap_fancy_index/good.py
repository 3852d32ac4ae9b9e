"""Bootstrap estimate of the correlation of randomly chosen features with a target."""
import numpy as np


class RandomSubspace:
    def __init__(self, n_features, keep, seed=0):
        self.rng = np.random.default_rng(seed)
        self.n_features = n_features
        self.keep = keep

    def draw(self, n_rows):
        rows = self.rng.integers(0, n_rows, size=n_rows)
        columns = self.rng.choice(self.n_features, size=self.keep, replace=False)
        return rows, np.sort(columns)

    def sample(self, data):
        rows, columns = self.draw(len(data))
        subset = data[np.ix_(rows, columns)]
        return rows, columns, subset


def correlate(subset, target):
    a = subset - subset.mean(axis=0)
    b = target - target.mean()
    return (a * b[:, np.newaxis]).sum(axis=0) / (np.linalg.norm(a, axis=0) * np.linalg.norm(b))


def bootstrap(data, target, rounds, keep):
    sums = np.zeros(data.shape[1])
    hits = np.zeros(data.shape[1], dtype=int)
    sampler = RandomSubspace(data.shape[1], keep)
    for _ in range(rounds):
        rows, columns, subset = sampler.sample(data)
        sums[columns] += correlate(subset, target[rows])
        hits[columns] += 1
    return np.divide(sums, hits, out=np.zeros_like(sums), where=hits > 0)


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    data = rng.normal(size=(70, 9))
    target = data[:, 2] * 2 - data[:, 5] + rng.normal(size=70)
    for index, value in enumerate(bootstrap(data, target, rounds=30, keep=4)):
        print(f"x{index}: {value:+.2f}")
