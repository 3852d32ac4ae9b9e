"""A perceptron for flat images, evaluated on a batch."""
import flax.linen as nn
import jax
import jax.numpy as jnp


class Classifier(nn.Module):
    hidden: int
    classes: int

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(self.hidden)(x))  # bug: the parameters were made for flat images
        return nn.Dense(self.classes)(x)


model = Classifier(hidden=128, classes=10)
params = model.init(jax.random.PRNGKey(0), jnp.ones((1, 784)))
images = jnp.ones((32, 28, 28))
logits = model.apply(params, images)
print(logits.shape)
