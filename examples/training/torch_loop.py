"""A classifier of points on rings, trained with PyTorch in one process."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def rings(count):
    radius = torch.randint(1, 4, (count,))
    angle = torch.rand(count) * 6.28
    points = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], dim=1)
    return TensorDataset(points + 0.1 * torch.randn(count, 2), radius - 1)


def main():
    torch.manual_seed(0)
    dataset = rings(4096)
    loader = DataLoader(dataset, batch_size=64, shuffle=True)
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 3))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(5):
        for points, labels in loader:
            points, labels = points.to(device), labels.to(device)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(points), labels)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}")
    torch.save(model.state_dict(), "rings.pt")


if __name__ == "__main__":
    main()
