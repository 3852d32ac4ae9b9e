"""The programs of tests/spmd/programs, run for real on two ranks: bad ones fail as they say, good ones finish.

Two ranks that finish with values mixed up print something else than the good twin does.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from smoke.environments import horovod_python
from spmd.running import Ending, judged, marks, run_all, way_of_failing

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
HOROVOD = [program for program in PROGRAMS if program.name.startswith("hvd_")]
HERE = [program for program in PROGRAMS if program not in HOROVOD]
BAD = [program for program in HERE if program.stem.endswith("_bad")]
GOOD = [program for program in HERE if program not in BAD]
NOTICED_LATER = {
    "async_on_one_rank_bad",  # where the result is waited for
    "new_group_by_rank_bad",  # where the next group is made
    "trainer_log_on_main_bad",  # two reductions that mean different things meet before
}
"""Programs that hang at another line than the one that is wrong."""

pytestmark = pytest.mark.requires("torch")


def name(program: Path) -> str:
    return program.stem


def twin(program: Path) -> Path:
    """The good program of a bad one."""
    return program.with_name(program.name.replace("_bad.py", "_good.py"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A program that works for a while, and one of which a rank sleeps; both print their processes."""
    lines = ["import os, time", "print(os.getpid(), flush=True)", "start = time.process_time()"]
    bodies = {
        "slow": ["while time.process_time() - start < 2:", "    pass"],
        "stuck": ["if os.environ['RANK'] == '1':", "    time.sleep(99)"],
    }
    folder = tmp_path_factory.mktemp("made")
    paths = {name: folder / f"{name}.py" for name in bodies}
    for name, body in bodies.items():
        paths[name].write_text("\n".join([*lines, *body, ""]), "utf-8")
    return paths


@pytest.fixture(scope="module")
def endings(made: dict[str, Path]) -> dict[Path, Ending]:
    return run_all([*made.values(), *HERE])


@pytest.mark.parametrize("program", GOOD, ids=name)
def test_good_finishes(program: Path, endings: dict[Path, Ending]) -> None:
    assert endings[program].how == "finished", str(endings[program])


@pytest.mark.parametrize("program", BAD, ids=name)
def test_bad_fails_as_it_says(program: Path, endings: dict[Path, Ending]) -> None:
    way, ending = way_of_failing(program), endings[program]
    if way == "wrong values":
        assert ending.how == "finished", str(ending)
        assert ending.outputs != endings[twin(program)].outputs
    else:
        assert ending.how == way, str(ending)
        if way == "hang" and program.stem not in NOTICED_LATER:
            assert ending.lines & set.union(*marks(program)), f"no rank was at a marked line: {sorted(ending.lines)}"


@pytest.mark.parametrize("program", [each for each in PROGRAMS if each.stem.endswith("_bad")], ids=name)
def test_bad_has_a_twin_and_marks(program: Path) -> None:
    text, other = program.read_text("utf-8"), twin(program).read_text("utf-8")
    must, may = marks(program)
    assert len(must) + len(may) == text.count("# error")
    assert must or len(may) > 1
    assert "# error" not in other
    assert way_of_failing(program)


def test_programs_of_horovod_end_as_they_say() -> None:
    python = horovod_python("torch")
    good = [program for program in HOROVOD if not program.stem.endswith("_bad")]
    endings = run_all(good, python)
    assert {program.name: str(ending) for program, ending in endings.items() if ending.how != "finished"} == {}
    endings = run_all([program for program in HOROVOD if program not in good], python, limit=10)
    wrong = {program.name: str(end) for program, end in endings.items() if end.how != way_of_failing(program)}
    assert wrong == {}


@pytest.mark.parametrize("program", PROGRAMS, ids=name)
def test_programs_are_of_a_size_to_be_read(program: Path) -> None:
    assert 12 <= len(program.read_text("utf-8").splitlines()) <= 60


def test_there_are_enough_of_them() -> None:
    assert len(BAD) >= 40
    assert len([program for program in GOOD if program.stem.startswith("good_")]) >= 20


def test_slow_ranks_do_not_hang_and_none_is_left(made: dict[str, Path], endings: dict[Path, Ending]) -> None:
    slow, stuck = endings[made["slow"]], endings[made["stuck"]]
    assert slow.how == "finished", str(slow)
    assert (stuck.how, stuck.raised, stuck.lines) == ("hang", ("", None), {5})
    pids = [int(output) for ending in (slow, stuck) for output in ending.outputs]
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


def test_every_program_of_a_pair_is_known() -> None:
    strays = [each.name for each in PROGRAMS if not re.search(r"^good_|_(bad|good)$", each.stem)]
    assert strays == []


@pytest.mark.parametrize(
    ("raised", "how"),
    [
        (("", ""), "finished"),
        (("", None), "hang"),
        ((None, None), "hang"),
        (("", "RuntimeError: Connection closed by peer"), "hang"),
        (("ValueError: no", "RuntimeError: Connection closed by peer"), "error"),
        (("ValueError: no", None), "error"),
        (("SystemExit: 1", ""), "error"),
    ],
)
def test_endings_are_judged(raised: tuple[str | None, ...], how: str) -> None:
    assert judged(raised) == how
