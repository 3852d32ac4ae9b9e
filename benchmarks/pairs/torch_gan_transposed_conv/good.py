"""One training step of a DCGAN on 28 x 28 images."""
import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self, latent=16, width=32):
        super().__init__()
        self.latent = latent
        self.fc = nn.Linear(latent, width * 2 * 7 * 7)
        self.net = nn.Sequential(
            nn.Unflatten(1, (width * 2, 7, 7)),
            nn.ConvTranspose2d(width * 2, width, 4, stride=2, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(True),
            nn.ConvTranspose2d(width, 1, 4, stride=2, padding=1),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.net(self.fc(z))


class Discriminator(nn.Module):
    def __init__(self, width=16, image_size=28):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(width, width * 2, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
        )
        self.score = nn.Linear(width * 2 * (image_size // 4) ** 2, 1)

    def forward(self, image):
        h = self.features(image)
        return self.score(h.flatten(start_dim=1))


def gan_step(generator, discriminator, real):
    criterion = nn.BCEWithLogitsLoss()
    z = torch.randn(real.size(0), generator.latent)
    fake = generator(z)
    real_score, fake_score = discriminator(real), discriminator(fake.detach())
    d_loss = criterion(real_score, torch.ones_like(real_score))
    d_loss = d_loss + criterion(fake_score, torch.zeros_like(fake_score))
    return d_loss


torch.manual_seed(0)
images = torch.rand(4, 1, 28, 28) * 2 - 1
print("discriminator loss", gan_step(Generator(), Discriminator(), images).item())
