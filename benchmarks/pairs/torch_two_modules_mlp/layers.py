"""A residual dynamics model and its rollout."""
import torch
from torch import nn


def mlp(sizes, activation=nn.SiLU):
    layers = []
    for fan_in, fan_out in zip(sizes, sizes[1:]):
        layers.extend([nn.Linear(fan_in, fan_out), activation()])
    return nn.Sequential(*layers[:-1])


class DynamicsModel(nn.Module):
    def __init__(self, input_size, output_size, hidden=32):
        super().__init__()
        self.net = mlp([input_size, hidden, hidden, output_size])

    def forward(self, state, action):
        joined = torch.cat([state, action], dim=-1)
        return state + self.net(joined)  # raises: called from bad.py


@torch.no_grad()
def rollout(model, state, policy, steps):
    states = [state]
    for _ in range(steps):
        state = model(state, policy(state))
        states.append(state)
    return torch.stack(states)
