"""How to draw a call of each function of jax.lax, jax.nn, jax.random and optax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ops.frameworks.drawing import R, axis, near, shape

Call = tuple[list[Any], dict[str, Any]]


def array(*sizes: int, kind: str = "float32") -> Any:
    """Zeros of a shape."""
    return np.zeros(sizes, kind)


def unary() -> Call:
    return [array(*shape())], {}


def binary() -> Call:
    sizes = shape()
    return R.sample([array(*sizes), array(*near(sizes))], 2), {}


def equal() -> Call:
    """Operands of one shape, or almost."""
    sizes = shape()
    other = list(sizes)
    if other and R.random() < 0.2:
        other[R.randrange(len(other))] += 1
    return [array(*sizes), array(*other)], {}


def one_axis() -> Call:
    sizes = shape(1)
    return [array(*sizes), axis(len(sizes))], {}


def own_axis() -> Call:
    sizes = shape(1)
    at = axis(len(sizes))
    return [array(*sizes)], {"axis": max(at, 0) if R.random() < 0.8 else at}


def axes() -> Call:
    sizes = shape(1)
    chosen = R.sample(range(len(sizes)), R.randint(0, len(sizes)))
    return [array(*sizes), tuple(chosen) if R.random() < 0.9 else (len(sizes),)], {}


def reshape() -> Call:
    sizes = shape(2)
    total = int(np.prod(sizes))
    new = R.choice([[total], [1, total], [total, 1, 1], sizes[::-1], [total + 1, 1]])
    return [array(*sizes), tuple(new)], {}


def transpose() -> Call:
    sizes = shape(1)
    order = R.sample(range(len(sizes)), len(sizes))
    return [array(*sizes), tuple(order if R.random() < 0.85 else order[1:])], {}


def broadcast() -> Call:
    return [array(*shape()), tuple(shape(0, 2))], {}


def broadcast_in_dim() -> Call:
    result = shape(1, 4)
    places = sorted(R.sample(range(len(result)), R.randint(0, len(result))))
    sizes = [1 if R.random() < 0.3 else result[place] for place in places]
    if sizes and R.random() < 0.2:
        sizes[R.randrange(len(sizes))] += 1
    return [array(*sizes), tuple(result), tuple(places)], {}


def cut() -> Call:
    sizes = shape(1)
    start = [R.randint(0, size - 1) for size in sizes]
    limit = [R.randint(begin, size + (R.random() < 0.05)) for begin, size in zip(start, sizes, strict=True)]
    if R.random() < 0.1:
        limit = limit[1:]
    args: list[Any] = [array(*sizes), tuple(start), tuple(limit)]
    return args + ([tuple(R.randint(1, 2) for _ in sizes)] if R.random() < 0.4 else []), {}


def cut_axis() -> Call:
    sizes = shape(1)
    at = R.randrange(len(sizes))
    return [array(*sizes), R.choice([0, 1]), R.choice([sizes[at], None])], {"axis": at}


def dynamic() -> Call:
    sizes = shape(1)
    lengths = [R.randint(1, size + (R.random() < 0.1)) for size in sizes]
    return [array(*sizes), tuple(0 for _ in sizes), tuple(lengths if R.random() < 0.9 else lengths[1:])], {}


def dynamic_axis() -> Call:
    sizes = shape(1)
    at = R.randrange(len(sizes))
    return [array(*sizes), 0, R.randint(1, sizes[at] + (R.random() < 0.2)), at], {}


def dynamic_index() -> Call:
    sizes = shape(1)
    return [array(*sizes), 0, axis(len(sizes)), R.random() < 0.5], {}


def update() -> Call:
    sizes = shape(1)
    part = [R.randint(1, size + (R.random() < 0.1)) for size in sizes]
    return [array(*sizes), array(*(part if R.random() < 0.85 else part[1:])), tuple(0 for _ in sizes)], {}


def concatenate() -> Call:
    sizes = shape(1)
    at = R.randrange(len(sizes) + (R.random() < 0.1))
    parts = []
    for _ in range(R.randint(1, 3)):
        own = list(sizes)
        own[min(at, len(own) - 1)] = R.randint(1, 3)
        if R.random() < 0.15:
            own[R.randrange(len(own))] += 1
        parts.append(array(*own))
    return [parts, at], {}


def pad() -> Call:
    sizes = shape(1)
    config = [(R.randint(-1, 2), R.randint(0, 2), R.choice([0, 0, 1])) for _ in sizes]
    return [array(*sizes), 0.0, tuple(config if R.random() < 0.9 else config[1:])], {}


def squeeze() -> Call:
    sizes = [R.choice([1, 1, 2]) for _ in range(R.randint(1, 4))]
    return [array(*sizes), (axis(len(sizes)),)], {}


def matmul() -> Call:
    a, b, c = R.randint(1, 4), R.randint(1, 4), R.randint(1, 4)
    left, right = R.choice([((a, b), (b, c)), ((b,), (b, c)), ((a, b), (b,)), ((b,), (b,)), ((a, b), (b + 1, c))])
    return [array(*left), array(*right)], {}


def dot_general() -> Call:
    left, right = shape(2, 4), shape(2, 4)
    summed = R.randint(0, 1)
    first, second = R.sample(range(len(left)), 2), R.sample(range(len(right)), 2)
    for a, b in list(zip(first, second, strict=True))[: summed + 1]:
        right[b] = left[a]
    if R.random() < 0.2:
        right[second[0]] += 1
    pair = (tuple(first[:1]), tuple(second[:1])), (tuple(first[1 : summed + 1]), tuple(second[1 : summed + 1]))
    return [array(*left), array(*right), pair], {}


def conv() -> Call:
    count = R.randint(1, 2)
    groups = R.choice([1, 1, 2])
    inside, outside = groups * R.randint(1, 2), groups * R.randint(1, 2)
    spatial, kernel = [R.randint(3, 7) for _ in range(count)], [R.randint(1, 3) for _ in range(count)]
    letters = "HW"[-count:]
    last, first = ("N" + letters + "C", letters + "IO"), ("NC" + letters, "OI" + letters)
    numbers = R.choice([None, (*last, last[0]), (*first, last[0])])
    image, weight = {"N": 2, "C": inside}, {"I": inside // groups + (R.random() < 0.15), "O": outside}
    for letter, size, reach in zip(letters, spatial, kernel, strict=True):
        image[letter], weight[letter] = size, reach
    orders = numbers or ("NC" + letters, "OI" + letters)
    padding = R.choice(["SAME", "VALID", tuple((1, R.randint(0, 1)) for _ in range(count))])
    options: dict[str, Any] = {"dimension_numbers": numbers, "feature_group_count": groups}
    if R.random() < 0.3 and all(size > 2 * reach - 2 for size, reach in zip(spatial, kernel, strict=True)):
        options["rhs_dilation"] = (2,) * count
    if R.random() < 0.2:
        options["lhs_dilation"] = (2,) * count
    args = [array(*(image[letter] for letter in orders[0])), array(*(weight[letter] for letter in orders[1]))]
    return [*args, tuple(R.randint(1, 2) for _ in range(count)), padding], options


def top() -> Call:
    sizes = shape(1)
    return [array(*sizes), R.randint(1, sizes[-1] + (R.random() < 0.2))], {}


def clamp() -> Call:
    sizes = shape()
    return [R.choice([0.0, array(*sizes)]), array(*sizes), R.choice([1.0, array(*near(sizes))])], {}


def select() -> Call:
    sizes = shape()
    return [
        array(*R.choice([sizes, []]), kind="bool"),
        array(*sizes),
        array(*(sizes if R.random() < 0.8 else near(sizes))),
    ], {}


def split() -> Call:
    sizes = shape(1)
    first = R.randint(0, sizes[0])
    return [array(*sizes), (first, sizes[0] - first + (R.random() < 0.2))], {}


def collapse() -> Call:
    sizes = shape(2)
    start = R.randrange(len(sizes) - 1)
    return [array(*sizes), start, R.randint(start + 1, len(sizes))], {}


def iota() -> Call:
    return ["float32", R.randint(0, 5)], {}


def iota_along() -> Call:
    sizes = shape(1)
    return ["int32", tuple(sizes), axis(len(sizes))], {}


def filled() -> Call:
    return [tuple(shape()), 1.0], {}


def one_hot() -> Call:
    sizes = shape(0, 3)
    options = {"axis": axis(len(sizes) + 1)} if R.random() < 0.4 else {}
    return [array(*sizes, kind="int32"), R.randint(1, 6)], options


def along() -> Call:
    sizes = shape(1)
    return [array(*sizes)], R.choice([{}, {"axis": axis(len(sizes))}, {"axis": tuple(range(len(sizes)))}])


def glu() -> Call:
    sizes = shape(1)
    sizes[-1] = R.choice([2, 4, 4, 3])
    return [array(*sizes)], {}


def logsumexp() -> Call:
    sizes = shape(1)
    return [array(*sizes)], R.choice([{}, {"axis": axis(len(sizes))}, {"axis": -1, "keepdims": True}])


def attention() -> Call:
    b, t, s, n, h = (R.randint(1, 3) for _ in range(5))
    heads = n + (R.random() < 0.15)
    query, key, value = (b, t, n, h), (b, s, heads, h + (R.random() < 0.1)), (b, s + (R.random() < 0.1), heads, h)
    return [array(*query), array(*key), array(*value)], {}


def key() -> Any:
    return np.zeros(2, "uint32")


def drawn() -> Call:
    return [key(), tuple(shape())], {}


def between() -> Call:
    return [key(), tuple(shape()), 0, 5], {}


def truncated() -> Call:
    return [key(), -1.0, 1.0, tuple(shape())], {}


def keys() -> Call:
    return [key(), R.choice([2, 3, (2, 2)])], {}


def of_parameters() -> Call:
    sizes = shape(0, 3)
    return [key(), array(*sizes)], R.choice([{}, {"shape": (2, *sizes)}])


def categorical() -> Call:
    sizes = shape(1, 3)
    return [key(), array(*sizes)], R.choice([{}, {"axis": axis(len(sizes))}])


def choice() -> Call:
    sizes = shape(1, 3)
    return [key(), R.choice([5, array(*sizes)]), tuple(shape(0, 2, 2))], {}


def permutation() -> Call:
    return [key(), R.choice([5, array(*shape(1, 3))])], {}


def gaussian() -> Call:
    size = R.randint(1, 4)
    return [key(), array(size), array(size, size + (R.random() < 0.2))], {}


def window() -> Call:
    sizes = shape(1, 4, 6)
    reach = [R.randint(1, min(size, 3)) for size in sizes]
    return [array(*sizes), tuple(reach), tuple(R.randint(1, 2) for _ in sizes), R.choice(["SAME", "VALID"])], {}


def smoothed() -> Call:
    left = shape(1, 2)
    return [array(*left), array(*shape(len(left), len(left) + (R.random() < 0.1), 3))], R.choice([{}, {"mode": "same"}])


def initialized() -> Call:
    return [key(), tuple(shape(1))], {}


def classes() -> Call:
    sizes = shape(1, 3)
    labels = R.choice([sizes, sizes, near(sizes)])
    return [array(*sizes), array(*labels)], {}


def numbers() -> Call:
    sizes = shape(1, 3)
    labels = sizes[:-1] if R.random() < 0.7 else near(sizes)
    return [array(*sizes), array(*labels, kind="int32")], {}


def square() -> Call:
    size = R.randint(1, 4)
    return [array(*shape(0, 1), size, size + (R.random() < 0.15))], {}


def matrix() -> Call:
    return [array(*shape(2 - (R.random() < 0.1), 3))], {}


def solve() -> Call:
    size = R.randint(2, 4)
    rows = size + (R.random() < 0.2)
    return [array(size, size), array(*((rows,) if R.random() < 0.4 else (rows, R.randint(1, 3))))], {}


def solve_with() -> Call:
    args, options = solve()
    return [(args[0], True), args[1]], options


def resized() -> Call:
    sizes = shape(1)
    return [array(*sizes), tuple(R.randint(1, 6) for _ in range(len(sizes) + (R.random() < 0.15))), "nearest"], {}


def triplet() -> Call:
    sizes = shape(1, 3)
    return [array(*sizes), array(*sizes), array(*(sizes if R.random() < 0.8 else near(sizes)))], {}


def transcribed() -> Call:
    rows, steps, letters = R.randint(1, 3), R.randint(4, 6), R.randint(1, 3)
    other = rows + (R.random() < 0.2)
    marks = [array(other, letters, kind="int32"), array(other, letters)]
    return [array(rows, steps, 5), array(rows, steps), *marks], {}


def each(names: str, draw: Callable[[], Call]) -> dict[str, Callable[[], Call]]:
    return dict.fromkeys(names.split(), draw)


LAX = {
    **each("exp log1p tanh sin logistic rsqrt neg sign floor abs is_finite stop_gradient erf lgamma", unary),
    **each("add mul sub div max eq lt pow atan2", equal),
    **each("reduce_max reduce_sum reduce_prod expand_dims", axes),
    **each("cumsum cumprod cummax", own_axis),
    **each("argmax argmin", lambda: ([*one_axis()[0], "int32"], {})),
    "sort": one_axis,
    "reshape": reshape,
    "transpose": transpose,
    "broadcast": broadcast,
    "broadcast_in_dim": broadcast_in_dim,
    "slice": cut,
    "slice_in_dim": cut_axis,
    "dynamic_slice": dynamic,
    "dynamic_slice_in_dim": dynamic_axis,
    "dynamic_index_in_dim": dynamic_index,
    "dynamic_update_slice": update,
    "concatenate": concatenate,
    "pad": pad,
    "squeeze": squeeze,
    "dot": matmul,
    "dot_general": dot_general,
    "conv_general_dilated": conv,
    "top_k": top,
    "clamp": clamp,
    "select": select,
    "split": split,
    "collapse": collapse,
    "iota": iota,
    "broadcasted_iota": iota_along,
    "full": filled,
}
NN = {
    **each("relu silu gelu sigmoid softplus leaky_relu elu", unary),
    **each("softmax log_softmax standardize", along),
    "one_hot": one_hot,
    "glu": glu,
    "logsumexp": logsumexp,
    "dot_product_attention": attention,
    "initializers.zeros": initialized,
    "initializers.ones": initialized,
}
RANDOM = {
    **each("normal uniform exponential gumbel laplace rademacher bits", drawn),
    "randint": between,
    "truncated_normal": truncated,
    "split": keys,
    **each("bernoulli gamma poisson", of_parameters),
    "categorical": categorical,
    "choice": choice,
    "permutation": permutation,
    "multivariate_normal": gaussian,
}
SCIPY = {
    **each("special.erf special.expit special.gammaln", unary),
    **each("special.xlogy stats.norm.logpdf", binary),
    **each("signal.convolve signal.correlate", smoothed),
    "special.logsumexp": logsumexp,
}
OPTAX = {
    **each(
        "softmax_cross_entropy sigmoid_binary_cross_entropy l2_loss squared_error huber_loss cosine_similarity", classes
    ),
    "softmax_cross_entropy_with_integer_labels": numbers,
    **each("log_cosh hinge_loss kl_divergence", classes),
}
DECOMPOSED = {
    **each("linalg.cholesky linalg.inv linalg.det linalg.lu_factor linalg.expm linalg.eigh", square),
    **each("linalg.svd linalg.lu", matrix),
    "linalg.qr": lambda: (matrix()[0], R.choice([{}, {"mode": "economic"}])),
    **each("linalg.solve linalg.solve_triangular", solve),
    "linalg.cho_solve": solve_with,
    "linalg.block_diag": lambda: ([array(*shape(2, 2)) for _ in range(R.randint(1, 3))], {}),
    "linalg.toeplitz": lambda: ([array(R.randint(1, 5)) for _ in range(R.randint(1, 2))], {}),
    **each("special.softmax special.log_softmax", lambda: ([array(*shape(1))], {"axis": -1})),
}
FUNCTIONS = {
    **{f"jax.lax.{name}": draw for name, draw in LAX.items()},
    **{f"jax.nn.{name}": draw for name, draw in NN.items()},
    **{f"jax.random.{name}": draw for name, draw in RANDOM.items()},
    **{f"jax.scipy.{name}": draw for name, draw in SCIPY.items()},
    **{f"optax.losses.{name}": draw for name, draw in OPTAX.items()},
    **{f"jax.scipy.{name}": draw for name, draw in DECOMPOSED.items()},
    "jax.image.resize": resized,
    **{
        f"optax.losses.{name}": draw
        for name, draw in each("sigmoid_focal_loss poly_loss_cross_entropy", classes).items()
    },
    "optax.losses.triplet_margin_loss": triplet,
    "optax.losses.ctc_loss": transcribed,
}
