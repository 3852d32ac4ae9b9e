"""Fits a value network to Monte-Carlo returns."""
import torch
from torch import nn


class ValueNet(nn.Module):
    def __init__(self, obs_dim, hidden=(32, 32)):
        super().__init__()
        sizes = [obs_dim, *hidden]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = nn.Linear(sizes[-1], 1)

    def forward(self, obs):
        for layer in self.layers:
            obs = torch.relu(layer(obs))
        return self.out(obs).squeeze(-1)


def collect(episodes=4, length=10, obs_dim=6, gamma=0.9):
    states, targets = [], []
    for _ in range(episodes):
        obs = torch.randn(length, obs_dim)
        rewards = obs[:, 0]
        discounts = gamma ** torch.arange(length)
        tail = [(rewards[t:] * discounts[: length - t]).sum() for t in range(length)]
        states.append(obs)
        targets.append(torch.stack(tail))
    return torch.cat(states), torch.cat(targets)


def main():
    torch.manual_seed(0)
    states, targets = collect()
    net = ValueNet(states.shape[1])
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(3):
        values = net(states)
        loss = ((values - targets) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(epoch, round(loss.item(), 4))


if __name__ == "__main__":
    main()
