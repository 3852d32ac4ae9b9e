"""How to draw calls of what people use less of tf: images, segments, transforms, decompositions, scattering."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ops.frameworks.drawing import Drawn, R, axis, near, pair, shape, tensor, words


def plain(name: str) -> Drawn:
    return name, [tensor(*shape())], {}


def ranked(name: str) -> Drawn:
    return name, [tensor(*shape(1))], {}


def one_axis(name: str) -> Drawn:
    sizes = shape(1)
    return name, [tensor(*sizes), axis(len(sizes))], {}


def both(name: str, kind: str = "float32") -> Drawn:
    sizes = shape()
    return name, [tensor(*sizes, kind=kind), tensor(*near(sizes), kind=kind)], {}


def picture(channels: int = 3) -> list[int]:
    batch = [R.randint(1, 3)] if R.random() < 0.6 else []
    return [*batch, R.randint(4, 9), R.randint(4, 9), channels]


def coloured(name: str, *numbers: float) -> Drawn:
    return name, [tensor(*picture()), *numbers], {}


def window(name: str) -> Drawn:
    grow = 6 if "pad" in name else 0
    sizes = picture()
    height, width = (R.randint(1, 3) + size * bool(grow) for size in sizes[-3:-1])
    return name, [tensor(*sizes), 0, 0, height, width], {}


def crop(name: str) -> Drawn:
    sizes = shape(1, 4)
    wanted = [R.randint(1, size + (R.random() < 0.1)) for size in sizes]
    options = {"seed": pair(1, 2)} if "stateless" in name else {}
    return name, [tensor(*sizes), wanted if R.random() < 0.9 else [*wanted, 1]], options


def boxes(name: str) -> Drawn:
    count = R.randint(1, 4)
    image = tensor(2, *picture()[-3:])
    return name, [image, tensor(count, 4), tensor(count, kind="int32"), [R.randint(1, 6), R.randint(1, 6)]], {}


def patches(name: str) -> Drawn:
    sizes, steps = ([1, R.randint(1, 4), R.randint(1, 4), 1] for _ in range(2))
    rates = [1, 1, 1, 1] if R.random() < 0.7 else [1, 2, 1, 1]
    return name, [tensor(2, *picture()[-3:]), sizes, steps, rates, R.choice(["SAME", "VALID"])], {}


def square(name: str) -> Drawn:
    size = R.randint(1, 4)
    return name, [tensor(*shape(0, 2), size, size if R.random() < 0.85 else size + 1, identity=True)], {}


def mask(name: str) -> Drawn:
    options = {"maxlen": R.randint(1, 6)} if R.random() < 0.7 else {}
    return name, [tensor(*shape(0, 2), kind="int32")], options


def scatter(name: str) -> Drawn:
    size, width = R.randint(1, 5), R.randint(1, 3)
    count = R.randint(1, 3)
    updates, places = tensor(count, width), tensor(count, 1, kind="int32")
    if name == "scatter_nd":
        return name, [places, updates, [size, width]], {}
    return name, [tensor(size, width), places, updates], {}


def segments(name: str) -> Drawn:
    sizes = shape(1, 3)
    ids = sizes[:1] if "unsorted" not in name else sizes[: R.randint(1, len(sizes))]
    rest = [R.randint(1, 4)] if "unsorted" in name else []
    return name, [tensor(*sizes), tensor(*ids, kind="int32"), *rest], {}


def classes(name: str) -> Drawn:
    count = R.randint(1, 5)
    return name, [tensor(count, kind="int32"), tensor(count, kind="int32")], {"num_classes": R.randint(1, 5)}


def samples(name: str) -> Drawn:
    return name, [tensor(*shape(2, 2 + (R.random() < 0.1))), R.randint(1, 5)], {}


def halved(name: str) -> Drawn:
    options: dict[str, Any] = {"fft_length": [R.randint(1, 8)]} if R.random() < 0.3 else {}
    return name, [tensor(*shape(1))], options


def mel(name: str) -> Drawn:
    return name, [R.randint(2, 9), R.randint(9, 33)], {}


def top(name: str) -> Drawn:
    count = R.randint(1, 4)
    return name, [tensor(count, kind="int32"), tensor(count, 5), 2], {}


def seeded(name: str) -> Drawn:
    return name, [shape(0, 3), pair(1, 2)], {}


def solve(name: str) -> Drawn:
    size, ahead = R.randint(1, 4), shape(0, 1)
    rows = size if R.random() < 0.85 else size + 1
    return name, [tensor(*ahead, size, size, identity=True), tensor(*ahead, rows, R.randint(1, 3))], {}


def affine(name: str) -> Drawn:
    ahead, inside, units = shape(0, 2), R.randint(1, 4), R.randint(1, 4)
    inner, bias = (size + (R.random() < 0.15) for size in (inside, units))
    return name, [tensor(*ahead, inside), tensor(inner, units), tensor(bias)], {}


def sorted_values(name: str) -> Drawn:
    ahead = shape(0, 2)
    return name, [tensor(*ahead, 5), tensor(*ahead, R.randint(1, 4))], {}


def norms(name: str) -> Drawn:
    return name, [[tensor(*shape()) for _ in range(R.randint(1, 3))], 1.0], {}


FURTHER: dict[str, Callable[[], Drawn]] = {
    **words("image.rgb_to_hsv image.hsv_to_rgb image.rgb_to_yuv", coloured),
    **words("image.adjust_contrast image.adjust_saturation", lambda name: coloured(name, 2.0)),
    **words("image.adjust_hue", lambda name: coloured(name, 0.1)),
    **words("image.adjust_gamma", coloured),
    **words("image.random_contrast image.random_saturation", lambda name: coloured(name, 0.1, 0.9)),
    **words("image.random_hue", lambda name: coloured(name, 0.1)),
    **words("image.convert_image_dtype", lambda name: (name, [tensor(*picture()), "float32"], {})),
    **words("image.total_variation", coloured),
    **words("image.crop_to_bounding_box image.pad_to_bounding_box", window),
    **words("image.random_crop image.stateless_random_crop", crop),
    **words("image.crop_and_resize", boxes),
    **words("image.extract_patches", patches),
    **words("math.reciprocal_no_nan math.erfcinv nn.l2_loss nn.zero_fraction", plain),
    **words("math.cumulative_logsumexp math.log_softmax", one_axis),
    **words("math.nextafter math.igamma complex truncatediv", both),
    **words("bitwise.bitwise_and bitwise.left_shift", lambda name: both(name, "int32")),
    **words("math.scalar_mul", lambda name: (name, [2.0, tensor(*shape())], {})),
    **words("compat.v1.nn.xw_plus_b", affine),
    **words("nn.local_response_normalization", lambda name: (name, [tensor(2, *picture()[-3:])], {})),
    **words("linalg.eigh linalg.eigvalsh linalg.logdet linalg.slogdet linalg.sqrtm", square),
    **words("linalg.adjoint linalg.matrix_rank", lambda name: (name, [tensor(*shape(2, 4))], {})),
    **words("linalg.normalize", plain),
    **words("linalg.triangular_solve", solve),
    **words("signal.fft signal.ifft2d", lambda name: (name, [tensor(*shape(2), kind="complex64")], {})),
    **words("signal.rfft", halved),
    **words("signal.fftshift", ranked),
    **words("signal.linear_to_mel_weight_matrix", mel),
    **words("sequence_mask", mask),
    **words("scatter_nd tensor_scatter_nd_add tensor_scatter_nd_update", scatter),
    **words("math.segment_sum math.unsorted_segment_sum math.unsorted_segment_max", segments),
    **words("math.confusion_matrix", classes),
    **words("random.categorical", samples),
    **words("math.in_top_k", top),
    **words("random.stateless_normal", seeded),
    **words("searchsorted", sorted_values),
    **words("clip_by_global_norm", norms),
}
