"""A mixer built of einops layers."""
import torch
from einops.layers.torch import Rearrange, Reduce
from torch import nn


class Residual(nn.Module):
    def __init__(self, dim, fn):
        super().__init__()
        self.norm, self.fn = nn.LayerNorm(dim), fn

    def forward(self, x):
        return x + self.fn(self.norm(x))


def feed(dim, factor, dense):
    return nn.Sequential(dense(dim, dim * factor), nn.GELU(), dense(dim * factor, dim))


def mixer(image=32, patch=8, channels=3, dim=48, depth=2, classes=10):
    patches = (image // patch) ** 2
    across = lambda a, b: nn.Conv1d(a, b, kernel_size=1)
    return nn.Sequential(
        Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=patch, q=patch),
        nn.Linear(patch * patch * channels, dim),
        *[nn.Sequential(Residual(dim, feed(patches, 2, across)), Residual(dim, feed(dim, 2, nn.Linear))) for _ in range(depth)],
        nn.LayerNorm(dim),
        Reduce("b n d -> b d", "mean"),
        nn.Linear(dim, classes),
    )


net = mixer()
print(net(torch.randn(2, 3, 32, 32)).shape)
