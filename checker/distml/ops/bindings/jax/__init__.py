"""JAX: names and parameters of https://docs.jax.dev, bound to the neutral rules; jax.numpy's are NumPy's own."""
