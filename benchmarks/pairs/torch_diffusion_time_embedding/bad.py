"""Denoising diffusion: noise schedule, a conditioned convolutional denoiser, one loss."""
import math

import torch
from torch import nn


def sinusoidal(t, dim):
    half = dim // 2
    freqs = torch.exp(-math.log(10_000.0) * torch.arange(half) / half)
    args = t.float()[:, None] * freqs[None]
    return torch.cat([args.sin(), args.cos()], dim=-1)


class ConditionedBlock(nn.Module):
    def __init__(self, channels, time_dim):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.time = nn.Linear(time_dim, channels)
        self.act = nn.SiLU()

    def forward(self, x, emb):
        h = self.act(self.conv1(x))
        h = h + self.time(emb)  # bug: (4, 24) added to (4, 24, 16, 16)
        return x + self.conv2(self.act(h))


class Denoiser(nn.Module):
    def __init__(self, channels=24, time_dim=32, depth=2):
        super().__init__()
        self.time_dim = time_dim
        self.inp = nn.Conv2d(3, channels, 1)
        self.blocks = nn.ModuleList([ConditionedBlock(channels, time_dim) for _ in range(depth)])
        self.out = nn.Conv2d(channels, 3, 1)

    def forward(self, x, t):
        emb = sinusoidal(t, self.time_dim)
        h = self.inp(x)
        for block in self.blocks:
            h = block(h, emb)
        return self.out(h)


class Schedule:
    def __init__(self, steps=50):
        betas = torch.linspace(1e-4, 0.02, steps)
        self.steps = steps
        self.alpha_bar = torch.cumprod(1 - betas, dim=0)

    def noise(self, x, t):
        eps = torch.randn_like(x)
        a = self.alpha_bar[t].view(-1, 1, 1, 1)
        return a.sqrt() * x + (1 - a).sqrt() * eps, eps


torch.manual_seed(0)
schedule = Schedule()
images = torch.rand(4, 3, 16, 16)
t = torch.randint(0, schedule.steps, (images.shape[0],))
noisy, eps = schedule.noise(images, t)
loss = nn.functional.mse_loss(Denoiser()(noisy, t), eps)
print("loss", loss.item())
