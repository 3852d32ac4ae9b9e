"""Per-class statistics and a nearest-centroid classifier."""
from collections import defaultdict

import numpy as np


def synthesize(per_class, classes, width):
    rng = np.random.default_rng(11)
    features, labels = [], []
    for klass in range(classes):
        features.append(rng.normal(loc=klass, size=(per_class, width)))
        labels.append(np.full(per_class, klass))
    order = rng.permutation(per_class * classes)
    return np.vstack(features)[order], np.concatenate(labels)[order]


def train_test_split(features, labels, train_fraction=0.75):
    cut = int(len(features) * train_fraction)
    return features[:cut], features[cut:], labels[:cut], labels[cut:]


def centroids(features, labels):
    return np.array([features[labels == k].mean(axis=0) for k in np.unique(labels)])


def evaluate(features, labels, centers):
    gaps = features[:, None] - centers[None]
    guesses = (gaps**2).sum(-1).argmin(1)
    return float((guesses == labels).mean())


X, y = synthesize(per_class=40, classes=3, width=6)
X_train, X_test, y_train, y_test = train_test_split(X, y)
centers = centroids(X_train, y_train)
print("accuracy", evaluate(X_test, y_test, centers))

report = defaultdict(dict)
for k in range(3):
    selected = X_test[y_test == k]
    report[k]["count"] = len(selected)
    report[k]["spread"] = selected.std(axis=0).mean() if len(selected) else 0.0
for k, row in report.items():
    print(k, row)
