"""Tabular classifier built from a dataclass of hyper-parameters."""
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class ModelConfig:
    in_features: int = 14
    hidden: int = 64
    bottleneck: int = 16
    classes: int = 5
    dropout: float = 0.1


def build_model(cfg: ModelConfig) -> nn.Module:
    return nn.Sequential(
        nn.Linear(cfg.in_features, cfg.hidden),
        nn.ReLU(),
        nn.Dropout(cfg.dropout),
        nn.Linear(cfg.hidden, cfg.bottleneck),
        nn.ReLU(),
        nn.Linear(cfg.hidden, cfg.classes),
    )


def train_step(model, optimizer, inputs, labels):
    optimizer.zero_grad()
    logits = model(inputs)  # bug: the last layer wants 32, gets 16
    loss = nn.functional.cross_entropy(logits, labels)
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(0)
    cfg = ModelConfig(hidden=32)
    model = build_model(cfg)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs = torch.randn(24, cfg.in_features)
    labels = torch.randint(0, cfg.classes, (24,))
    for epoch in range(3):
        print(epoch, train_step(model, optimizer, inputs, labels))


if __name__ == "__main__":
    main()
