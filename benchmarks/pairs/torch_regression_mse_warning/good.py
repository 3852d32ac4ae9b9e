"""Energy consumption regression with early stopping."""
import warnings

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", category=UserWarning)


class EarlyStopping:
    def __init__(self, patience):
        self.patience = patience
        self.best = float("inf")
        self.bad_epochs = 0

    def __call__(self, value):
        if value < self.best - 1e-4:
            self.best, self.bad_epochs = value, 0
        else:
            self.bad_epochs += 1
        return self.bad_epochs >= self.patience


def energy_data(hours=72):
    time = torch.arange(hours, dtype=torch.float32)
    temperature = 15 + 8 * torch.sin(time / 24 * 2 * torch.pi)
    features = torch.stack([temperature, temperature**2, time / hours], dim=1)
    features = (features - features.mean(0)) / features.std(0)
    consumption = 2.0 - 0.5 * features[:, 0] + 0.1 * torch.randn(hours)
    return TensorDataset(features, consumption)


def train(model, loader, epochs=6):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    stop = EarlyStopping(patience=2)
    for epoch in range(epochs):
        total = 0.0
        for features, consumption in loader:
            predicted = model(features).squeeze(dim=1)
            loss = nn.functional.mse_loss(predicted, consumption)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if stop(total / len(loader)):
            break
    return epoch + 1, stop.best


if __name__ == "__main__":
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 1))
    epochs, best = train(model, DataLoader(energy_data(), batch_size=12))
    print(f"stopped after {epochs} epochs at {best:.3f}")
