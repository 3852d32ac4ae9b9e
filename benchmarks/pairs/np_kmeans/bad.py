"""Lloyd's algorithm, vectorised over points and centres."""
import numpy as np

rng = np.random.default_rng(7)


class KMeans:
    def __init__(self, n_clusters, max_iter=20, tol=1e-6):
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.tol = tol
        self.centers = None

    def _distances(self, points):
        offsets = points - self.centers  # bug: 90 points against 3 centres
        return np.sqrt((offsets**2).sum(axis=-1))

    def fit(self, points):
        chosen = rng.choice(len(points), size=self.n_clusters, replace=False)
        self.centers = points[chosen]
        for step in range(self.max_iter):
            labels = self._distances(points).argmin(axis=1)
            updated = np.stack(
                [
                    points[labels == k].mean(axis=0) if np.any(labels == k) else self.centers[k]
                    for k in range(self.n_clusters)
                ]
            )
            shift = np.linalg.norm(updated - self.centers)
            self.centers = updated
            if shift < self.tol:
                print("converged after", step + 1, "steps")
                break
        return self

    def predict(self, points):
        return self._distances(points).argmin(axis=1)


blobs = [rng.normal(loc=center, scale=0.3, size=(30, 2)) for center in ((0, 0), (3, 3), (0, 4))]
data = np.concatenate(blobs, axis=0)
model = KMeans(n_clusters=3).fit(data)
print(np.bincount(model.predict(data), minlength=3))
