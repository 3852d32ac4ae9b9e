"""numpy: how wide the results of functions are; the tests ask NumPy itself (`tests/ops/test_widths.py`).

https://numpy.org/doc/stable/user/basics.types.html
"""

from __future__ import annotations

from distml.ops.rules import widths as rules
from distml.ops.rules.laws import NUMPY, stand
from distml.ops.rules.pointwise import UFUNCS

MADE = "zeros ones empty identity full eye arange linspace logspace"
DRAWN = " ".join(
    f"random.{name}"
    for name in """
    beta binomial exponential gamma normal poisson rand randint randn random random_sample standard_normal uniform
    """.split()
)
LIKE = "zeros_like ones_like empty_like full_like "
SAME = """
    abs absolute ascontiguousarray broadcast_to compress copy diag diagonal expand_dims flatten flip fliplr
    flipud moveaxis pad partition ravel repeat reshape resize roll rollaxis rot90 sort squeeze swapaxes take tile transpose
    tril triu array_split split hsplit vsplit delete T __getitem__ __iter__ __neg__ __abs__ __pos__
"""
COUNTED = "amax amin cumprod cumsum max min prod sum unique"
PLACED = "argmax argmin argpartition argsort argwhere bincount count_nonzero flatnonzero nonzero searchsorted"
FLOATED = """
    arccos arccosh arcsin arcsinh arctan arctanh cos cosh exp exp2 expm1 log log10 log1p log2 mean sin sinh sqrt std tan tanh
    var nanmean nanstd nanvar median
"""
PROMOTED = """
    add arctan2 clip divide floor_divide fmod hypot maximum minimum mod multiply power remainder subtract true_divide
    where
"""
MULTIPLIED = "dot inner matmul outer __matmul__"
JOINED = "concatenate column_stack dstack hstack stack vstack"


def _register() -> None:
    operators = " ".join(f"__{name}__ __r{name}__" for name in UFUNCS)
    laws = {
        rules.made_or_asked: MADE,
        rules.made: DRAWN,
        rules.moved: LIKE + SAME,
        rules.counted: COUNTED,
        rules.placed: PLACED,
        rules.floated: FLOATED,
        rules.promoted: f"{PROMOTED} {operators}",
        rules.multiplied: MULTIPLIED,
        rules.joined: JOINED,
        rules.of_data: "array asarray asanyarray",
        rules.nothing: "astype",
    }
    stand(rules.LAWS, NUMPY, laws)


_register()
