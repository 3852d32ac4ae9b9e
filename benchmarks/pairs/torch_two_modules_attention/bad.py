"""Retrieves values from a memory with the attention helpers in layers.py."""
import torch
from torch import nn

from layers import Memory, scaled_scores


class Reader(nn.Module):
    def __init__(self, dim, slots):
        super().__init__()
        self.memory = Memory(slots, dim)
        self.query = nn.Linear(dim, dim)

    def forward(self, x):
        keys, values = self.memory(x.shape[0])
        scores = scaled_scores(self.query(x), keys)
        weights = scores.softmax(dim=-1)
        read = weights @ values.transpose(1, 2)  # bug: (3, 5, 12) @ (3, 24, 12)
        return torch.cat([x, read], dim=-1)


class Controller(nn.Module):
    def __init__(self, dim=24, slots=12, classes=4):
        super().__init__()
        self.reader = Reader(dim, slots)
        self.rnn = nn.GRU(2 * dim, dim, batch_first=True)
        self.out = nn.Linear(dim, classes)

    def forward(self, x):
        states, last = self.rnn(self.reader(x))
        return self.out(last.squeeze(0))


if __name__ == "__main__":
    torch.manual_seed(0)
    controller = Controller()
    inputs = torch.randn(3, 5, 24)
    print(controller(inputs).shape)
