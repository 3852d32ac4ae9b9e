"""A LoRA adapter around a frozen linear layer."""
import math

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8.0):
        super().__init__()
        self.base = base
        for parameter in self.base.parameters():
            parameter.requires_grad_(False)
        self.lora_a = nn.Parameter(torch.empty(rank, base.in_features))
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scaling = alpha / rank
        nn.init.kaiming_uniform_(self.lora_a, a=math.sqrt(5))

    def forward(self, x):
        update = x @ self.lora_a @ self.lora_b  # bug: (10, 32) @ (4, 32)
        return self.base(x) + self.scaling * update


def inject(model, rank):
    for name, child in list(model.named_children()):
        if isinstance(child, nn.Linear):
            setattr(model, name, LoRALinear(child, rank=rank))
    return model


class Scorer(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


if __name__ == "__main__":
    torch.manual_seed(0)
    scorer = inject(Scorer(), rank=4)
    trainable = [p for p in scorer.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trainable, lr=0.1)
    x, y = torch.randn(10, 32), torch.randn(10, 32)
    for _ in range(3):
        loss = nn.functional.mse_loss(scorer(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(len(trainable), "tensors", loss.item())
