"""Two convolutions of channels-last images."""
import jax
import jax.numpy as jnp
from jax import lax, random

NUMBERS = ("NHWC", "HWIO", "NHWC")


def conv(x, kernel, stride):
    return lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", dimension_numbers=NUMBERS)


k1, k2, k3 = random.split(random.PRNGKey(0), 3)
first = random.normal(k1, (3, 3, 3, 16)) * 0.1
second = random.normal(k2, (3, 3, 16, 32)) * 0.1
images = random.normal(k3, (8, 32, 32, 3))
x = jax.nn.relu(conv(images, first, 1))
x = jax.nn.relu(conv(x, second, 2))
print(x.shape, jnp.mean(x, axis=(1, 2)).shape)
