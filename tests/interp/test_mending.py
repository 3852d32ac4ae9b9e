"""`//` in the place of `/`: only where both give the same number, and only where that mends the finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.engine.config import Config
from distml.engine.fixes import mended
from distml.engine.run import run

HEAD = "import numpy as np\nimport torch\nfrom torch import nn\n\n"
NET = """\
class Net(nn.Module):
    def __init__(self, n, h=4.0):
        super().__init__()
        self.n = n
        self.fc = nn.Linear({size}, 3)


Net(64)
"""


def fixed(folder: Path, text: str) -> str:
    (folder / "a.py").write_text(HEAD + text)
    report = run(["a.py"], Config(jobs=0))
    assert "SHP603" in {each.code for each in report.diagnostics}
    return mended(report.diagnostics, {"a.py": HEAD + text}).get("a.py", HEAD + text).removeprefix(HEAD)


@pytest.mark.requires("distml.interp.check")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.zeros(128 / 2)", "torch.zeros(128 // 2)"),
        ("w = 9\nnp.ones((w / 3, (w)/9), dtype=float)", "w = 9\nnp.ones((w // 3, (w)//9), dtype=float)"),
        ("w = 8\ntorch.zeros(size=[w / 2, 7 / 2])", "w = 8\ntorch.zeros(size=[w // 2, 7 / 2])"),
        ("é = 8\nx = 'é', torch.zeros(é / 2)", "é = 8\nx = 'é', torch.zeros(é // 2)"),
        (NET.format(size="self.n / 2"), NET.format(size="self.n // 2")),
        (NET.format(size="n / 64"), NET.format(size="n // 64")),
    ],
)
def test_an_exact_division(folder: Path, before: str, after: str) -> None:
    assert fixed(folder, before) == after
    if "7 / 2" not in after:
        (folder / "a.py").write_text(HEAD + after)
        assert run(["a.py"], Config(jobs=0)).diagnostics == ()


@pytest.mark.requires("distml.interp.check")
@pytest.mark.parametrize(
    "text",
    [
        "torch.zeros(7 / 2)",
        "w = 8.0\ntorch.zeros(w / 2)",
        "w = True\ntorch.zeros(w / 1)",
        "torch.zeros(64.0)",
        "w = 8 / 2\ntorch.zeros(w)",
        "w = 8\ntorch.zeros(w / 2 + 1)",
        "w = 8\ntorch.zeros(\n    w\n    / 2\n)",
        NET.format(size="n / h"),
    ],
)
def test_what_would_change_or_not_mend_is_left_alone(folder: Path, text: str) -> None:
    assert fixed(folder, text) == text
