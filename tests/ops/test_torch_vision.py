"""torch.ops.torchvision, as the library's own functions for meta tensors say it (torchvision/_meta_registrations.py)."""

import pytest

from interp.programs import errors_of

HEAD = """import torch

image, boxes = torch.zeros(2, 24, 6, 7), torch.zeros(9, 5)
vision = torch.ops.torchvision


@torch.fx.wrap
def wrapped(x):
    return x


@torch.compile(mode="reduce-overhead")
def compiled(x):
    return x


@torch.jit.script_if_tracing
def scripted(x):
    return x


"""
SIZES = {
    "vision.roi_align(image, boxes, 1.0, 3, 4, 2, True)": (9, 24, 3, 4),
    "vision.roi_pool(image, boxes, 1.0, 3, 4)[0]": (9, 24, 3, 4),
    "vision.ps_roi_align(image, boxes, 1.0, 3, 4, 2)[0]": (9, 2, 3, 4),
    "vision.ps_roi_pool(image, boxes, 1.0, 3, 4)[1]": (9, 2, 3, 4),
    "image[vision.nms(torch.zeros(5, 4), torch.zeros(5), 0.5), 0, 0]": ("n", 7),
    "wrapped(torch.zeros(3))": (3,),
    "compiled(torch.zeros(3))": (3,),
    "scripted(torch.zeros(3))": (3,),
    "torch.zeros(torch.nn.modules.utils._pair(3))": (3, 3),
    "torch.zeros(torch.nn.modules.utils._pair((3, 4)))": (3, 4),
    "torch.zeros(torch.nn.modules.utils._triple(3))": (3, 3, 3),
}
WRONG = (
    "vision.roi_align(image, boxes[:, 1:], 1.0, 3, 4, 2, True)",
    "vision.roi_align(image[0], boxes, 1.0, 3, 4, 2, True)",
    "vision.nms(torch.zeros(5, 4), torch.zeros(4), 0.5)",
    "vision.nms(torch.zeros(5, 5), torch.zeros(5), 0.5)",
)


@pytest.mark.parametrize("call", SIZES)
def test_sizes(call: str) -> None:
    sizes = SIZES[call]
    fits = ", ".join("1" if size == "n" else str(size) for size in sizes)
    assert errors_of(f"{HEAD}{call} + torch.zeros({fits})") == []
    assert errors_of(f"{HEAD}{call} + torch.zeros({fits}, 11)") != []


@pytest.mark.parametrize("call", WRONG)
def test_what_fails(call: str) -> None:
    assert len(errors_of(HEAD + call)) == 1
