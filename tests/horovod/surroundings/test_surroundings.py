"""Generated programs: rewritten, and run on two ranks, each prints, writes and learns what one process does.

`python benchmarks/surroundings_tensorflow.py 0-119` runs more of them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from horovod.surroundings.programs import program
from horovod.surroundings.running import judged, noting, run_one

from smoke.environments import horovod_python

KEPT = (401, 403, 405, 406, 408, 412)
"""An estimator, `fit`, `train_on_batch`, two sessions and a tape: each way to train."""


@pytest.mark.parametrize("seed", range(60))
def test_a_number_gives_one_program(seed: int) -> None:
    made = program(seed)
    assert made == program(seed)
    for name, text in made.files.items():
        compile(text, name, "exec")


@pytest.mark.parametrize("seed", range(60))
def test_the_program_of_both_ranks_differs_in_numbers_alone(seed: int) -> None:
    texts = [re.sub(r"\d+(\.\d+)?", "0", str(program(seed, scale).files)) for scale in (1, 2)]
    assert texts[0] == texts[1]


@pytest.mark.requires("cc")
def test_two_ranks_do_what_one_process_does(tmp_path: Path) -> None:
    python = noting(horovod_python("tensorflow"), tmp_path)
    asked = [run_one(seed, tmp_path / str(seed), python) for seed in KEPT]
    found = judged(asked, tmp_path, python)
    assert not [str(each) for each in found if each.problems or each.refused]
