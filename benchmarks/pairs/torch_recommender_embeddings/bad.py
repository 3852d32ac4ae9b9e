"""Two-embedding recommender with side features."""
from typing import NamedTuple

import torch
from torch import nn


class Sizes(NamedTuple):
    users: int = 50
    items: int = 80
    user_dim: int = 12
    item_dim: int = 20
    context: int = 6


class NeuralRecommender(nn.Module):
    def __init__(self, sizes, hidden=(32, 16)):
        super().__init__()
        self.user = nn.Embedding(sizes.users, sizes.user_dim)
        self.item = nn.Embedding(sizes.items, sizes.item_dim)
        width = sizes.user_dim + sizes.item_dim
        layers = []
        for units in hidden:
            layers += [nn.Linear(width, units), nn.ReLU()]
            width = units
        layers.append(nn.Linear(width, 1))
        self.tower = nn.Sequential(*layers)

    def forward(self, user_ids, item_ids, context):
        joined = torch.cat((self.user(user_ids), self.item(item_ids), context), dim=-1)
        return self.tower(joined).squeeze(-1)  # bug: 38 columns into 32


def sample(sizes, n):
    return {
        "user_ids": torch.randint(sizes.users, (n,)),
        "item_ids": torch.randint(sizes.items, (n,)),
        "context": torch.rand(n, sizes.context),
    }


if __name__ == "__main__":
    torch.manual_seed(0)
    sizes = Sizes()
    model = NeuralRecommender(sizes)
    batch = sample(sizes, n=16)
    ratings = torch.rand(16) * 5
    loss = nn.functional.mse_loss(model(**batch), ratings)
    print(f"loss {loss.item():.3f}")
