"""Image patches, text and registers in one sequence by einops.pack."""
import torch
from einops import pack, rearrange, repeat, unpack
from torch import nn


class Fusion(nn.Module):
    def __init__(self, dim=32, classes=6):
        super().__init__()
        self.registers = nn.Parameter(torch.zeros(2, dim))
        self.block = nn.TransformerEncoderLayer(dim, 4, 64, batch_first=True)
        self.out = nn.Linear(2 * dim, classes)

    def forward(self, image, text):
        registers = repeat(self.registers, "n d -> b n d", b=image.shape[0])
        patches = rearrange(image, "b d h w -> b h w d")
        tokens, shapes = pack([registers, patches, text], "b * d")
        tokens = self.block(tokens)
        registers, patches, text = unpack(tokens, shapes, "b * d")
        summary = torch.cat([registers.mean(1), patches.mean(dim=(1, 2)), text.mean(1)], dim=-1)
        return self.out(summary)  # bug: three summaries


print(Fusion()(torch.randn(3, 32, 4, 4), torch.randn(3, 7, 32)).shape)
