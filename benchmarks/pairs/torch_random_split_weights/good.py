"""Weighted training on an imbalanced table, with random_split and per-sample weights."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def imbalanced(rows, features):
    x = torch.randn(rows, features)
    y = (x[:, 0] > 1.0).long()
    frequency = torch.bincount(y, minlength=2).float() / rows
    weights = 1.0 / (2 * frequency[y] + 1e-6)
    return x, y, weights


class Trainer:
    def __init__(self, model, lr=0.1):
        self.model = model
        self.criterion = nn.CrossEntropyLoss(reduction="none")
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def run(self, loader, weights):
        total, seen = 0.0, 0
        for x, y, w in loader:
            losses = self.criterion(self.model(x), y)
            loss = (losses * w).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(x)
            seen += len(x)
        return total / seen


def main():
    torch.manual_seed(0)
    x, y, weights = imbalanced(rows=100, features=5)
    full = TensorDataset(x, y, weights)
    train, held_out = random_split(full, [80, 20])
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 2))
    trainer = Trainer(model)
    for epoch in range(2):
        print(epoch, trainer.run(DataLoader(train, batch_size=20, shuffle=True), weights))
    hits = [(model(a[None]).argmax() == b).item() for a, b, _ in held_out]
    print("held-out accuracy", sum(hits) / len(held_out))


if __name__ == "__main__":
    main()
