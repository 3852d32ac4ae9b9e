"""Optax: losses, and what updates of parameters keep; optimizers are not followed."""
