"""One encoder block."""
import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    width: int
    heads: int

    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(x)
        x = x + nn.SelfAttention(num_heads=self.heads)(y)  # bug: the width is not divisible by the number of heads
        y = nn.LayerNorm()(x)
        return x + nn.Dense(self.width)(nn.gelu(nn.Dense(4 * self.width)(y)))


block = Block(width=100, heads=8)
tokens = jnp.ones((2, 20, block.width))
out, _ = block.init_with_output(jax.random.PRNGKey(0), tokens)
print(out.shape)
