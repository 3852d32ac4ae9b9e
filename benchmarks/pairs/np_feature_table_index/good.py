"""Builds engineered features from a table of trips and scores them."""
import numpy as np

COLUMNS = ["distance", "duration", "passengers", "fare"]


def trips(rows=50):
    rng = np.random.default_rng(21)
    distance = rng.uniform(0.5, 20, rows)
    duration = distance * rng.uniform(2, 5, rows)
    passengers = rng.integers(1, 5, rows)
    fare = 3 + 1.8 * distance + 0.2 * duration
    return np.column_stack([distance, duration, passengers, fare])


def engineer(table):
    speed = table[:, 0] / table[:, 1]
    per_head = table[:, 3] / table[:, 2]
    log_distance = np.log1p(table[:, 0])
    return np.column_stack((table[:, :3], speed, per_head, log_distance))


def standardise(matrix):
    return (matrix - matrix.mean(axis=0)) / matrix.std(axis=0)


def main():
    table = trips()
    assert table.shape[1] == len(COLUMNS)
    features = standardise(engineer(table))
    target = table[:, -1]
    correlation = features.T @ (target - target.mean()) / len(target)
    for position, value in enumerate(correlation):
        print(f"feature {position}: {value:+.2f}")


main()
