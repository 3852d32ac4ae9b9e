"""How to draw a call of each function of tf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ops.frameworks.drawing import Drawn, R, axis, near, pair, shape, tensor, words
from ops.frameworks.further_functions import FURTHER
from ops.frameworks.rarer_functions import RARER


def unary(name: str) -> Drawn:
    return name, [tensor(*shape())], {}


def binary(name: str) -> Drawn:
    sizes = shape()
    both = [tensor(*sizes), tensor(*near(sizes))]
    return name, R.sample(both, 2), {}


def reduce(name: str) -> Drawn:
    sizes = shape(1)
    axes: Any = R.choice([None, axis(len(sizes)), [axis(len(sizes)) for _ in range(R.randint(0, 2))]])
    options = {"keepdims": True} if R.random() < 0.4 else {}
    return name, [tensor(*sizes), axes], options


def reshape(name: str) -> Drawn:
    sizes = shape(1)
    total, new = 1, []
    for size in sizes:
        total *= size
    for size in (2, 3, 5):
        if total % size == 0 and R.random() < 0.5:
            new.append(size)
            total //= size
    new.append(R.choice([total, -1, -1, total + 1]) if R.random() < 0.9 else -1)
    return name, [tensor(*sizes), R.choice([new, pair(*new)])], {}


def transpose(name: str) -> Drawn:
    sizes = shape(1)
    order = R.sample(range(len(sizes)), len(sizes))
    if R.random() < 0.15:
        order = order[1:] or [1]
    return name, [tensor(*sizes)] if R.random() < 0.3 else [tensor(*sizes), order], {}


def one_axis(name: str, extra: int = 0) -> Drawn:
    sizes = shape(1)
    return name, [tensor(*sizes), axis(len(sizes) + extra)], {}


def squeeze(name: str) -> Drawn:
    sizes = [R.choice([1, 1, 2, 3]) for _ in range(R.randint(1, 4))]
    return (
        name,
        [tensor(*sizes)] if R.random() < 0.3 else [tensor(*sizes), R.choice([axis(len(sizes)), [axis(len(sizes))]])],
        {},
    )


def concat(name: str) -> Drawn:
    sizes, parts = shape(1), []
    at = axis(len(sizes), 0.1)
    for _ in range(R.randint(1, 3)):
        own = list(sizes)
        if -len(sizes) <= at < len(sizes):
            own[at] = R.randint(1, 5)
        if R.random() < 0.1:
            own[R.randrange(len(own))] += 1
        parts.append(tensor(*own))
    return name, [parts, at], {}


def stack(name: str) -> Drawn:
    sizes = shape(0, 3)
    parts = [tensor(*(sizes if R.random() < 0.9 else shape(0, 3))) for _ in range(R.randint(1, 3))]
    return name, [parts], {"axis": axis(len(sizes) + 1)}


def split(name: str) -> Drawn:
    sizes = shape(1)
    at = axis(len(sizes), 0.05)
    size = sizes[at] if -len(sizes) <= at < len(sizes) else 1
    first = R.randint(0, size)
    listed = [first, size - first + (R.random() < 0.2)]
    return name, [tensor(*sizes), R.choice([listed, R.randint(1, 3), size])], {"axis": at}


def keras_split(name: str) -> Drawn:
    sizes = shape(1)
    at = axis(len(sizes), 0.05)
    return name, [tensor(*sizes), R.choice([[1, 2], [1], R.randint(1, 3)])], {"axis": at}


def tile(name: str) -> Drawn:
    sizes = shape(1)
    counts = [R.randint(1, 3) for _ in sizes]
    return name, [tensor(*sizes), counts if R.random() < 0.85 else counts[1:] or [1, 1]], {}


def gather(name: str) -> Drawn:
    sizes = shape(1)
    return name, [tensor(*sizes), tensor(*shape(0, 2), kind="int32")], {"axis": axis(len(sizes), 0.1)}


def gather_nd(name: str) -> Drawn:
    sizes = shape(1)
    return name, [tensor(*sizes), tensor(*shape(0, 2), R.randint(1, len(sizes) + (R.random() < 0.2)), kind="int32")], {}


def pad(name: str) -> Drawn:
    sizes = shape(1)
    widths = [[R.randint(0, 2), R.randint(0, 2)] for _ in sizes]
    return name, [tensor(*sizes), widths if R.random() < 0.85 else [*widths, [1, 1]]], {}


def matmul(name: str) -> Drawn:
    batch, m, k, n = shape(0, 2), *(R.randint(1, 5) for _ in range(3))
    other = k if R.random() < 0.8 else k + 1
    options = {"transpose_b": True} if name == "matmul" and R.random() < 0.3 else {}
    right = [n, other] if options else [other, n]
    return name, [tensor(*batch, m, k), tensor(*near(batch), *right)], options


def tensordot(name: str) -> Drawn:
    left, right = shape(1, 3), shape(1, 3)
    if R.random() < 0.8:
        right[0] = left[-1]
        return name, [tensor(*left), tensor(*right), 1], {}
    return name, [tensor(*left), tensor(*right), [[axis(len(left), 0)], [axis(len(right), 0)]]], {}


def einsum(name: str) -> Drawn:
    equation = R.choice(["ij,jk->ik", "bij,bjk->bik", "ij->ji", "bhqd,bhkd->bhqk", "i,i->", "...ij,...jk->...ik"])
    sizes = {letter: R.randint(1, 4) for letter in "abcdefghijklmnopqrstuvwxyz"}
    parts = []
    for word in equation.partition("->")[0].split(","):
        own = [sizes[letter] for letter in word.replace("...", "")]
        if R.random() < 0.15:
            own[0] += 1
        parts.append(tensor(*own))
    return name, [equation, *parts], {}


def spaced(name: str) -> Drawn:
    return name, [shape(0, 3)], {}


def fill(name: str) -> Drawn:
    return name, [shape(0, 3), 1.5], {}


def one_hot(name: str) -> Drawn:
    return name, [tensor(*shape(0, 2), kind="int32"), R.randint(1, 5)], {}


def top(name: str) -> Drawn:
    return name, [tensor(*shape(0, 3)), R.randint(1, 6)], {}


def where(name: str) -> Drawn:
    sizes = shape(1, 3)
    if R.random() < 0.2:
        return name, [tensor(*sizes, kind="bool")], {}
    return name, [tensor(*near(sizes), kind="bool"), tensor(*sizes), tensor(*near(sizes))], {}


def mask(name: str) -> Drawn:
    sizes = shape(1, 3)
    own = sizes[: R.randint(1, len(sizes))]
    if R.random() < 0.2:
        own[-1] += 1
    return name, [tensor(*sizes), tensor(*own, kind="bool")], {}


def cut(name: str) -> Drawn:
    sizes = shape(1, 3)
    begin = [R.randint(0, size - 1) for size in sizes]
    return name, [tensor(*sizes), begin, [R.choice([-1, 1]) for _ in sizes]], {}


def conv(name: str, count: int = 2, depthwise: bool = False) -> Drawn:
    channels, kernel = R.choice([1, 2, 3, 4]), [R.randint(1, 4) for _ in range(count)]
    image = [2, *(R.randint(3, 9) for _ in range(count)), channels]
    taken = channels if R.random() < 0.85 else channels + 1
    options: dict[str, Any] = {"strides": R.randint(1, 3), "padding": R.choice(["SAME", "VALID"])}
    if depthwise:
        step = options["strides"]
        options["strides"] = [1, step, step, 1]
    elif R.random() < 0.2:
        options["strides"], options["dilations"] = 1, 2
    if count == 1:
        options["stride"] = options.pop("strides")
    return name, [tensor(*image), tensor(*kernel, taken, R.randint(1, 4))], options


def pool(name: str, count: int = 2) -> Drawn:
    image = [2, *(R.randint(2, 9) for _ in range(count)), 3]
    return name, [tensor(*image), R.randint(1, 3), R.randint(1, 3), R.choice(["SAME", "VALID"])], {}


def bias(name: str) -> Drawn:
    sizes = shape(1, 4)
    return name, [tensor(*sizes), tensor(sizes[-1] + (R.random() < 0.2))], {}


def loss(name: str, sparse: bool = False) -> Drawn:
    sizes = [R.randint(1, 4), R.randint(2, 5)]
    labels = sizes[:-1] if sparse else list(sizes)
    if R.random() < 0.3:
        labels = R.choice([sizes, [*sizes[:-1], 1], [sizes[0] + 1], sizes[:1]])
    return name, [], {"labels": tensor(*labels, kind="int32" if sparse else "float32"), "logits": tensor(*sizes)}


def image(name: str) -> Drawn:
    return name, [tensor(*shape(0, 1), 5, 6, R.choice([1, 3]))], {}


def resize(name: str) -> Drawn:
    return name, [tensor(*shape(0, 1), 5, 6, 3), [R.randint(1, 8), R.randint(1, 8)]], {}


def item(size: int) -> Any:
    """One item of an index into an axis."""
    cut = [R.choice([None, R.randint(-3, 3)]) for _ in range(2)]
    step = R.choice([None, None, 2, -1])
    return R.choice([R.randint(-size, size - (R.random() < 0.9)), {"slice": [*cut, step]}, None])


def index(name: str) -> Drawn:
    sizes = shape(1, 4)
    items = [item(size) for size in sizes[: R.randint(1, len(sizes))]]
    if R.random() < 0.2:
        items.append({"ellipsis": True})
    return "Tensor.__getitem__", [tensor(*sizes), pair(*items) if len(items) > 1 else items[0]], {}


def square(name: str) -> Drawn:
    side = R.randint(1, 4)
    return name, [tensor(*shape(0, 2), side, side + (R.random() < 0.2), identity=True)], {}


def solve(name: str) -> Drawn:
    side, batch = R.randint(1, 4), shape(0, 1)
    right = [side + (R.random() < 0.2), R.randint(1, 3)][: R.choice([2, 2, 2, 1])]
    return name, [tensor(*batch, side, side, identity=True), tensor(*batch, *right)], {}


def frames(name: str) -> Drawn:
    sizes = [*shape(0, 2), R.randint(1, 20), *shape(0, 1)]
    options: dict[str, Any] = {"axis": axis(len(sizes), 0.05)} if R.random() < 0.5 else {}
    return name, [tensor(*sizes), R.randint(1, 6), R.randint(1, 4)], options | {"pad_end": R.random() < 0.4}


def transforms(name: str) -> Drawn:
    options: dict[str, Any] = {"fft_length": R.choice([8, 16])} if R.random() < 0.5 else {}
    return (
        name,
        [tensor(*shape(0, 2), R.randint(1, 30)), R.randint(1, 8), R.randint(1, 4)],
        options | {"pad_end": R.random() < 0.4},
    )


def ensured(name: str) -> Drawn:
    sizes = shape()
    asked: list[Any] = [size if R.random() < 0.5 else None for size in sizes]
    if asked and R.random() < 0.3:
        asked[R.randrange(len(asked))] = R.randint(1, 5)
    return name, [tensor(*sizes), [*asked, 1] if R.random() < 0.15 else asked], {}


TENSORFLOW: dict[str, Callable[[], Drawn]] = {
    **words("exp abs sqrt nn.relu nn.gelu zeros_like identity shape rank size math.sigmoid", unary),
    **words("add multiply subtract maximum divide equal greater math.squared_difference Tensor.__add__", binary),
    **words("Tensor.__mul__ Tensor.__truediv__ Tensor.__sub__ Tensor.__lt__", binary),
    **words("reduce_sum reduce_mean reduce_max reduce_min reduce_logsumexp math.reduce_std", reduce),
    **words("reshape", reshape),
    **words("transpose", transpose),
    **words("expand_dims", lambda name: one_axis(name, 1)),
    **words("argmax cumsum nn.softmax nn.l2_normalize sort argsort math.argmin", one_axis),
    **words("squeeze", squeeze),
    **words("concat", concat),
    **words("stack", stack),
    **words("split", split),
    **words("tile", tile),
    **words("gather", gather),
    **words("gather_nd", gather_nd),
    **words("pad", pad),
    **words("matmul Tensor.__matmul__ linalg.matmul", matmul),
    **words("tensordot", tensordot),
    **words("einsum", einsum),
    **words("zeros ones random.normal random.uniform", spaced),
    **words("fill", fill),
    **words("one_hot", one_hot),
    **words("math.top_k", top),
    **words("where", where),
    **words("boolean_mask", mask),
    **words("slice", cut),
    **words("nn.conv2d", conv),
    **words("nn.conv1d", lambda name: conv(name, 1)),
    **words("nn.depthwise_conv2d", lambda name: conv(name, 2, True)),
    **words("nn.max_pool2d nn.avg_pool2d", pool),
    **words("nn.max_pool1d nn.avg_pool1d", lambda name: pool(name, 1)),
    **words("nn.max_pool nn.avg_pool", pool),
    **words("linalg.inv linalg.det", square),
    **words("linalg.trace linalg.matrix_transpose linalg.diag_part", lambda name: (name, [tensor(*shape(1, 4))], {})),
    **words("linalg.diag", lambda name: (name, [tensor(*shape(1, 3))], {})),
    **words("linalg.solve", solve),
    **words("nn.bias_add", bias),
    **words("nn.softmax_cross_entropy_with_logits nn.sigmoid_cross_entropy_with_logits", loss),
    **words("nn.sparse_softmax_cross_entropy_with_logits", lambda name: loss(name, True)),
    **words("image.rgb_to_grayscale image.grayscale_to_rgb image.flip_left_right", image),
    **words("image.resize", resize),
    **words("index", index),
    **words("broadcast_to", lambda name: (name, [tensor(*near(sizes := shape(0, 3))), sizes], {})),
    **words("repeat", lambda name: (name, [tensor(*shape(1, 3)), R.randint(1, 3)], {"axis": R.choice([0, -1, None])})),
    **words("cast", lambda name: (name, [tensor(*shape()), "int32"], {})),
    **words("range", lambda name: (name, [R.randint(0, 9)], {})),
    **words("linspace", lambda name: (name, [0.0, 1.0, R.randint(1, 9)], {})),
    **words("eye", lambda name: (name, [R.randint(1, 5)], {})),
    **words("signal.frame", frames),
    **words("signal.stft", transforms),
    **words("signal.hann_window", lambda name: (name, [R.randint(1, 9)], {})),
    **words("ensure_shape", ensured),
    **FURTHER,
    **RARER,
}
"""How to draw a call of each function of tf."""
