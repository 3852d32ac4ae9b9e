"""What a run does not report, it does not look for: shapes, choreographies and ranks are checked apart."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from distml.engine.cache import Cache
from distml.engine.config import Config
from distml.engine.results import Report
from distml.engine.run import run
from distml.engine.selection import CHOREOGRAPHIES, PARTS, RANKS, SHAPES, parts

PROGRAM = """
import numpy as np
import torch.distributed as dist

np.zeros((2, 3)) @ np.zeros((2, 3))
np.zeros(3)  # distml: ignore[SHP102]
np.zeros(4)  # distml: ignore[SPM101]
if dist.get_rank() == 0:
    dist.barrier()
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "p.py"
    path.write_text(PROGRAM)
    return path


def checked(config: Config, cache: Path | None = None) -> Report:
    return run(["p.py"], config, cache=Cache(str(cache), config) if cache is not None else None)


def codes(report: Report) -> list[str]:
    return sorted(finding.code for finding in report.diagnostics)


@pytest.mark.parametrize(
    ("config", "asked"),
    [
        (Config(), {*PARTS}),
        (Config(select=("ALL",)), {*PARTS}),
        (Config(select=("SPM",)), {RANKS}),
        (Config(select=("spm101", "CHO1")), {RANKS, CHOREOGRAPHIES}),
        (Config(select=("SRC1",)), set()),
        (Config(select=("SRC301", "SPM")), {*PARTS}),
        (Config(select=("SPM",), ignore=("SPM",)), set()),
        (Config(ignore=("SHP", "GRD", "CHO")), {RANKS}),
        (Config(ignore=("SHP",)), {*PARTS}),
        (Config(ignore=("SHP", "GRD")), {CHOREOGRAPHIES, RANKS}),
        (Config(ignore=("CHO", "SPM")), {SHAPES}),
        (Config(ignore=("SPM101",)), {*PARTS}),
    ],
)
def test_the_parts_that_may_find_what_is_reported(config: Config, asked: set[str]) -> None:
    assert parts(config) == asked


def test_each_part_finds_what_it_finds_with_the_others(program: Path) -> None:
    assert codes(checked(Config())) == ["SHP101", "SPM101", "SRC301", "SRC301"]
    assert codes(checked(Config(select=("SPM",)))) == ["SPM101"]
    assert codes(checked(Config(select=("SHP",)))) == ["SHP101"]
    assert codes(checked(Config(select=("SRC301",)))) == ["SRC301", "SRC301"]


def test_a_comment_is_not_called_useless_by_a_part(program: Path) -> None:
    assert codes(checked(Config(ignore=("SHP", "GRD", "CHO")))) == ["SPM101"]


@pytest.mark.parametrize("first", [Config(), Config(select=("SPM",)), Config(select=("SHP",))])
@pytest.mark.parametrize("second", [Config(), Config(select=("SPM",)), Config(ignore=("SHP", "GRD"))])
def test_a_remembered_part_answers_for_itself_and_the_whole_for_each(
    first: Config, second: Config, program: Path, tmp_path: Path
) -> None:
    checked(first, tmp_path / "cache")
    again = checked(second, tmp_path / "cache")
    assert codes(again) == codes(checked(second))
    assert again.cached == (parts(first) == parts(second) or parts(first) == {*PARTS})


def test_the_interpreter_is_not_loaded_for_the_ranks(program: Path) -> None:
    loads = "import sys; from distml.engine.config import Config; from distml.engine.run import run; "
    loads += (
        "print(len(run(['p.py'], Config(select=('SPM',), jobs=0)).diagnostics), 'distml.interp.check' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False"]
