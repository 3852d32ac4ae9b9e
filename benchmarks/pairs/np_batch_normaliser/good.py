"""A streaming normaliser that feeds shuffled mini-batches to a consumer."""
import numpy as np


def batches(features, size, *, shuffle=True, seed=0):
    index = np.arange(len(features))
    if shuffle:
        np.random.default_rng(seed).shuffle(index)
    for start in range(0, len(features) - size + 1, size):
        yield features[index[start : start + size]]


def per_row(batch, eps=1e-6):
    mean = batch.mean(axis=1, keepdims=True)
    std = batch.std(axis=1, keepdims=True)
    return (batch - mean) / (std + eps)


def per_column(batch, eps=1e-6):
    return (batch - batch.mean(axis=0)) / (batch.std(axis=0) + eps)


NORMALISERS = {"row": per_row, "column": per_column}


def stream(features, size, kinds):
    for batch in batches(features, size):
        for kind in kinds:
            batch = NORMALISERS[kind](batch)
        yield batch


def main():
    table = np.random.default_rng(1).gamma(2.0, size=(64, 10))
    total = np.zeros(10)
    seen = 0
    for batch in stream(table, size=16, kinds=("column", "row")):
        total += batch.sum(axis=0)
        seen += len(batch)
    print("mean after normalising:", (total / seen).round(3))


if __name__ == "__main__":
    main()
