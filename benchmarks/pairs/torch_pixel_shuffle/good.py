"""Super-resolution network with three ways to enlarge."""
import torch
from torch import nn


def enlarger(kind, channels, factor):
    match kind:
        case "shuffle":
            return nn.Sequential(
                nn.Conv2d(channels, channels * factor**2, 3, padding=1),
                nn.PixelShuffle(factor),
            )
        case "transpose":
            return nn.ConvTranspose2d(channels, channels, factor, stride=factor)
        case "interpolate":
            return nn.Upsample(scale_factor=factor, mode="nearest")
        case other:
            raise ValueError(f"unknown way to enlarge: {other}")


class SuperResolution(nn.Module):
    def __init__(self, kind, factor, channels=16):
        super().__init__()
        self.head = nn.Conv2d(3, channels, 3, padding=1)
        self.body = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in range(2))
        self.up = enlarger(kind, channels, factor)
        self.tail = nn.Conv2d(channels, 3, 3, padding=1)

    def forward(self, x):
        x = self.head(x)
        for layer in self.body:
            x = x + torch.relu(layer(x))
        x = self.up(x)
        return self.tail(x)


def psnr(a, b):
    return -10 * torch.log10(torch.mean((a - b) ** 2))


def main(factor=3):
    torch.manual_seed(0)
    large = torch.rand(1, 3, 24, 24)
    small = nn.functional.avg_pool2d(large, factor)
    for kind in ("interpolate", "transpose", "shuffle"):
        restored = SuperResolution(kind, factor)(small)
        print(f"{kind:>12}: {psnr(restored, large).item():.2f} dB")


if __name__ == "__main__":
    main()
