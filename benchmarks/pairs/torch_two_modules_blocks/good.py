"""Image regressor assembled from the blocks in layers.py."""
import torch
from torch import nn

from layers import ConvEncoder, global_pool


class Regressor(nn.Module):
    def __init__(self, channels=3, outputs=2):
        super().__init__()
        self.encoder = ConvEncoder(channels, widths=(8, 16, 32))
        self.norm = nn.LayerNorm(self.encoder.out_channels)
        self.head = nn.Linear(self.encoder.out_channels, outputs)

    def forward(self, x):
        features = global_pool(self.encoder(x))
        return self.head(self.norm(features))


def main():
    torch.manual_seed(0)
    model = Regressor()
    images, targets = torch.rand(4, 3, 32, 32), torch.rand(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(2):
        loss = nn.functional.l1_loss(model(images), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())


if __name__ == "__main__":
    main()
