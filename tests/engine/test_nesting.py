"""Source nested in every way: never a failure of ours, and never the loss of findings elsewhere in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.engine.config import Config
from distml.engine.run import run

from engine.nested import KINDS, parses

pytestmark = pytest.mark.requires("distml.interp.check")

HEAD = "import torch\ntorch.ones(2, 3) @ torch.ones(4, 5)\n"
TAIL = "\nimport torch\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\n"
SPENT = {"loops"}
"""Kinds whose work uses up the budget of the module."""


@pytest.mark.parametrize("depth", [90, 2400])
def test_nesting_costs_at_most_the_expression_that_is_nested(folder: Path, depth: int) -> None:
    expected = {}
    for kind, write in KINDS.items():
        text = HEAD + write(depth) + TAIL
        (folder / f"{kind}.py").write_text(text)
        expected[f"{kind}.py"] = ["SHP101", "SHP101"] if parses(text) else ["SRC104"]
    report = run(["."], Config(jobs=2, time_limit=1e5, max_file_size=1 << 30))
    found: dict[str, list[str]] = {name: [] for name in expected}
    for each in report.diagnostics:
        found[each.span.path].append(each.code)
    for kind in SPENT:
        assert found.pop(f"{kind}.py") in (["SHP101"], expected.pop(f"{kind}.py"))
    assert found == expected


@pytest.mark.parametrize("kind", ["ternaries", "and", "elifs-calls", "comprehension-fors"])
def test_what_is_too_deep_is_told(folder: Path, kind: str) -> None:
    (folder / "a.py").write_text(HEAD + KINDS[kind](2400))
    report = run(["."], Config(jobs=0, time_limit=1e5))
    assert [each.code for each in report.diagnostics] == ["SHP101"]
    assert any("nested too deeply" in place.reason for place in report.lost)


@pytest.mark.parametrize(
    "deep",
    [
        "w = " + "w if a else " * 2400 + "torch.zeros(3, 7)",
        "".join(f"{'el' * bool(n)}if a == {n}: w = torch.zeros(3, {n})\n" for n in range(2000)),
        "v = " + "(w := torch.zeros(3, 7)) if a else " * 2400 + "0",
        "if a:\n    pass\n"
        + "".join(f"elif a == {n}: box.w = torch.zeros(3, {n})\n" for n in range(2000))
        + "w = box.w",
    ],
)
def test_what_was_given_up_may_have_changed_anything_it_names(folder: Path, deep: str) -> None:
    """Only the first line of each product is sure to fail."""
    head = "import torch\nfrom somewhere import a\nclass Box: pass\nbox = Box()\nw = box.w = torch.zeros(3, 4)\n"
    (folder / "a.py").write_text(f"{head}w @ torch.zeros(5, 6)\n{deep}\nw @ torch.zeros(5, 6)\n")
    report = run(["."], Config(jobs=0, time_limit=1e5))
    assert [(each.code, each.span.line) for each in report.diagnostics] == [("SHP101", 6)]
