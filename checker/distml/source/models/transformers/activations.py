"""transformers.activations: functions of single numbers, by name."""

import torch
from torch import nn


class Activation(nn.Module):
    """A function of single numbers."""

    def forward(self, input):
        return torch.empty_like(input)


def get_activation(activation_string):
    return Activation()


class _Named:
    def __getitem__(self, name):
        return Activation()


ACT2FN = _Named()
