"""Self-attention by hand: the keys are not transposed."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, features: int = 512, heads: int = 8) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(features, 3 * features)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        batch, length, features = tokens.shape
        query, key, value = self.project(tokens).chunk(3, dim=-1)
        split = (batch, length, self.heads, features // self.heads)
        query = query.view(split).transpose(1, 2)
        key = key.view(split).transpose(1, 2)
        value = value.view(split).transpose(1, 2)
        weights = torch.softmax(query @ key, dim=-1)
        return (weights @ value).transpose(1, 2).reshape(batch, length, features)


if __name__ == "__main__":
    print(SelfAttention()(torch.randn(2, 100, 512)).shape)
