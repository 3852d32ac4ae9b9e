"""torchsummary: https://github.com/sksq96/pytorch-summary; a model is called with two samples of the size that is told."""

import torch


def summary(model, input_size, batch_size=-1, device="cuda"):
    """summary(model, input_size): one size without the batch, or a list of them"""
    sizes = [input_size] if isinstance(input_size, tuple) else input_size
    model(*[torch.rand(2, *each) for each in sizes])
