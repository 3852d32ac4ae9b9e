"""How to draw calls of tf's decompositions, of convolutions in other forms, and of what else few programs use."""

from __future__ import annotations

from collections.abc import Callable

from ops.frameworks.drawing import Drawn, R, near, shape, tensor, words
from ops.frameworks.further_functions import picture, plain, ranked, solve, square


def matrix(name: str) -> Drawn:
    options = {"full_matrices": True} if R.random() < 0.3 else {}
    return name, [tensor(*shape(0, 1), *shape(2 - (R.random() < 0.1), 2))], options


def fitted(name: str) -> Drawn:
    rows, columns = sorted((R.randint(1, 5), R.randint(1, 5)), reverse=True)
    other = rows if R.random() < 0.8 else rows + 1
    return name, [tensor(rows, columns, identity=True), tensor(other, R.randint(1, 3))], {"fast": False}


def vectors(name: str) -> Drawn:
    ahead, last = shape(0, 2), 3 if R.random() < 0.85 else 2
    return name, [tensor(*ahead, last), tensor(*ahead, last if R.random() < 0.9 else 4)], {}


def diagonal(name: str) -> Drawn:
    ahead, rows, columns = shape(0, 1), R.randint(1, 4), R.randint(1, 4)
    length = min(rows, columns) + (R.random() < 0.15)
    return name, [tensor(*ahead, rows, columns), tensor(*ahead, length)], {}


def addends(name: str) -> Drawn:
    sizes = shape(1)
    return name, [[tensor(*sizes), tensor(*(sizes if R.random() < 0.8 else near(sizes)))]], {}


def grid(name: str) -> Drawn:
    options = {"indexing": "ij"} if R.random() < 0.4 else {}
    return name, [tensor(R.randint(1, 5)) for _ in range(R.randint(1, 3))], options


def transposed(name: str) -> Drawn:
    count = int(name[7])
    taken, given, step = R.randint(1, 3), R.randint(1, 3), R.randint(1, 2)
    sizes = [R.randint(3, 5) for _ in range(count)]
    image = tensor(2, *sizes, taken + (R.random() < 0.15))
    asked = [2, *(size * step for size in sizes), given + (R.random() < 0.1)]
    return name, [image, tensor(*[3] * count, given, taken), asked, step], {"padding": "SAME"}


def separable(name: str) -> Drawn:
    channels, each = R.randint(1, 3), R.randint(1, 2)
    inner = channels * each + (R.random() < 0.15)
    filters = [tensor(2, 2, channels, each), tensor(1, 1, inner, R.randint(1, 4))]
    return name, [tensor(2, *picture(channels)[-3:]), *filters, [1, 1, 1, 1], R.choice(["SAME", "VALID"])], {}


def spaced(name: str) -> Drawn:
    channels = R.randint(1, 3)
    filters = tensor(2, 2, channels + (R.random() < 0.15), R.randint(1, 4))
    return name, [tensor(2, 9, 8, channels), filters, 2, R.choice(["SAME", "VALID"])], {}


def blocks(name: str) -> Drawn:
    height, width = (2 * R.randint(1, 3) + (R.random() < 0.1) for _ in range(2))
    return name, [tensor(2, height, width, 4 * R.randint(1, 2) + (R.random() < 0.1)), 2], {}


def normalized(name: str) -> Drawn:
    sizes = shape(1)
    own = sizes[-1:] if R.random() < 0.85 else [sizes[-1] + 1]
    return name, [tensor(*sizes), tensor(*own), tensor(*own), tensor(*own), tensor(*own), 0.001], {}


def weighted(name: str) -> Drawn:
    sizes = shape(1, 3)
    labels = sizes if R.random() < 0.8 else near(sizes)
    return name, [tensor(*labels), tensor(*sizes), 2.0], {}


def sampled(name: str) -> Drawn:
    rows, width, classes = R.randint(1, 4), R.randint(1, 4), 9
    inputs = tensor(rows, width + (R.random() < 0.15))
    labels = tensor(rows + (R.random() < 0.15), 1, kind="int64")
    return name, [tensor(classes, width), tensor(classes), labels, inputs, 4, classes], {}


def compared(name: str) -> Drawn:
    sizes = [2, 13, 12, 3]
    other = list(sizes)
    if R.random() < 0.25:
        other[R.randint(1, 3)] += 1
    return name, [tensor(*sizes), tensor(*other), 1.0], {}


def batched(name: str) -> Drawn:
    return name, [tensor(*picture() if R.random() < 0.3 else [2, *picture()[-3:]])], {}


def turned(name: str) -> Drawn:
    return name, [tensor(*picture())], {"k": R.randint(0, 3)}


def drawn_boxes(name: str) -> Drawn:
    count = R.randint(1, 4)
    return name, [tensor(count, 4), tensor(count + (R.random() < 0.2)), 3], {}


RARER: dict[str, Callable[[], Drawn]] = {
    **words("linalg.svd linalg.qr", matrix),
    **words("linalg.lu linalg.eigvals linalg.cholesky", square),
    **words("linalg.cholesky_solve", solve),
    **words("linalg.lstsq", fitted),
    **words("linalg.cross", vectors),
    **words("linalg.set_diag", diagonal),
    **words("linalg.tensor_diag", lambda name: (name, [tensor(*shape(1, 3))], {})),
    **words("linalg.pinv", lambda name: (name, [tensor(*shape(2, 3))], {})),
    **words("linalg.l2_normalize", plain),
    **words("add_n", addends),
    **words("meshgrid", grid),
    **words("nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose", transposed),
    **words("nn.separable_conv2d", separable),
    **words("nn.atrous_conv2d", spaced),
    **words("nn.space_to_depth nn.depth_to_space", blocks),
    **words("nn.batch_normalization", normalized),
    **words("nn.crelu", ranked),
    **words("nn.weighted_cross_entropy_with_logits", weighted),
    **words("nn.sampled_softmax_loss nn.nce_loss", sampled),
    **words("image.psnr image.ssim", compared),
    **words("image.sobel_edges image.image_gradients", batched),
    **words("image.rot90", turned),
    **words("image.transpose", lambda name: (name, [tensor(*picture())], {})),
    **words("image.central_crop", lambda name: (name, [tensor(*picture()), 0.5], {})),
    **words("image.non_max_suppression", drawn_boxes),
    **words("unique unique_with_counts", lambda name: (name, [tensor(*shape(1, 1 + (R.random() < 0.2)))], {})),
    **words("histogram_fixed_width", lambda name: (name, [tensor(*shape()), [0.0, 1.0]], {"nbins": R.randint(1, 9)})),
}
