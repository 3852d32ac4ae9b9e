"""What the probe writes is what the report reads, and what is not readable costs nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from distml.smoke.probe.plan import Plan
from distml.smoke.probe.recorder import Recorder, Source, Stopped
from distml.smoke.records import Collective, read


class Two(Source):
    """Two weights that can be read and written."""

    def __init__(self, stays: bool = True) -> None:
        self.loaded: list[str] = []
        self.stays = stays

    def settled(self) -> bool:
        return self.stays

    def read(self) -> list[tuple[str, object]]:
        import numpy as np

        return [("a", np.arange(6.0).reshape(2, 3)), ("b", np.zeros(1000, "float32"))]

    def save(self, path: str) -> None:
        Path(path).touch()

    def load(self, path: str) -> str:
        self.loaded.append(path)
        return ""


def recorder(folder: Path, **fields: object) -> Recorder:
    return Recorder(Plan({"folder": str(folder), **fields}))


@pytest.mark.requires("numpy")
def test_notes_come_back(tmp_path: Path) -> None:
    import numpy as np

    notes = recorder(tmp_path)
    notes.source = Two()
    notes.note("start", pid=7)
    notes.collective("allreduce", "g", [2, None], "float32")
    notes.batch("loader", [np.zeros((3, 2)), np.arange(3)])
    notes.loss(0.5)
    notes.boundary()
    notes.stepped()
    notes.finish("finished")
    record = read(tmp_path, 0)
    assert (record.pid, record.steps, record.ending) == (7, 1, "finished")
    assert record.collectives == [Collective("allreduce", "g", (2, None), "float32")]
    assert record.losses == {0: [0.5]}
    assert record.samples(0) == 3
    assert len(record.rows(0)) == 3  # the samples differ in the second array
    assert [(weight.name, weight.shape, len(weight.values)) for weight in record.weights[0]] == [
        ("a", (2, 3), 6),
        ("b", (1000,), 32),
    ]


def test_a_torn_line_costs_one_line(tmp_path: Path) -> None:
    (tmp_path / "rank0.jsonl").write_text(
        '{"event": "loss", "step": 0, "value": 1.5}\n{"event": "lo\n[]\n{"event": "end", "step": 1, "reason": "stopped"}\n'
    )
    record = read(tmp_path, 0)
    assert record.losses == {0: [1.5]}
    assert record.ending == "stopped"
    assert len(record.trouble) == 2


def test_a_rank_that_never_started(tmp_path: Path) -> None:
    assert read(tmp_path, 3).ending == ""


def test_the_flight_recorder(tmp_path: Path) -> None:
    entry = {"profiling_name": "gloo:all_reduce", "input_sizes": [[10]], "input_dtypes": ["Float"], "is_p2p": False}
    message = {**entry, "profiling_name": "gloo:send", "is_p2p": True}
    (tmp_path / "rank0._dump_fr_trace_json").write_text(json.dumps({"entries": [entry, message]}))
    assert read(tmp_path, 0).ordered == [Collective("all_reduce", "", (10,), "Float")]


def test_steps_end_the_script(tmp_path: Path) -> None:
    notes = recorder(tmp_path, steps=2)
    notes.boundary()
    notes.stepped()
    notes.boundary()
    notes.stepped()
    with pytest.raises(Stopped):
        notes.boundary()


def test_a_step_that_is_none_is_not_counted(tmp_path: Path) -> None:
    notes = recorder(tmp_path, steps=1)
    notes.suppressed = 1
    notes.stepped()
    notes.boundary()
    assert notes.steps == 0


@pytest.mark.requires("numpy")
@pytest.mark.parametrize(("stays", "loads"), [(True, 1), (False, 2)])
def test_weights_are_loaded_at_their_step(tmp_path: Path, stays: bool, loads: int) -> None:
    notes = recorder(tmp_path, load="there", load_step=1)
    source = notes.source = Two(stays)
    notes.boundary()
    assert source.loaded == []
    notes.stepped()
    notes.boundary()
    notes.boundary()
    notes.stepped()
    notes.boundary()
    assert source.loaded == ["there"] * loads


def test_a_worker_that_inherited_the_recorder_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = recorder(tmp_path)
    monkeypatch.setattr("os.getpid", lambda: 1)
    notes.loss(1.0)
    assert read(tmp_path, 0).losses == {}


def test_what_fails_at_the_end_is_noted(tmp_path: Path) -> None:
    notes = recorder(tmp_path)
    notes.at_end.append(lambda: 1 // 0)
    notes.finish("finished")
    record = read(tmp_path, 0)
    assert record.ending == "finished"
    assert "ZeroDivisionError" in record.trouble[0]


def test_a_torn_flight_record(tmp_path: Path) -> None:
    (tmp_path / "rank0._dump_fr_trace_json").write_text('{"entries": [{"input_si')
    record = read(tmp_path, 0)
    assert record.ordered == []
    assert "unreadable flight record" in record.trouble[0]
