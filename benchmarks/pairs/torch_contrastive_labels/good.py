"""SimCLR-like contrastive pre-training step."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def augment(x, strength=0.1):
    return x + strength * torch.randn_like(x)


class Projector(nn.Module):
    def __init__(self, inp, hidden, out):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(inp, hidden), nn.BatchNorm1d(hidden), nn.ReLU())
        self.head = nn.Linear(hidden, out, bias=False)

    def forward(self, x):
        return F.normalize(self.head(self.backbone(x)), dim=1)


def nt_xent(first, second, temperature=0.5):
    n = first.size(0)
    z = torch.cat([first, second], dim=0)
    similarity = z @ z.t() / temperature
    similarity = similarity.masked_fill(torch.eye(2 * n, dtype=torch.bool), -1e9)
    targets = torch.arange(n) + n
    targets = torch.cat([targets, torch.arange(n)])
    return F.cross_entropy(similarity, targets)


def main():
    torch.manual_seed(3)
    model = Projector(20, 32, 16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data = torch.randn(36, 20)
    for step, batch in enumerate(data.split(12)):
        loss = nt_xent(model(augment(batch)), model(augment(batch)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: {loss.item():.3f}")


if __name__ == "__main__":
    main()
