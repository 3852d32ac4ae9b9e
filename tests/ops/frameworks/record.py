#!/usr/bin/env python3
"""Runs random calls of TensorFlow or Keras for real and writes what each gave: `record.py tensorflow|keras OUT.jsonl`.

It runs in an environment that has the library and knows nothing of distml; `oracle.py` beside it replays what it wrote.
A line is one call: the name, arguments, and the shapes it gave or the error it raised. Sizes and parameters are drawn at
random, right and wrong ones, from a fixed seed, so that a record can be made anew for another version.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

COUNT = 14
"""How many calls of each operation or layer."""
Drawn = tuple[str, list[Any], dict[str, Any]]
R = random.Random(15)


def tensor(*shape: int, kind: str = "float32", identity: bool = False) -> dict[str, Any]:
    """An array of zeros, or of matrices that can be inverted."""
    made = {"tensor": list(shape), "kind": kind}
    return {**made, "identity": True} if identity else made


def pair(*items: Any) -> dict[str, Any]:
    """A tuple."""
    return {"tuple": list(items)}


def shape(low: int = 0, high: int = 4, largest: int = 5) -> list[int]:
    """Sizes of a random number of axes."""
    return [R.randint(1, largest) for _ in range(R.randint(low, high))]


def axis(rank: int, spare: float = 0.1) -> int:
    """An axis, now and then one that does not exist."""
    over = R.random() < spare
    return R.randint(-rank - over, max(rank - 1 + over, -rank - over))


def near(sizes: list[int]) -> list[int]:
    """Sizes that broadcast with these, or almost do."""
    cut = sizes[R.randint(0, len(sizes)) :] if R.random() < 0.4 else list(sizes)
    made = [1 if R.random() < 0.3 else size for size in cut]
    if made and R.random() < 0.2:
        made[R.randrange(len(made))] += 1
    return made


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


def words(text: str, draw: Callable[[str], Drawn]) -> dict[str, Callable[[], Drawn]]:
    return {name: (lambda name=name: draw(name)) for name in text.split()}  # type: ignore[misc]


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
}
"""How to draw a call of each function of tf."""


def layer_conv(name: str) -> tuple[Any, ...]:
    count = int(next(letter for letter in name if letter.isdigit()))
    options: dict[str, Any] = {"padding": R.choice(["same", "valid"])}
    if R.random() < 0.5:
        options["strides"] = R.randint(1, 3)
    elif R.random() < 0.3 and "Depthwise" not in name:
        options["dilation_rate"] = 2
    if name == "Conv1D" and R.random() < 0.3:
        options["padding"] = "causal"
    filters = [] if "Depthwise" in name else [R.randint(1, 6)]
    sizes = [2, *(R.randint(2, 8) for _ in range(count)), R.randint(1, 4)]
    return [*filters, R.randint(1, 4)], options, [sizes[1:] if R.random() < 0.1 else sizes]


def layer_pool(name: str) -> tuple[Any, ...]:
    count = int(next(letter for letter in name if letter.isdigit()))
    options = {"padding": R.choice(["same", "valid"])}
    if R.random() < 0.5:
        options["strides"] = R.randint(1, 3)  # type: ignore[assignment]
    return [R.randint(1, 3)], options, [[2, *(R.randint(1, 8) for _ in range(count)), 3][R.random() < 0.1 :]]


def layer_global(name: str) -> tuple[Any, ...]:
    count = int(next(letter for letter in name if letter.isdigit()))
    return (
        [],
        R.choice([{}, {"keepdims": True}]),
        [[2, *(R.randint(1, 8) for _ in range(count)), 3][R.random() < 0.2 :]],
    )


def layer_spatial(name: str) -> tuple[Any, ...]:
    count = int(next(letter for letter in name if letter.isdigit()))
    sizes = [2, *(R.randint(2, 8) for _ in range(count)), 3]
    edges: Any = R.choice([1, pair(*(pair(1, 2) for _ in range(count))) if count > 1 else pair(1, 2)])
    return [edges if "Up" not in name else 2], {}, [sizes]


def layer_recurrent(name: str) -> tuple[Any, ...]:
    options = {key: True for key in ("return_sequences", "return_state") if R.random() < 0.4}
    return [R.randint(1, 5)], options, [[2, R.randint(1, 4), 3][R.random() < 0.1 :]]


def layer_merge(name: str) -> tuple[Any, ...]:
    sizes = [2, *shape(1, 3)]
    other = [sizes[0], *near(sizes[1:])]
    return [], {}, [sizes, other] if len(other) == len(sizes) else [sizes, sizes]


def layer_join(name: str) -> tuple[Any, ...]:
    sizes = [2, *shape(1, 3)]
    at = axis(len(sizes), 0)
    other = list(sizes)
    other[at] += R.randint(0, 2)
    if R.random() < 0.2:
        other[R.randrange(1, len(other))] += 1
    return [], {"axis": at}, [sizes, other]


def any_rank(*args: Any, low: int = 2, high: int = 4) -> Callable[[str], tuple[Any, ...]]:
    return lambda _: (list(args), {}, [shape(low, high)])


def layer_reshape(name: str) -> tuple[Any, ...]:
    sizes = [2, *shape(1, 3)]
    total = 1
    for size in sizes[1:]:
        total *= size
    target = R.choice([[total], [-1, 1], [total, 1], [1, -1], [total + 1]])
    return [pair(*target)], {}, [sizes]


def layer_permute(name: str) -> tuple[Any, ...]:
    sizes = [2, *shape(1, 3)]
    order = R.sample(range(1, len(sizes)), len(sizes) - 1)
    return [pair(*order) if R.random() < 0.85 else pair(1, 2)], {}, [sizes]


KERAS: dict[str, Callable[[str], tuple[Any, ...]]] = {
    "Dense": lambda _: ([R.randint(1, 6)], {}, [shape(1, 4)]),
    "Flatten": any_rank(),
    "Dropout": any_rank(0.5),
    "BatchNormalization": any_rank(),
    "LayerNormalization": any_rank(),
    "ReLU": any_rank(),
    "Activation": any_rank("relu"),
    "Embedding": lambda _: ([10, R.randint(1, 5)], {}, [shape(1, 3)]),
    "RepeatVector": lambda _: ([R.randint(1, 4)], {}, [shape(1, 3)]),
    "Softmax": any_rank(),
    "GaussianNoise": any_rank(0.1),
    "Reshape": layer_reshape,
    "Permute": layer_permute,
    **dict.fromkeys("Conv1D Conv2D Conv3D SeparableConv1D SeparableConv2D DepthwiseConv2D".split(), layer_conv),
    **dict.fromkeys("Conv1DTranspose Conv2DTranspose Conv3DTranspose".split(), layer_conv),
    **dict.fromkeys("MaxPooling1D MaxPooling2D MaxPooling3D AveragePooling1D AveragePooling2D".split(), layer_pool),
    **dict.fromkeys(
        "GlobalMaxPooling1D GlobalAveragePooling1D GlobalAveragePooling2D GlobalMaxPooling2D".split(), layer_global
    ),
    **dict.fromkeys(
        "UpSampling1D UpSampling2D ZeroPadding1D ZeroPadding2D Cropping1D Cropping2D".split(), layer_spatial
    ),
    **dict.fromkeys("LSTM GRU SimpleRNN".split(), layer_recurrent),
    **dict.fromkeys("Add Multiply Average Maximum Subtract".split(), layer_merge),
    "Concatenate": layer_join,
}
"""How to draw the arguments of each layer and the shapes it is called with."""


def made(value: Any, zeros: Callable[..., Any]) -> Any:
    """The real argument that a description stands for."""
    if isinstance(value, list):
        return [made(item, zeros) for item in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return zeros(value["tensor"], value["kind"], "identity" in value)
    if "tuple" in value:
        return tuple(made(item, zeros) for item in value["tuple"])
    return slice(*value["slice"]) if "slice" in value else Ellipsis


def told(result: Any) -> Any:
    """What a result is, for the record."""
    if isinstance(result, list | tuple):
        return [told(item) for item in result]
    kind = str(getattr(result.dtype, "name", result.dtype))
    return {"tensor": [int(size) for size in result.shape], "kind": kind}


def run(line: dict[str, Any], call: Callable[[], Any]) -> dict[str, Any]:
    """The line with what the call gave."""
    try:
        return {**line, "gave": told(call())}
    except Exception as error:
        return {**line, "raised": f"{type(error).__name__}: {error}".splitlines()[0][:160]}


def tensorflow() -> Iterator[dict[str, Any]]:
    """Calls of tf, run eagerly."""
    import tensorflow as tf

    def zeros(sizes: list[int], kind: str, identity: bool = False) -> Any:
        ahead, square = sizes[:-2], len(sizes) > 1 and identity
        return tf.eye(*sizes[-2:], batch_shape=ahead) if square else tf.zeros(sizes, kind)

    for name, draw in TENSORFLOW.items():
        if name.endswith("_"):
            continue
        for _ in range(COUNT):
            called, args, kwargs = draw()
            function: Any = tf
            for part in called.split("."):
                function = getattr(function, part)
            real = [made(arg, zeros) for arg in args], {key: made(value, zeros) for key, value in kwargs.items()}
            line = {"name": f"tensorflow.{called}", "args": args, "kwargs": kwargs}
            yield run(line, lambda f=function, real=real: f(*real[0], **real[1]))  # type: ignore[misc]


def keras() -> Iterator[dict[str, Any]]:
    """Layers, called with what stands for tensors while a model is made."""
    try:
        from tensorflow import keras as library
    except ImportError:
        import keras as library

    def zeros(sizes: list[int]) -> Any:
        return library.Input(batch_shape=tuple(sizes))

    for name, draw in KERAS.items():
        for _ in range(COUNT):
            args, kwargs, inputs = draw(name)
            line = {"name": f"keras.layers.{name}", "args": args, "kwargs": kwargs, "inputs": inputs}
            real = [made(arg, zeros) for arg in args], {key: made(value, zeros) for key, value in kwargs.items()}

            def call(name: str = name, real: Any = real, inputs: Any = inputs) -> Any:
                layer = getattr(library.layers, name)(*real[0], **real[1])
                given = [zeros(sizes) for sizes in inputs]
                return layer(given if len(given) > 1 else given[0])

            yield run(line, call)


def main() -> None:
    """Write the record of one library."""
    lines = {"tensorflow": tensorflow, "keras": keras}[sys.argv[1]]()
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


if __name__ == "__main__":
    main()
