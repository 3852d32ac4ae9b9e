"""Cross-attention between a question and a passage, with padding masks."""
import torch
from torch import nn


def lengths_to_mask(lengths, size):
    return torch.arange(size)[None, :] >= torch.tensor(lengths)[:, None]


class CrossAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.out = nn.Linear(dim, dim)

    def heads_first(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, question, passage, padding):
        q = self.heads_first(self.q(question))
        k = self.heads_first(self.k(passage))
        v = self.heads_first(self.v(passage))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        mask = padding[:, None, :, None]
        scores = scores.masked_fill(mask, -1e9)  # bug: 9 key positions where there are 5 queries
        mixed = scores.softmax(-1) @ v
        return self.out(mixed.transpose(1, 2).flatten(2))


class Reader(nn.Module):
    def __init__(self, vocab=70, dim=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.attend = CrossAttention(dim, heads=3)
        self.span = nn.Bilinear(dim, dim, 2)

    def forward(self, question, passage, padding):
        q, p = self.embed(question), self.embed(passage)
        mixed = self.attend(q, p, padding)
        return self.span(q, mixed).mean(dim=1)


if __name__ == "__main__":
    torch.manual_seed(0)
    question = torch.randint(0, 70, (2, 5))
    passage = torch.randint(0, 70, (2, 9))
    padding = lengths_to_mask([9, 6], passage.shape[1])
    print(Reader()(question, passage, padding))
