"""Where Python asks an array for one value, or a number for items, and what the libraries do there.

    PYTHONPATH=tests python -m ops.one_value {numpy,torch,tensorflow,jax}

prints, as JSON, which forms raise for which array, by the library itself. `frameworks/one_value.json` keeps it for
TensorFlow 2.15 and JAX 0.10, which the tests have no environment for.
"""

from __future__ import annotations

import json
import sys

from ops.raising import Case, raised

SHAPES = ("()", "(1,)", "(3,)", "(1, 1)", "(2, 3)", "(0,)")
MAKERS = {
    "numpy": ("import numpy as np", "np.ones({}, np.float32)"),
    "torch": ("import torch", "torch.ones({})"),
    "tensorflow": ("import tensorflow as tf", "tf.ones({})"),
    "jax": ("import jax.numpy as jnp", "jnp.ones({})"),
}
TRUTHS = (
    "bool(x)",
    "1 if x else 2",
    "1 if x > 0 else 2",
    "not x",
    "x and 1",
    "x or 1",
    "0 < x < 2",
    "[i for i in [1] if x]",
    "any([x])",
    "all([x])",
    "list(filter(None, [x]))",
    "max(x, 0.0)",
    "min([x, x + 1])",
    "sorted([x, x])",
    "1 if x - 1 < 0 and True else 2",
)
"""What asks whether an array is true."""
NUMBERS = (
    "int(x)",
    "float(x)",
    "complex(x)",
    "math.sqrt(x)",
    "math.floor(x)",
    "math.isnan(x)",
    "math.pow(x, 2)",
    "'%.3f' % x",
    "'%d of %s' % (x, 'all')",
    "range(x)",
    "[1, 2, 3][x]",
    "operator.index(x)",
    "chr(x)",
    "math.gcd(4, x)",
)
"""What asks an array for a number."""
FORMATS = (
    "f'{x:.3f}'",
    "f'{x:>10}'",
    "f'loss {x:{width}.2f}'",
    "'{:.2f}'.format(x)",
    "'{1:>8} {0}'.format(1, x)",
    "'{loss:.3f}'.format(loss=x)",
    "format(x, '.2f')",
)
"""What writes an array in a format."""
ITEMS = ("len(x)", "list(x)", "[i for i in x]", "tuple(x)", "[*x]", "list(zip(x, x))", "list(enumerate(x))", "sum(x)")
"""What goes through an array."""
HARMLESS = (
    "f'{x}'",
    "f'{x!r:>30}'",
    "str(x)",
    "'%s' % x",
    "'%r, %s' % (x, x)",
    "'{}'.format(x)",
    "'{!s:>30}'.format(x)",
    "x is None",
    "x in [x]",
    "1 if x is not None and True else 2",
    "max([x])",
    "sorted([x])",
    "all([False, x])",
    "any([True, x])",
    "[i for i in [] if x]",
    "'%(a)s' % {'a': x}",
)
"""What takes any array."""
FORMS = (*TRUTHS, *NUMBERS, *FORMATS, *ITEMS, *HARMLESS)
HEAD = "import math\nimport operator\n\nwidth = 8"


def really(library: str) -> list[Case]:
    """The forms, each with a shape, that raise an exception."""
    imported, maker = MAKERS[library]
    cases = [((form, shape), maker.format(shape), form) for form in FORMS for shape in SHAPES]
    return raised(f"{HEAD}\n{imported}", cases)


if __name__ == "__main__":
    print(json.dumps(really(sys.argv[1])))
