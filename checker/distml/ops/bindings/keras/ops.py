"""keras: keras.ops, which takes NumPy's names: bound beside TensorFlow's functions.

https://keras.io/api/ops
"""

from distml.ops.bindings.tensorflow import data, dtypes, elementwise, nn, products, shaping, values

__all__ = ["data", "dtypes", "elementwise", "nn", "products", "shaping", "values"]
