"""Functions that multiply matrices, in the table of layers, against what PyTorch counts of the same call on meta tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradual.seeing import shapes
from gradual.test_layers import HEAD, real, shown

FORWARDS = {
    "matmul": "x @ x.transpose(-1, -2)",
    "reflected": "x.transpose(-1, -2).__rmatmul__(x)",
    "methods": "x.bmm(x.transpose(1, 2)).matmul(x)",
    "by name": "torch.bmm(mat2=x.transpose(1, 2), input=x)",
    "mm": "x[0].mm(x[1].t())",
    "batch against one": "x @ ones(6, 7)",
    "batches that meet": "x.unsqueeze(1) @ x.transpose(1, 2).unsqueeze(0)",
    "addmm": "torch.addmm(ones(4), x[0], ones(6, 4))",
    "baddbmm": "torch.baddbmm(ones(3, 5, 5), x, x.transpose(1, 2))",
    "linear": "F.linear(x, ones(9, 6), ones(9))",
    "convolutions": "F.conv1d(F.conv1d(x, ones(4, 5, 3), padding=1), ones(8, 2, 3), groups=2)",
    "transposed": "F.conv_transpose1d(x, ones(5, 4, 3), stride=2)",
    "planes": "torch.conv2d(x[None], ones(2, 3, 2, 2))",
    "attention": "F.scaled_dot_product_attention(x[None], ones(1, 3, 8, 6), ones(1, 3, 8, 6))",
    "einsum": "torch.einsum('bij,bkj->bik', x, x)",
    "einsum of two lists": "torch.einsum('b i j, c j -> b c i', x, ones(7, 6))",
    "einsum without a result": "torch.einsum('bij,jk', x, ones(6, 2))",
    "einsum that sums nothing": "torch.einsum('bij,bij->bij', x, x)",
    "a helper twice": "twice(twice(x))",
    "elements": "F.relu(x) * x + x.sum()",
}
VECTORS = {"torch.matmul(x, x[0, 0])": 90, "x[0].mv(x[0, 0])": 30, "x[0, 0].dot(x[0, 1])": 6}
"""PyTorch's counter passes over these."""
UNKNOWN = {
    "tensordot": "torch.tensordot(x, ones(6, 2), dims=1)",
    "three operands": "torch.einsum('bij,jk,kl->bil', x, ones(6, 2), ones(2, 3))",
    "under a condition": "x @ ones(6, 6) if x.sum() > 0 else x",
}


def program(result: str) -> str:
    return HEAD + (
        "def twice(x):\n    return x @ x.new_ones(6, 6)\n\n\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(6, 6)\n\n"
        f"    def forward(self, x):\n        x = self.fc(x)\n        ones = x.new_ones\n        return {result}\n"
    )


@pytest.mark.requires("torch")
@pytest.mark.parametrize("title", FORWARDS)
def test_products_outside_of_layers_are_counted(title: str, tmp_path: Path) -> None:
    text = program(FORWARDS[title])
    _, _, work = real(text, (3, 5, 6), title)
    assert shown(tmp_path, text, (3, 5, 6)).multiply_adds == work


@pytest.mark.parametrize("result", VECTORS)
def test_products_with_vectors_are_counted(result: str, tmp_path: Path) -> None:
    row = shown(tmp_path, program(result), (3, 5, 6)).rows[-1]
    assert row.multiply_adds == VECTORS[result]


@pytest.mark.parametrize("title", UNKNOWN)
def test_where_a_product_is_not_known_no_sum_is(title: str, tmp_path: Path) -> None:
    assert shown(tmp_path, program(UNKNOWN[title]), (3, 5, 6)).multiply_adds is None


def test_a_row_of_a_function_has_no_name(tmp_path: Path) -> None:
    layers = shapes(tmp_path, program("torch.bmm(x, x.transpose(1, 2))"), "Net", ["x: float[b, 5, 6]"]).layers
    assert layers is not None
    assert [(row.name, row.type, row.output, row.parameters) for row in layers.rows] == [
        ("fc", "Linear", "[b, 5, 6]", 42),
        ("", "bmm", "[b, 5, 5]", 0),
    ]
    assert (layers.rows[1].multiply_adds, layers.multiply_adds) == ("150*b", "330*b")
