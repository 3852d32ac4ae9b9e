"""A model of flax.nnx for two kinds of inputs."""
import jax.numpy as jnp
from flax import nnx


class Fusion(nnx.Module):
    def __init__(self, numbers, vocabulary, width, *, rngs):
        self.embed = nnx.Embed(vocabulary, width, rngs=rngs)
        self.dense = nnx.Linear(numbers, width, rngs=rngs)
        self.head = nnx.Linear(2 * width, 1, rngs=rngs)

    def __call__(self, values, category):
        both = jnp.concatenate([nnx.relu(self.dense(values)), self.embed(category)], axis=-1)
        return self.head(both)


model = Fusion(12, 100, 16, rngs=nnx.Rngs(0))
print(model(jnp.ones((8, 12)), jnp.zeros(8, jnp.int32)).shape)
