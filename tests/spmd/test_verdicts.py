"""What `distml check` says of programs that run for real: findings where ranks part ways, and nowhere else."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from distml.engine.config import Config
from distml.engine.run import run

from spmd.running import marks

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))

LOCAL = "decided by the own data of a rank"
MISSED: dict[str, str] = {
    "accumulate_by_rank_bad": "a counter of turns, divided by a number that follows from the rank",
    "assert_on_main_bad": "an exception of one rank",
    "classes_seen_bad": "the ranks reduce as often, for other classes",
    "early_exit_of_idle_ranks_bad": "the length of a slice by rank",
    "early_stop_local_loss_bad": LOCAL,
    "generator_of_shard_bad": "how much a generator yields",
    "hash_of_name_bad": "`hash` of a text differs from process to process",
    "hvd_local_early_stop_bad": LOCAL,
    "local_plateau_bad": LOCAL,
    "local_queue_bad": "the length of a queue filled by rank",
    "one_rank_raises_bad": "an exception of one rank",
    "restored_on_main_bad": "the states an optimizer has once they are loaded",
    "resume_if_exists_bad": "whether a file of this rank exists",
    "root_differs_bad": "a root that follows from the size of the world",
    "shape_by_rank_bad": "a shape that follows from the rank, flattened and copied",
    "skip_bad_batch_bad": "which batch fails follows from sizes in a model",
    "skip_nan_loss_bad": LOCAL,
    "skipped_module_bad": LOCAL,
    "steps_by_rank_bad": "one turn more than an option says",
    "swapped_order_bad": "the ranks reduce as often, for other values",
    "sync_batch_statistics_bad": "the ranks reduce as often, for other passes",
    "table_of_roles_bad": "a function from a dictionary, by rank",
    "trainer_hooks_bad": "a class chosen by rank",
    "worker_wants_one_more_bad": "sends and receives that are to be counted",
}
"""Bad programs that are not found, and what one would have to know. One that is found must leave this list."""

FALSE_ALARMS: dict[str, str] = {}
"""Good programs that are accused, or bad ones that are accused at other lines as well. This list must become empty."""

KNOWN = {**MISSED, **FALSE_ALARMS}


@pytest.fixture(scope="module")
def found() -> dict[str, set[int]]:
    """The lines of findings of the family SPM, by program."""
    report = run([str(PROGRAMS[0].parent)], Config(select=("SPM",)))
    lines = defaultdict(set)
    for finding in report.diagnostics:
        lines[Path(finding.span.path).stem].add(finding.span.line)
    return lines


def verdict(program: Path, lines: set[int]) -> str:
    """What is wrong with the findings of a program: nothing, "missed", or "false alarm"."""
    must, may = marks(program)
    if lines - must - may:
        return "false alarm"
    return "missed" if must - lines or (may and not must and not lines) else ""


def expected(program: Path) -> str:
    if program.stem in FALSE_ALARMS:
        return "false alarm"
    return "missed" if program.stem in MISSED else ""


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_findings_stand_at_the_marked_lines(program: Path, found: dict[str, set[int]]) -> None:
    assert verdict(program, found[program.stem]) == expected(program), f"{marks(program)}, found {found[program.stem]}"


def test_known_failures_are_programs() -> None:
    assert set(KNOWN) <= {program.stem for program in PROGRAMS}
    assert not set(MISSED) & set(FALSE_ALARMS)
