"""Flax: a decoder configured by a dataclass, with residual cross-attention."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from flax import linen as nn


@dataclass(frozen=True)
class Config:
    width: int = 24
    memory: int = 16
    heads: int = 4
    depth: int = 2


class Cross(nn.Module):
    config: Config

    @nn.compact
    def __call__(self, x, memory):
        config = self.config
        read = nn.MultiHeadDotProductAttention(num_heads=config.heads, qkv_features=config.width, out_features=config.memory)
        x = x + read(nn.LayerNorm()(x), memory)  # bug: what is read is as wide as the memory
        return x + nn.Dense(config.width)(nn.gelu(nn.Dense(4 * config.width)(x)))


class Decoder(nn.Module):
    config: Config
    classes: int = 11

    def setup(self):
        self.blocks = [Cross(self.config) for _ in range(self.config.depth)]
        self.out = nn.Dense(self.classes)

    def __call__(self, x, memory):
        for block in self.blocks:
            x = block(x, memory)
        return self.out(x)


model = Decoder(Config())
x, memory = jnp.ones((2, 6, 24)), jnp.ones((2, 9, 16))
variables = model.init(jax.random.PRNGKey(0), x, memory)
print(model.apply(variables, x, memory).shape)
