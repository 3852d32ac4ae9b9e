"""SHP312 is not told in a project that chooses what floats are by default, in whichever of its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.engine.config import Config
from distml.engine.run import run

PROGRAM = """
import numpy as np
import torch
from torch import nn

nn.Linear(4, 1)(torch.from_numpy(np.random.rand(8, 4)))
"""


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ("import torch\n\n\ndef start():\n    torch.set_default_dtype(torch.float64)\n", False),
        ("from torch import set_default_tensor_type as chosen\n", False),
        ("import torch\n\ntorch.set_default_device('cuda')\n", True),
    ],
)
def test_another_file_of_the_project(tmp_path: Path, other: str, told: bool) -> None:
    (tmp_path / "model.py").write_text(PROGRAM)
    (tmp_path / "start.py").write_text(other)
    report = run([str(tmp_path / "model.py")], Config(folder=str(tmp_path)))
    assert [each.code for each in report.diagnostics] == ["SHP312"] * told
