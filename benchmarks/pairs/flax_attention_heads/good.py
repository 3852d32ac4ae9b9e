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
        x = x + nn.SelfAttention(num_heads=self.heads)(y)
        y = nn.LayerNorm()(x)
        return x + nn.Dense(self.width)(nn.gelu(nn.Dense(4 * self.width)(y)))


block = Block(width=96, heads=8)
tokens = jnp.ones((2, 20, block.width))
out, _ = block.init_with_output(jax.random.PRNGKey(0), tokens)
print(out.shape)
