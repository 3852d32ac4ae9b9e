"""Flax: modules of flax.linen and flax.nnx, and their training state, bound to the neutral rules."""
