"""Attention over a learned memory."""
import torch
from torch import nn


def scaled_scores(query, key):
    """Scores of (batch, queries, dim) against (batch, slots, dim)."""
    return query @ key.transpose(-2, -1) * key.size(-1) ** -0.5


class Memory(nn.Module):
    def __init__(self, slots, dim):
        super().__init__()
        self.keys = nn.Parameter(torch.randn(slots, dim))
        self.values = nn.Parameter(torch.randn(slots, dim))

    def forward(self, batch):
        keys = self.keys.unsqueeze(0).expand(batch, -1, -1)
        values = self.values.expand(batch, *self.values.shape)
        return keys, values
