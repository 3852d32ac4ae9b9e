"""Graph convolutional network on a small ring graph."""
import torch
from torch import nn


def ring(nodes):
    adjacency = torch.eye(nodes)
    index = torch.arange(nodes)
    adjacency[index, (index + 1) % nodes] = 1.0
    adjacency[(index + 1) % nodes, index] = 1.0
    degree = adjacency.sum(dim=1)
    return adjacency / torch.sqrt(degree[:, None] * degree[None, :])


class GraphConv(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inp, out))
        self.bias = nn.Parameter(torch.zeros(out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adjacency):
        support = x @ self.weight
        return support @ adjacency + self.bias  # bug: (18, 16) @ (18, 18)


class GCN(nn.Module):
    def __init__(self, features, hidden, classes, dropout=0.2):
        super().__init__()
        self.gc1 = GraphConv(features, hidden)
        self.gc2 = GraphConv(hidden, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, adjacency):
        x = self.dropout(torch.relu(self.gc1(x, adjacency)))
        return self.gc2(x, adjacency).log_softmax(dim=1)


torch.manual_seed(0)
nodes = 18
adjacency = ring(nodes)
features = torch.randn(nodes, 5)
labels = torch.arange(nodes) * 3 // nodes
labelled = torch.zeros(nodes, dtype=torch.bool)
labelled[::3] = True

model = GCN(features=5, hidden=16, classes=3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(4):
    output = model(features, adjacency)
    loss = nn.functional.nll_loss(output[labelled], labels[labelled])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("nll", loss.item())
