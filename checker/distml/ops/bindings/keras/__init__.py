"""Keras 2 and 3, as `keras` or `tf.keras`: layers, models and losses of https://keras.io/api bound to the neutral rules."""
