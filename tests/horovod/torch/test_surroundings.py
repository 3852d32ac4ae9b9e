"""Generated programs: what stands around their training, on two processes beside one (`benchmarks/surroundings.py` runs more)."""

from __future__ import annotations

from pathlib import Path

import pytest
from horovod.torch.surroundings.compose import program
from horovod.torch.surroundings.judge import verdict

SEEDS = (5, 16, 27, 38)


SPOILED_SEED = 49
SPOILED = {
    "guards": ("if dist.get_rank() == 0:", "if True:", "rank 1 prints"),
    "means": ("= mean_of_ranks(", "= (", "numbers"),
    "gradients": ("nn.parallel.DistributedDataParallel(", "nn.DataParallel(", "differ between ranks"),
}


@pytest.mark.requires("torch")
@pytest.mark.parametrize("way", SPOILED)
def test_what_is_spoiled_is_noticed(way: str, tmp_path: Path) -> None:
    old, new, told = SPOILED[way]
    found = verdict(program(SPOILED_SEED), tmp_path, spoiled=lambda text: text.replace(old, new))
    assert any(told in each for each in found.faults), found


@pytest.mark.requires("torch")
@pytest.mark.parametrize("seed", SEEDS)
def test_two_processes_do_what_one_does(seed: int, tmp_path: Path) -> None:
    found = verdict(program(seed), tmp_path)
    assert not found.refusals and not found.faults


def test_a_seed_makes_one_program() -> None:
    assert program(7) == program(7)
    assert program(7).files != program(8).files


def test_all_programs_can_be_read() -> None:
    for seed in range(100):
        for name, text in program(seed).files.items():
            compile(text, name, "exec")
