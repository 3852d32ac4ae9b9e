"""A small Vision Transformer with einops."""
import torch
from einops import rearrange, repeat
from torch import nn


class PatchEmbedding(nn.Module):
    def __init__(self, image_size, patch, channels, dim):
        super().__init__()
        self.patch = patch
        self.num_patches = (image_size // patch) ** 2
        self.project = nn.Linear(channels * patch * patch, dim)

    def forward(self, image):
        patches = rearrange(
            image, "b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=self.patch, p2=self.patch
        )
        return self.project(patches)


class ViT(nn.Module):
    def __init__(self, *, image_size, patch, dim, depth, heads, classes, channels=3):
        super().__init__()
        self.embed = PatchEmbedding(image_size, patch, channels, dim)
        length = self.embed.num_patches + 1
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, length, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, heads, dim * 2, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, classes))

    def forward(self, image):
        x = self.embed(image)
        tokens = repeat(self.cls, "1 1 d -> b 1 d", b=x.shape[0])
        x = torch.cat([tokens, x], dim=1)
        x = x + self.pos
        x = self.encoder(x)
        return self.head(x[:, 0])


def main():
    torch.manual_seed(0)
    model = ViT(image_size=32, patch=8, dim=48, depth=1, heads=4, classes=10).eval()
    probabilities = model(torch.rand(2, 3, 32, 32)).softmax(-1)
    print(probabilities.sum(-1))


if __name__ == "__main__":
    main()
