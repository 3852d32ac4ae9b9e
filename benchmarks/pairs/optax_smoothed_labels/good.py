"""JAX and Optax: training on smoothed labels, with a schedule."""
import jax
import jax.numpy as jnp
import optax


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [{"w": jax.random.normal(k, (a, b)) / a**0.5, "b": jnp.zeros(b)} for k, a, b in zip(keys, sizes[:-1], sizes[1:])]


def forward(params, x):
    *hidden, last = params
    for layer in hidden:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ last["w"] + last["b"]


def loss_of(params, x, labels, smoothing=0.1):
    logits = forward(params, x)
    targets = optax.smooth_labels(jax.nn.one_hot(labels, logits.shape[1]), smoothing)
    return optax.softmax_cross_entropy(logits, targets).mean()


params = init(jax.random.PRNGKey(1), [10, 16, 4])
optimizer = optax.adamw(optax.cosine_decay_schedule(1e-2, 100))
state = optimizer.init(params)
x, labels = jnp.ones((12, 10)), jnp.arange(12) % 4
loss, grads = jax.value_and_grad(loss_of)(params, x, labels)
updates, state = optimizer.update(grads, state, params)
print(optax.apply_updates(params, updates)[0]["w"].shape)
