"""A small CNN that is evaluated on images of another size."""
import flax.linen as nn
import jax
import jax.numpy as jnp


class CNN(nn.Module):
    classes: int = 10

    @nn.compact
    def __call__(self, x):
        for features in (16, 32):
            x = nn.relu(nn.Conv(features, kernel_size=(3, 3))(x))
            x = nn.max_pool(x, window_shape=(2, 2), strides=(2, 2))
        x = x.reshape((x.shape[0], -1))
        return nn.Dense(self.classes)(x)


model = CNN()
variables = model.init(jax.random.PRNGKey(0), jnp.ones((1, 28, 28, 1)))
test_images = jnp.ones((16, 28, 28, 1))
print(model.apply(variables, test_images).shape)
