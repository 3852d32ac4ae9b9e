"""Arrays of NumPy that go backwards in memory: what PyTorch reads of them (SHP209)."""

from __future__ import annotations

import pytest

from interp.programs import errors_of

VIEWS = (
    *("x", "x[::-1]", "x[:, :, ::-1]", "x[::-1, ::-1]", "x[::-1][::-1]", "x[:1][::-1]", "x[0:0][::-1]", "x[::2]"),
    *("np.flip(x, 0)", "np.flip(x, (0, 1))", "np.flip(x)", "np.fliplr(x)", "np.flipud(x)", "np.flip(np.flip(x, 0), 0)"),
    *("x[::-1].copy()", "np.ascontiguousarray(x[::-1])", "np.array(x[::-1])", "np.asarray(x[::-1])", "x[::-1] + 0"),
    *(
        "x[::-1].astype(np.float32)",
        "x[::-1].transpose(2, 0, 1)",
        "x[::-1].T",
        "x[::-1].reshape(-1)",
        "x[::-1].ravel()",
    ),
    *("x[..., ::-1].reshape(20, 3)", "x[::-1][0]", "x[::-1, 0]", "x[:, ::-1][0]", "x[::-1][None]", "x[::-1, :, 1:]"),
    *("np.transpose(x[::-1])", "np.expand_dims(x[::-1], 0)", "x[::-1].squeeze()", "np.stack([x[::-1]])", "x[::-1] * 1"),
    *(
        "x[::-1][[0, 1]]",
        "x[[0, 1]][::-1]",
        "x[::-1].swapaxes(0, 1)",
        "np.moveaxis(x[::-1], 2, 0)",
        "x[::-1].flatten()",
    ),
    *("np.abs(x[::-1])", "np.clip(x[::-1], 0, 1)", "x[::-1].clip(0, 1)", "np.concatenate([x[::-1], x])", "-x[::-1]"),
    *("np.zeros_like(x[::-1])", "x[::-1].sum(0)", "np.sort(x[::-1])", "np.where(x > 0, x, 0)[::-1]", "x[::-1] > 0"),
    *(
        "np.pad(x, 1)[::-1]",
        "np.asarray([1, 2, 3])[::-1]",
        "x[1:3, ::-2]",
        "x[::-1, None]",
        "np.linspace(0, 1, 5)[::-1]",
    ),
)
MAKERS = ("torch.from_numpy({})", "torch.tensor({})", "torch.as_tensor({})", "torch.Tensor({})")


@pytest.mark.requires("torch")
def test_what_pytorch_reads() -> None:
    import numpy as np
    import torch

    cases = [maker.format(view) for view in VIEWS for maker in MAKERS]
    names = {"np": np, "torch": torch, "x": np.ones((4, 5, 3), np.float32)}
    failing = set()
    for case in cases:
        try:
            eval(case, names)
        except ValueError:
            failing.add(case)
        except TypeError:  # of its kind
            assert "bool" in case or ">" in case
    program = "import numpy as np\nimport torch\n\nx = np.ones((4, 5, 3), np.float32)\n"
    program += "".join(f"\n\ndef f{place}():\n    {case}\n" for place, case in enumerate(cases))
    lines = program.splitlines()
    errors = errors_of(program)
    found = {lines[error.span.line - 1].strip() for error in errors}
    assert {error.code for error in errors} == {"SHP209"}
    assert found <= failing, found - failing
    assert len(failing - found) <= 2, failing - found


def test_a_batch_of_reversed_images() -> None:
    program = """
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        image = np.zeros((32, 32, 3), np.float32)
        return image[:, ::-1]{copy}, index


for images, labels in DataLoader(Images(), batch_size=4):
    pass
"""
    assert [error.code for error in errors_of(program.format(copy=""))] == ["SHP209"]
    assert errors_of(program.format(copy=".copy()")) == []


def test_sizes_that_are_not_known() -> None:
    program = """
import numpy as np
import torch


def f(n, x):
    torch.from_numpy(x[::-1])
    torch.from_numpy(np.zeros((n, 3))[::-1].copy())
    torch.from_numpy(np.zeros((n, 3))[::-1])
"""
    assert [error.span.line for error in errors_of(program)] == [9]
