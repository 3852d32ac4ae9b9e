"""An autoencoder whose code is wider than the layer that reads it was."""
import flax.linen as nn
import jax
import jax.numpy as jnp


class AutoEncoder(nn.Module):
    code: int
    pixels: int

    def setup(self):
        self.encode = nn.Dense(self.code)
        self.mix = nn.Dense(self.code)
        self.decode = nn.Dense(self.pixels)

    def __call__(self, x):
        z = nn.relu(self.mix(self.encode(x)))
        return self.decode(self.mix(z))


model = AutoEncoder(code=16, pixels=64)
out, params = model.init_with_output(jax.random.PRNGKey(0), jnp.ones((4, 64)))
print(out.shape)
