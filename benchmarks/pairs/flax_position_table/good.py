"""Tokens with learned positions."""
import flax.linen as nn
import jax
import jax.numpy as jnp


class Embedding(nn.Module):
    vocabulary: int
    width: int
    longest: int

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.vocabulary, self.width)(tokens)
        table = self.param("positions", nn.initializers.normal(0.02), (self.longest, self.width))
        return x + table[: tokens.shape[1]]


model = Embedding(vocabulary=1000, width=32, longest=128)
out, _ = model.init_with_output(jax.random.PRNGKey(0), jnp.zeros((4, 50), jnp.int32))
print(out.shape)
