"""Deep regressor whose layers and norms are built from a list of widths."""
import torch
from torch import nn


class DeepRegressor(nn.Module):
    def __init__(self, in_dim, widths, out_dim=1, *, norm=True):
        super().__init__()
        self.layers = nn.ModuleList()
        self.norms = nn.ModuleList()
        for fan_in, fan_out in zip(widths, widths[1:]):
            self.layers.append(nn.Linear(fan_in, fan_out))
            self.norms.append(nn.BatchNorm1d(fan_out) if norm else nn.Identity())
        self.head = nn.Linear(widths[-1], out_dim)

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = layer(x)  # bug: 9 features into 32
            x = torch.relu(norm(x))
        return self.head(x)

    def count(self):
        return sum(p.numel() for p in self.parameters() if p.requires_grad)


def synthetic(rows=60, dim=9):
    x = torch.rand(rows, dim)
    y = (x.pow(2).sum(dim=1, keepdim=True)).sqrt()
    return x, y


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y = synthetic()
    model = DeepRegressor(x.shape[1], widths=[32, 24, 16])
    print(f"{model.count():,} parameters")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    history = []
    for _ in range(5):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(round(loss.item(), 4))
    print(history)
