"""Nothing fails here, and the model learns the mean: the loss pairs every prediction with every target."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

inputs, targets = torch.randn(1000, 20), torch.randn(1000)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters())

for features, target in DataLoader(TensorDataset(inputs, targets), batch_size=50):
    loss = nn.functional.mse_loss(model(features), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
