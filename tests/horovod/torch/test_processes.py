"""Rewritten programs as real processes: equal weights, and the losses of one process with the batch of all."""

from __future__ import annotations

import sys

import pytest
from horovod.torch.programs import ACCUMULATED, CLIPPED, OPPOSED, STREAMED, TRAINER, VIEWS, rewritten

from distml.smoke.model import Options
from distml.smoke.report import as_text

from smoke.environments import horovod_python
from smoke.smoked import smoked

PATIENT = Options(np=2, steps=6, timeout=900, stall=200)


@pytest.mark.parametrize("program", [CLIPPED, OPPOSED], ids=["clipped", "opposed"])
def test_horovod(program: str) -> None:
    report = smoked(program, rewritten(program), python=horovod_python("torch"), options=PATIENT)
    assert report.ok, as_text(report)
    assert report.status("weights") == report.status("loss") == "passed", as_text(report)


@pytest.mark.requires("torch")
def test_torch_distributed_with_batches_cut_by_hand() -> None:
    text = rewritten(ACCUMULATED, "ddp")
    assert "DistributedDataParallel" in text
    report = smoked(ACCUMULATED, text, python=sys.executable, options=PATIENT)
    assert report.ok, as_text(report)
    assert report.status("weights") == report.status("data") == "passed", as_text(report)
    assert report.status("loss") == "unknown", as_text(report)


@pytest.mark.requires("torch")
@pytest.mark.parametrize(
    ("program", "by"),
    [
        (CLIPPED, "DistributedDataParallel"),
        (TRAINER, "require_backward_grad_sync"),
        (OPPOSED, "average_gradients"),
        # One process normalizes every second sample apart, as each rank does: losses agree to the last digits.
        (VIEWS, "broadcast_buffers=False"),
    ],
    ids=["clipped", "trainer", "opposed", "views"],
)
def test_torch_distributed_like_one_process(program: str, by: str) -> None:
    text = rewritten(program, "ddp")
    assert by in text
    report = smoked(program, text, python=sys.executable, options=PATIENT)
    assert report.ok, as_text(report)
    assert report.status("weights") == report.status("loss") == "passed", as_text(report)


@pytest.mark.requires("torch", "accelerate")
def test_accelerate_like_one_process() -> None:
    """Its loaders fetch a batch ahead of the step that reads it."""
    text = rewritten(TRAINER, "accelerate")
    assert "trainer.model, trainer.optimizer = accelerator.prepare(" in text
    report = smoked(TRAINER, text, python=sys.executable, options=PATIENT)
    assert report.ok, as_text(report)
    assert report.status("weights") == report.status("data") == report.status("loss") == "passed", as_text(report)


@pytest.mark.requires("torch")
def test_a_stream_that_is_dealt_out_in_turn() -> None:
    """Each process reads all batches and takes its own; attention is called with all that it takes by position."""
    report = smoked(STREAMED, rewritten(STREAMED, "ddp"), python=sys.executable, options=PATIENT)
    assert report.ok, as_text(report)
    assert report.status("data") == report.status("weights") == "passed", as_text(report)
