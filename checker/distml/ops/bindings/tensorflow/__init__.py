"""TensorFlow 2: names and parameters of https://www.tensorflow.org/api_docs/python/tf, bound to the neutral rules."""
