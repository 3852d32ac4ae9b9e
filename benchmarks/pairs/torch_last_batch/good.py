"""A tagger whose first state has a fixed batch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH = 16


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(12, 24, batch_first=True)
        self.out = nn.Linear(24, 5)

    def forward(self, x):
        start = (torch.zeros(1, len(x), 24), torch.zeros(1, len(x), 24))
        states, _ = self.lstm(x, start)
        return self.out(states)


data = TensorDataset(torch.randn(100, 9, 12), torch.randint(0, 5, (100, 9)))
model = Tagger()
for step, (x, y) in enumerate(DataLoader(data, batch_size=BATCH, shuffle=True)):
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
    loss.backward()
print(loss.item())
