"""Convolutional autoencoder with a dense bottleneck, trained for anomaly detection."""
import torch
from torch import nn

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Settings:
    image: tuple = (1, 24, 24)
    widths: list = field(default_factory=lambda: [8, 16])
    code: int = 10

    @property
    def bottom(self):
        return self.image[1] // 2 ** len(self.widths)


class Autoencoder(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        channels = settings.image[0]
        encoder = []
        for width in settings.widths:
            encoder += [nn.Conv2d(channels, width, 3, stride=2, padding=1), nn.LeakyReLU()]
            channels = width
        cells = channels * settings.bottom**2
        self.encoder = nn.Sequential(*encoder, nn.Flatten(), nn.Linear(cells, settings.code))
        self.expand = nn.Linear(settings.code, cells)
        decoder = []
        for width in [*reversed(settings.widths[:-1]), settings.image[0]]:
            decoder += [nn.ConvTranspose2d(channels, width, 2, stride=2), nn.Sigmoid()]
            channels = width
        self.decoder = nn.Sequential(*decoder)

    def forward(self, x):
        code = self.encoder(x)
        side = self.settings.bottom
        width = self.settings.widths[-1]
        folded = self.expand(code).view(len(x), width, side + 1, side + 1)  # bug: 7 x 7 cells
        return self.decoder(folded)


@torch.no_grad()
def anomaly_scores(model, images):
    return (model(images) - images).pow(2).flatten(1).mean(dim=1)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Autoencoder(Settings())
    images = torch.rand(5, *model.settings.image)
    print(anomaly_scores(model, images))
