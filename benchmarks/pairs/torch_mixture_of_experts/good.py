"""A dense mixture of experts, weighted by a gate."""
import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self, dim, hidden, out):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, out))

    def forward(self, x):
        return self.net(x)


class MixtureOfExperts(nn.Module):
    def __init__(self, dim, out, experts=3, hidden=20):
        super().__init__()
        self.experts = nn.ModuleList([Expert(dim, hidden, out) for _ in range(experts)])
        self.gate = nn.Linear(dim, experts)

    def forward(self, x):
        weights = torch.softmax(self.gate(x), dim=-1)
        outputs = torch.stack([expert(x) for expert in self.experts], dim=1)
        mixed = torch.bmm(weights.unsqueeze(1), outputs)
        return mixed.squeeze(1), weights


def balance_penalty(weights):
    load = weights.mean(dim=0)
    return (load * load.shape[0] - 1).pow(2).mean()


def main():
    torch.manual_seed(0)
    moe = MixtureOfExperts(dim=10, out=5)
    x, y = torch.randn(8, 10), torch.randn(8, 5)
    optimizer = torch.optim.SGD(moe.parameters(), lr=0.1)
    for step in range(3):
        prediction, weights = moe(x)
        loss = (prediction - y).square().mean() + 0.01 * balance_penalty(weights)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(step, round(loss.item(), 4))


if __name__ == "__main__":
    main()
