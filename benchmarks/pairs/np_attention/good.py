"""Multi-head scaled dot-product attention in plain NumPy."""
import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def split_heads(x, heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)


def merge_heads(x):
    batch, heads, length, depth = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, heads * depth)


class Attention:
    def __init__(self, width, heads, rng):
        self.heads = heads
        self.wq, self.wk, self.wv, self.wo = (
            rng.normal(scale=width**-0.5, size=(width, width)) for _ in range(4)
        )

    def __call__(self, x, causal=False):
        q = split_heads(x @ self.wq, self.heads)
        k = split_heads(x @ self.wk, self.heads)
        v = split_heads(x @ self.wv, self.heads)
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        if causal:
            length = scores.shape[-1]
            mask = np.triu(np.ones((length, length), dtype=bool), k=1)
            scores = np.where(mask, -1e9, scores)
        return merge_heads(softmax(scores) @ v) @ self.wo


rng = np.random.default_rng(0)
tokens = rng.normal(size=(2, 10, 32))
attend = Attention(width=32, heads=4, rng=rng)
print("plain ", attend(tokens).shape)
print("causal", attend(tokens, causal=True).shape)
