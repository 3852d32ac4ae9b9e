"""One level of a U-Net."""
import flax.linen as nn
import jax
import jax.numpy as jnp


class UNet(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        down = nn.relu(nn.Conv(self.features, (3, 3))(x))
        middle = nn.max_pool(down, (2, 2), strides=(2, 2))
        middle = nn.relu(nn.Conv(2 * self.features, (3, 3))(middle))
        up = nn.ConvTranspose(self.features, (2, 2), strides=(2, 2))(middle)
        joined = jnp.concatenate([down, up], axis=-1)
        return nn.Conv(1, (1, 1))(joined)


size = 32
out, _ = UNet(8).init_with_output(jax.random.PRNGKey(0), jnp.ones((1, size, size, 1)))
print(out.shape)
