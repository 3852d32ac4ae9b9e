"""Real processes: what is right passes every verdict, and each mistake is found by the verdict that is there for it.

Launchers start right programs, those that fail, and those that hang; the others are forked from what holds their framework.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from distml.cli.main import main
from distml.smoke.model import Options, Report
from distml.smoke.report import as_text
from distml.smoke.run import smoke_text

from smoke.environments import horovod_python
from smoke.programs import (
    DDP,
    FIT,
    FLOWS,
    HOROVOD_FIT,
    HOROVOD_SESSION,
    HOROVOD_TAPE,
    HOROVOD_TORCH,
    KERAS_MODEL,
    REBUILDS,
    SESSION,
    TAPE,
    TORCH,
    edited,
)
from smoke.smoked import smoked

PATIENT = Options(np=2, steps=4, timeout=900, stall=200)
QUICK = Options(np=2, steps=4, timeout=900, stall=200, compare=False)
VERDICTS = ("finished", "collectives", "start", "weights", "data", "original", "loss", "rate")


def failed(report: Report) -> set[str]:
    return {verdict.name for verdict in report.verdicts if verdict.status == "failed"}


def text_of(report: Report, name: str) -> str:
    return next(verdict.text for verdict in report.verdicts if verdict.name == name)


@pytest.mark.parametrize("flow", FLOWS)
def test_a_right_program_passes_every_verdict(flow: str) -> None:
    framework, original, rewritten = FLOWS[flow]
    report = smoke_text(original, rewritten, python=horovod_python(framework), options=PATIENT)
    assert {verdict.name: verdict.status for verdict in report.verdicts} == dict.fromkeys(VERDICTS, "passed"), as_text(
        report
    )
    assert report.steps == 4
    assert report.scaling is not None


@pytest.mark.requires("torch")
def test_torchrun_too() -> None:
    report = smoke_text(TORCH, DDP, python=sys.executable, options=PATIENT)
    assert {verdict.name: verdict.status for verdict in report.verdicts} == dict.fromkeys(VERDICTS, "passed"), as_text(
        report
    )


@pytest.mark.requires("torch")
def test_a_script_that_says_the_size_of_its_batches_twice_is_run_as_it_is() -> None:
    fixed = ("optimizer.step()", "optimizer.step(); assert len(a) == 4")
    report = smoked(edited(TORCH, *fixed), edited(DDP, *fixed), python=sys.executable, options=PATIENT)
    assert report.status("original") == "passed", as_text(report)
    assert "batches 2 times as large" in text_of(report, "loss")
    assert not failed(report)


@pytest.mark.requires("torch")
def test_the_command_from_script_to_reports(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = folder / "with space"
    code.mkdir()
    told = "\nimport sys\nopen('told', 'w').write(sys.argv[1])\n"
    (code / "my train.py").write_text(TORCH + told)
    arguments = ["--launcher", "torchrun", "--steps", "0", "--json", "r.json", "--markdown", "r.md", "--", "a b"]
    assert main(["smoke", "with space/my train.py", *arguments]) == 0, capsys.readouterr().out
    assert "runs with space/my train.py and its distributed version" in capsys.readouterr().err
    assert json.loads((folder / "r.json").read_text())["steps"] == 16
    assert "| finished | ok |" in (folder / "r.md").read_text()
    assert [path.name for path in code.iterdir()] == ["my train.py"]


def test_without_the_broadcast_weights_differ() -> None:
    silent = edited(HOROVOD_TORCH, "hvd.broadcast_parameters(model.state_dict(), root_rank=0)\n", "")
    report = smoked(TORCH, silent, python=horovod_python("torch"), options=QUICK)
    assert failed(report) == {"start", "weights"}, as_text(report)
    assert "0.weight differs between processes" in text_of(report, "weights")


def test_a_flag_under_tf_function_skips_the_broadcast() -> None:
    silent = edited(HOROVOD_TAPE, "        if first:", "        if False:")
    report = smoked(TAPE, silent, python=horovod_python("tensorflow"), options=QUICK)
    assert failed(report) == {"start", "weights"}, as_text(report)


def test_a_collective_that_only_rank_0_reaches_is_named() -> None:
    lonely = edited(HOROVOD_TORCH, "        optimizer.step()\n", "        optimizer.step()\n        LONELY\n")
    lonely = lonely.replace("LONELY", "hvd.rank() == 0 and hvd.allreduce(loss.detach(), name='mine')")
    options = Options(np=2, steps=4, timeout=280, stall=10, compare=False)
    report = smoke_text(TORCH, lonely, python=horovod_python("torch"), options=options)
    assert {"finished", "collectives"} <= failed(report), as_text(report)
    line = lonely[: lonely.index("hvd.allreduce")].count("\n") + 1
    assert f"rank 0 stood at script.py:{line} in <module> after 1 steps" in text_of(report, "finished")
    assert "allreduce mine" in text_of(report, "finished")


@pytest.mark.requires("torch")
def test_data_that_is_not_shared_out() -> None:
    greedy = edited(DDP, "DistributedSampler(data)", "DistributedSampler(data, num_replicas=1, rank=0)")
    report = smoked(TORCH, greedy, python=sys.executable, options=QUICK)
    assert failed(report) == {"data"}, as_text(report)


@pytest.mark.requires("torch")
def test_a_learning_rate_that_is_not_scaled() -> None:
    slow = edited(DDP, "0.02 * dist.get_world_size()", "0.02")
    report = smoked(TORCH, slow, python=sys.executable, options=PATIENT)
    assert "rate" in failed(report), as_text(report)


@pytest.mark.requires("torch")
def test_a_rank_that_fails() -> None:
    broken = edited(
        DDP, "for epoch in range(2):", "for epoch in range(2):\n    assert dist.get_rank() == 0, 'not mine'"
    )
    report = smoke_text(TORCH, broken, python=sys.executable, options=QUICK)
    assert "rank 1 failed at script.py:" in text_of(report, "finished"), as_text(report)
    assert "AssertionError: not mine" in text_of(report, "finished")


def test_a_session_that_is_fed_all_data_in_each_step_keeps_its_learning_rate() -> None:
    pipeline = "batches = tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(4)\n"
    divided = pipeline.replace(".repeat()", ".shard(hvd.size(), hvd.rank()).repeat()")
    iterator = "a, b = tf.data.make_one_shot_iterator(batches).get_next()"
    fed = "a, b = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.float32, [None, 1])"
    run = "session.run([train, loss]"
    original = edited(edited(edited(SESSION, pipeline, ""), iterator, fed), run, run + ", {a: x, b: y}")
    part = ", {a: x[hvd.rank()::hvd.size()], b: y[hvd.rank()::hvd.size()]}"
    ranks = edited(edited(edited(HOROVOD_SESSION, divided, ""), iterator, fed), run, run + part)
    kept = edited(ranks, "AdamOptimizer(0.01 * hvd.size())", "AdamOptimizer(0.01)")
    python = horovod_python("tensorflow")
    assert not failed(report := smoked(original, kept, python=python, options=PATIENT)), as_text(report)
    assert report.status("rate") == "passed", as_text(report)
    assert failed(report := smoked(original, ranks, python=python, options=PATIENT)) >= {"rate"}, as_text(report)
    assert "the same learning rate" in text_of(report, "rate")


def test_arrays_without_labels_come_in_larger_batches_too() -> None:
    original = edited(edited(FIT, "x, y, batch_size", "x, batch_size"), 'loss="mse", metrics=["mae"]', "")
    original = edited(original, KERAS_MODEL, REBUILDS)
    ranks = edited(edited(HOROVOD_FIT, "x, y, batch_size", "x, batch_size"), ', loss="mse", metrics=["mae"]', "")
    ranks = edited(ranks, KERAS_MODEL, REBUILDS)
    report = smoked(original, ranks, python=horovod_python("tensorflow"), options=PATIENT)
    assert {report.status(name) for name in ("loss", "rate")} == {"passed"}, as_text(report)
