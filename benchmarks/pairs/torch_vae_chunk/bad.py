"""Variational autoencoder on flat vectors."""
import torch
from torch import nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, input_dim=100, hidden_dim=64, latent_dim=8):
        super().__init__()
        stats_dim = 2 * latent_dim
        self.encoder = nn.Sequential(
            nn.Linear(input_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, stats_dim)
        )
        self.decoder = nn.Sequential(
            nn.Linear(stats_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, input_dim)
        )

    @staticmethod
    def reparameterize(mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def forward(self, x):
        mu, logvar = self.encoder(x).chunk(2, dim=-1)
        z = self.reparameterize(mu, logvar)
        return self.decoder(z), mu, logvar  # bug: a latent of 8 into a decoder of 16


def elbo(recon, x, mu, logvar, beta=1.0):
    rec = F.mse_loss(recon, x, reduction="sum") / x.shape[0]
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(dim=1).mean()
    return rec + beta * kl


def train(model, data, epochs=2):
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        recon, mu, logvar = model(data)
        loss = elbo(recon, data, mu, logvar, beta=min(1.0, epoch / 10))
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"epoch {epoch:2d} loss {loss:.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train(VAE(), torch.rand(32, 100))
