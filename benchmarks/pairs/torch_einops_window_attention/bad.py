"""Swin-like window attention: partition, attend, reverse."""
import torch
import torch.nn as nn
from einops import rearrange


def partition(x, window):
    pattern = "b (h a) (w c) d -> (b h w) (a c) d"
    return rearrange(x, pattern, a=window, c=window)  # bug: 14 is not a multiple of 4


def reverse(windows, window, height, width):
    return rearrange(
        windows,
        "(b h w) (a c) d -> b (h a) (w c) d",
        h=height // window,
        w=width // window,
        a=window,
    )


class WindowBlock(nn.Module):
    def __init__(self, dim, heads, window):
        super().__init__()
        self.window = window
        self.norm = nn.LayerNorm(dim)
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, x):
        _, height, width, _ = x.shape
        tokens = partition(self.norm(x), self.window)
        mixed, _ = self.attention(tokens, tokens, tokens, need_weights=False)
        return x + reverse(mixed, self.window, height, width)


class Backbone(nn.Module):
    def __init__(self, patch=4, dim=32):
        super().__init__()
        self.patchify = nn.Conv2d(3, dim, kernel_size=patch, stride=patch)
        self.blocks = nn.Sequential(*(WindowBlock(dim, heads=4, window=4) for _ in range(2)))

    def forward(self, image):
        x = rearrange(self.patchify(image), "b d h w -> b h w d")
        return self.blocks(x)


if __name__ == "__main__":
    features = Backbone()(torch.rand(1, 3, 56, 56))
    print(features.shape)
