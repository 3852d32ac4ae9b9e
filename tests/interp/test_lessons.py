"""GRD101 and GRD201 name both places: the one that settles a size, and the one that needs another."""

from __future__ import annotations

from pathlib import Path

from distml.interp.check import check_file
from distml.source.project import Project

PROGRAM = """\
import torch
from torch import nn


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Conv2d(2, 8, 3)
        self.right = nn.Conv2d(4, 8, 3)

    def forward(self, x{annotation}):
        a = self.left(x)
        return a + self.right(x)
"""


def findings(folder: Path, program: str) -> list[tuple[str, int, set[int]]]:
    path = folder / "program.py"
    path.write_text(program)
    project = Project(str(folder))
    found = check_file(project.open(str(path)), project).diagnostics
    return [(d.code, d.span.line, {related.span.line for related in d.related}) for d in found]


def test_two_layers_settle_one_size_differently(tmp_path: Path) -> None:
    ((code, line, related),) = findings(tmp_path, PROGRAM.format(annotation=""))
    assert (code, line) == ("GRD201", 13)
    assert {8, 9, 12} <= related, "the two layers, and the call that settles the size"


def test_an_annotation_contradicts_a_layer(tmp_path: Path) -> None:
    program = PROGRAM.format(annotation=": TensorType([Dyn, 4, Dyn, Dyn])")
    program = program.replace(
        "from torch import nn", "from torch import nn\nfrom torch.fx.tensor_type import Dyn, TensorType"
    )
    ((code, line, related),) = findings(tmp_path, program)
    assert (code, line) == ("GRD101", 13)
    assert 12 in related, "the annotation"


def test_known_sizes_are_no_matter_of_inputs(tmp_path: Path) -> None:
    program = "import torch\n\n\ndef f():\n    return torch.ones(2, 3) @ torch.ones(4, 5)\n"
    assert [code for code, _, _ in findings(tmp_path, program)] == ["SHP101"]


def test_a_size_that_the_function_makes_is_no_input(tmp_path: Path) -> None:
    program = """\
import torch


def f(n: int):
    x = torch.ones(n, 3)
    y = torch.ones(5) + x.sum(1)
    return x @ torch.ones(4, 2)
"""
    assert [code for code, _, _ in findings(tmp_path, program)] == ["SHP101"]
