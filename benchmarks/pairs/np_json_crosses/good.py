"""NumPy: features described by JSON, built by classes in a hierarchy."""
import json

import numpy as np

SETTINGS = json.loads('{"numeric": 5, "bins": 4, "crosses": [[0, 1], [2, 3]], "weights": 27}')


class Feature:
    def width(self):
        raise NotImplementedError

    def make(self, rows):
        raise NotImplementedError


class Numeric(Feature):
    def __init__(self, count):
        self.count = count

    def width(self):
        return self.count

    def make(self, rows):
        return (rows - rows.mean(0)) / rows.std(0)


class Binned(Feature):
    def __init__(self, count, bins):
        self.count, self.bins = count, bins

    def width(self):
        return self.count * self.bins

    def make(self, rows):
        places = np.minimum((rows * self.bins).astype(int), self.bins - 1)
        return np.eye(self.bins)[places].reshape(len(rows), -1)


class Crossed(Feature):
    def __init__(self, pairs):
        self.pairs = pairs

    def width(self):
        return len(self.pairs)

    def make(self, rows):
        return np.stack([rows[:, a] * rows[:, b] for a, b in self.pairs], axis=1)


features = [
    Numeric(SETTINGS["numeric"]),
    Binned(SETTINGS["numeric"], SETTINGS["bins"]),
    Crossed(SETTINGS["crosses"]),
]
rows = np.random.rand(50, SETTINGS["numeric"])
table = np.concatenate([feature.make(rows) for feature in features], axis=1)
weights = np.zeros(SETTINGS["weights"])
print((table @ weights).shape)
