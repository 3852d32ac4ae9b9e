"""Hold out a random subset and fit ridge by hand."""
import numpy as np


def split(X, y, n_test, seed=0):
    rng = np.random.default_rng(seed)
    test_idx = rng.choice(len(X), size=n_test, replace=False)
    train_idx = np.setdiff1d(np.arange(len(X)), test_idx)
    return X[train_idx], X[test_idx], y[train_idx], y[test_idx]


def ridge(X, y, lam):
    d = X.shape[1]
    return np.linalg.solve(X.T @ X + lam * np.eye(d), X.T @ y)


n, d = 200, 6
rng = np.random.default_rng(42)
X = rng.normal(size=(n, d))
y = X @ rng.normal(size=d) + rng.normal(scale=0.2, size=n)
X_train, X_test, y_train, y_test = split(X, y, 50)
mu, sd = X_train.mean(axis=0), X_train.std(axis=0)

best = None
for lam in (0.1, 1.0, 10.0):
    w = ridge((X_train - mu) / sd, y_train, lam)
    pred = (X_test - mu) / sd @ w
    resid = y_test - pred
    err = np.sqrt(np.mean(resid ** 2))
    if best is None or err < best[0]:
        best = (err, lam)
print(best)
