"""transformers.modeling_layers"""

from torch import nn


class GradientCheckpointingLayer(nn.Module):
    """A layer whose activations may be computed again."""

    gradient_checkpointing = False
