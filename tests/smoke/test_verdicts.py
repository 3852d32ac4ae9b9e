"""Verdicts on records made by hand: each passes, and each can fail, for the reason it names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.smoke import verdicts
from distml.smoke.model import Options, Verdict
from distml.smoke.processes import Ended
from distml.smoke.records import Collective, Record, Weight
from distml.smoke.run import Ran

GRADIENT = Collective("allreduce", "grad", (4,), "float32")


def weight(value: float, name: str = "w") -> tuple[Weight, ...]:
    return (Weight(name, (1,), f"{value!r}", abs(value), (value,)),)


def record(rank: int, rate: float = 1.0, steps: int = 4) -> Record:
    """Started from 1, and at each step as far as `rate` says."""
    return Record(
        rank,
        pid=100 + rank,
        steps=steps,
        ending="stopped",
        collectives=[GRADIENT] * steps,
        weights={step: weight(1.0 + rate * step) for step in range(steps + 1)},
        losses={step: [10.0 - step + rank] for step in range(steps)},
        batches={step: [("loader", 2, (f"{step}.{rank}a", f"{step}.{rank}b"))] for step in range(steps)},
        times=[float(step) for step in range(steps)],
    )


def together(*records: Record, stopped: str = "") -> Ran:
    return Ran(Ended(None if stopped else 0, stopped, "", 1.0), records, Path())


def pair() -> list[Record]:
    return [record(0), record(1)]


def alone(rate: float = 1.0) -> Record:
    """What one process with the batch of both would have made."""
    found = record(0, rate)
    found.losses = {step: [10.0 - step + 0.5] for step in range(4)}
    found.batches = {
        step: [("loader", 4, tuple(f"{step}.{rank}{which}" for which in "ab" for rank in (0, 1)))] for step in range(4)
    }
    return found


def compared(records: list[Record], single: Record, options: Options | None = None) -> dict[str, Verdict]:
    return {verdict.name: verdict for verdict in verdicts.compared(options or Options(), records, single)}


def test_all_is_well() -> None:
    report = verdicts.judge("a.py", "torchrun", Options(), together(*pair()), together(alone()))
    assert {verdict.status for verdict in report.verdicts} == {"passed"}
    assert report.ok
    assert [(speed.steps, speed.samples) for speed in report.speeds] == [(1.0, 4.0), (1.0, 4.0)]
    assert report.scaling == pytest.approx(1.0)


def test_speed_is_that_of_the_slowest_rank_once_it_is_under_way() -> None:
    one, other = pair()
    one.times, other.times = [0.0, 9.0, 10.0, 12.0], [0.0, 1.0, 2.0, 6.0]
    report = verdicts.judge("a.py", "torchrun", Options(), together(one, other), together(alone()))
    assert report.speeds[0].steps == 0.25
    assert report.scaling == pytest.approx(0.25)
    one.times = [0.0]
    assert len(verdicts.judge("a.py", "torchrun", Options(), together(one, other), None).speeds) == 0


def test_a_rank_that_failed_is_named() -> None:
    one, other = pair()
    other.ending, other.text, other.where = "error", "ValueError: no", "a.py:3"
    verdict = verdicts.finished(together(one, other))
    assert verdict == Verdict("finished", "failed", "rank 1 failed at a.py:3: ValueError: no")


def test_a_rank_that_was_killed_is_named() -> None:
    one, other = pair()
    other.ending = ""
    assert verdicts.finished(together(one, other)).text == "rank 1 was killed or never started"


def test_who_hangs_where() -> None:
    one, other = pair()
    one.ending = other.ending = ""
    one.stacks = (
        'Thread 0x1 (most recent call first):\n  File "/x/threading.py", line 1 in run\n\n'
        'Current thread 0x2 (most recent call first):\n  File "/env/torch/a.py", line 9 in wait\n'
        '  File "/tmp/distml-smoke-x/ranks/train.py", line 7 in step\n'
        '  File "/tmp/distml-smoke-x/ranks/train.py", line 20 in <module>\n'
    )
    text = verdicts.finished(together(one, other, stopped="no process made progress for 10 s")).text
    assert text.startswith("no process made progress for 10 s: rank 0 stood at train.py:7 in step after 4 steps")
    assert "rank 1 stood at an unknown line" in text


def test_different_numbers_of_steps() -> None:
    assert "rank 0 made 4, rank 1 made 3" in verdicts.finished(together(record(0), record(1, steps=3))).text


def test_no_steps_at_all() -> None:
    assert verdicts.finished(together(record(0, steps=0), record(1, steps=0))).status == "failed"


def test_a_collective_of_one_rank_alone() -> None:
    one, other = pair()
    one.collectives.append(Collective("allreduce", "mine", (1,), "float32"))
    verdict = verdicts.collectives([one, other])
    assert verdict.text == "rank 0 began allreduce mine [1] float32 once, rank 1 never"


def test_the_order_counts_where_it_must() -> None:
    one, other = pair()
    first, second = Collective("all_reduce", "", (1,), "Float"), Collective("broadcast", "", (1,), "Float")
    one.ordered, other.ordered = [first, second], [second, first]
    assert verdicts.collectives([one, other]).text.startswith("collective 1 is all_reduce [1] Float on rank 0")
    one.collectives, other.collectives = [GRADIENT, first], [first, GRADIENT]
    one.ordered = other.ordered = []
    assert verdicts.collectives([one, other]).status == "passed"  # Horovod goes by name


def test_gathered_shares_may_differ_in_size() -> None:
    one, other = pair()
    one.collectives, other.collectives = [[Collective("allgather", "n", (size, 4), "int64")] for size in (3, 5)]
    assert verdicts.collectives([one, other]).status == "passed"
    other.collectives = [Collective("allgather", "n", (3, 5), "int64")]
    assert verdicts.collectives([one, other]).status == "failed"


def test_nobody_communicates() -> None:
    one, other = pair()
    one.collectives, other.collectives = [], []
    assert verdicts.collectives([one, other]).status == "failed"


def test_weights_that_are_made_equal_after_the_first_step() -> None:
    one, other = pair()
    other.weights[0] = weight(5.0)
    assert verdicts.started([one, other]).text == "all processes hold the same weights after step 1"
    other.weights[1] = other.weights[2] = weight(5.0)
    assert verdicts.started([one, other]).status == "failed"


def test_weights_that_drift_apart() -> None:
    one, other = pair()
    other.weights[4] = weight(7.0)
    verdict = verdicts.weights([one, other])
    assert verdict.text == "after 4 steps weight w differs between processes (norm 5 on rank 0, 7 on rank 1)"
    other.weights[4] = ()
    assert verdicts.weights([one, other]).text == "after 4 steps rank 0 has 1 weights, rank 1 0"


def test_the_same_batch() -> None:
    one, other = pair()
    other.batches = one.batches
    assert "rank 0 and rank 1 read the same batch of 2 samples" in verdicts.data([one, other]).text


def test_samples_that_are_all_alike_tell_nothing() -> None:
    one, other = pair()
    one.batches = other.batches = {0: [("loader", 2, ("z", "z"))]}
    assert verdicts.data([one, other]).status == "unknown"


def test_batches_come_from_the_loader_where_there_is_one() -> None:
    one, other = pair()
    for found in (one, other):
        found.batches[0].append(("input", 2, ("noise", "noise2")))
    assert verdicts.data([one, other]).status == "passed"


def test_batches_that_all_ranks_read_are_dealt_out_among_them() -> None:
    one, other = pair()
    one.batches = {0: [("loader", 2, ("a", "b")), ("loader", 2, ("c", "d")), ("input", 2, ("a", "b"))]}
    other.batches = {0: [("loader", 2, ("a", "b")), ("loader", 2, ("c", "d")), ("input", 2, ("c", "d"))]}
    assert verdicts.data([one, other]).status == "passed"
    other.batches[0][2] = ("input", 2, ("a", "b"))
    assert verdicts.data([one, other]).status == "failed"
    other.batches[0][2] = ("input", 2, ("noise", "noise2"))
    assert verdicts.data([one, other]).status == "failed"


def test_inputs_are_known_again_without_their_labels() -> None:
    one, other = record(0), record(1)
    batches = [("loader", 2, ("ax", "by")), ("loader", 2, ("cx", "dy"))]
    one.batches, other.batches = {0: [*batches, ("input", 2, ("a", "b"))]}, {0: [*batches, ("input", 2, ("c", "d"))]}
    assert verdicts.data([one, other]).status == "failed"
    one.parts = other.parts = {(0, "loader"): [["a", "b"], ["x", "y"], ["c", "d"], ["x", "y"]]}
    assert verdicts.data([one, other]).status == "passed"


def test_inputs_of_several_arrays_are_known_again_by_one_of_them() -> None:
    one, other = record(0), record(1)
    batches = [("loader", 2, ("axm", "bym")), ("loader", 2, ("cxm", "dym"))]
    read = [["a", "b"], ["x", "y"], ["m", "m"], ["c", "d"], ["x", "y"], ["m", "m"]]
    for each, rows, part in ((one, ("am", "bm"), ["a", "b"]), (other, ("cm", "dm"), ["c", "d"])):
        each.batches = {0: [*batches, ("input", 2, rows)]}
        each.parts = {(0, "loader"): read, (0, "input"): [part, ["m", "m"]]}
    assert verdicts.data([one, other]).status == "passed"
    other.parts[0, "input"][0] = ["a", "b"]
    assert verdicts.data([one, other]).status == "failed"


def test_a_loss_that_differs() -> None:
    single = alone()
    single.losses[3] = [8.0]
    verdict = compared(pair(), single)["loss"]
    assert verdict.status == "failed"
    assert verdict.text.startswith("7.5 in 2 processes, 8 in one with the large batch (step 4)")


def test_a_loss_that_is_summed_over_samples() -> None:
    single = alone()
    single.losses = {step: [2 * (10.5 - step)] for step in range(4)}
    assert compared(pair(), single)["loss"].status == "passed"


def steep(rate: float = 2.0) -> Record:
    """One process whose loss is a sum, with an optimizer that heeds the size of gradients."""
    single = alone(rate)
    single.losses = {0: [2 * 10.5], 1: [31.0], 2: [5.0], 3: [77.0]}
    return single


def test_a_summed_loss_is_as_many_times_steeper() -> None:
    found = compared(pair(), steep())
    assert (found["loss"].status, found["rate"].status) == ("passed", "passed")
    assert found["loss"].text.startswith("21 in 2 processes, 21 in one with the large batch (step 1)")
    assert found["rate"].text.endswith("a sum over samples, is 2 times as steep")


@pytest.mark.parametrize("rate", [1.0, 1.8, 2.2, 4.0])
def test_a_wrong_rate_is_found_where_the_loss_is_a_sum(rate: float) -> None:
    found = compared(pair(), steep(rate))
    assert "failed" in (found["loss"].status, found["rate"].status)


def test_other_samples_are_compared_loosely() -> None:
    single = alone()
    single.batches = {step: [("loader", 4, ("p", "q", "r", "s"))] for step in range(4)}
    single.losses[3] = [8.0]
    verdict = compared(pair(), single)["loss"]
    assert verdict.status == "passed"
    assert "one process reads other samples" in verdict.text
    single.losses[3] = [20.0]
    assert compared(pair(), single)["loss"].status == "passed", "one step tells nothing: others make up for it"
    single.losses = {step: [1.6 * each for each in losses] for step, losses in alone().losses.items()}
    assert compared(pair(), single)["loss"].status == "failed"


def test_random_numbers_are_compared_loosely() -> None:
    single = alone()
    single.apart = ["batch normalization", "random numbers"]
    single.losses[3] = [8.0]
    verdict = compared(pair(), single)["loss"]
    assert (verdict.status, "draws random numbers of its own" in verdict.text) == ("passed", True)


def test_half_the_rate_is_found_whatever_the_samples() -> None:
    single = alone()
    single.batches = {step: [("loader", 4, ("p", "q", "r", "s"))] for step in range(4)}
    assert compared([record(0, 0.7), record(1, 0.7)], single)["rate"].status == "passed"
    assert compared([record(0, 0.5), record(1, 0.5)], single)["rate"].status == "failed"


def test_batch_normalization_over_other_shares_is_compared_loosely() -> None:
    single = alone()
    single.apart = ["batch normalization"]
    single.losses[3] = [8.0]
    assert compared(pair(), single)["loss"].status == "failed"
    single.batches = {step: [("loader", 4, tuple(sorted(rows)))] for step, ((_, _, rows),) in single.batches.items()}
    verdict = compared(pair(), single)["loss"]
    assert verdict.status == "passed"
    assert "from other samples than one process does" in verdict.text


def test_a_batch_that_could_not_be_enlarged() -> None:
    single = alone()
    single.batches = {step: [("loader", 2, ("p", "q"))] for step in range(4)}
    found = compared(pair(), single)
    assert {verdict.status for verdict in found.values()} == {"unknown"}
    assert "2 processes read 4 samples in a step, one process 2" in found["loss"].text


def test_a_script_that_takes_no_larger_batches_is_no_failure() -> None:
    single = replace(together(record(0)), unlike="the script cannot be given batches 2 times as large")
    report = verdicts.judge("a.py", "torchrun", Options(), together(*pair()), single)
    assert report.status("original") == "passed"
    assert report.status("loss") == report.status("rate") == "unknown"
    assert report.scaling is None


def test_batches_that_nobody_saw_may_not_be_the_same() -> None:
    records, single = [record(0, 0.5), record(1, 0.5)], alone()
    for each in (*records, single):
        each.batches = {}
    found = compared(records, single)
    assert found["rate"].status == "unknown"
    assert "its batch size could not be observed" in found["rate"].text
    assert found["loss"].status == "passed"


def test_weights_that_did_not_load() -> None:
    single = alone()
    single.trouble = ["2 parameters were saved, 3 of other shapes are here"]
    assert {verdict.status for verdict in compared(pair(), single).values()} == {"unknown"}


@settings(max_examples=60)
@given(st.floats(0.05, 20.0))
def test_the_rate_verdict_is_about_the_way_of_the_weights(ratio: float) -> None:
    verdict = compared([record(0, ratio), record(1, ratio)], alone())["rate"]
    assert verdict.status == ("passed" if abs(ratio - 1) <= verdicts.MOVED else "failed")


def test_a_rate_that_was_not_scaled() -> None:
    verdict = compared([record(0, 0.5), record(1, 0.5)], alone())["rate"]
    assert "0.5 times as far as in one process with the large batch and 2 times the learning rate" in verdict.text
    verdict = compared([record(0, 0.5), record(1, 0.5)], alone(), replace(Options(), scale_lr="none"))["rate"]
    assert "the same learning rate" in verdict.text


def test_an_original_that_fails_is_told_apart() -> None:
    single = replace(record(0), ending="error", text="FileNotFoundError: data.csv", where="a.py:2")
    report = verdicts.judge("a.py", "torchrun", Options(), together(*pair()), together(single))
    assert report.status("original") == "failed"
    assert report.status("loss") == report.status("rate") == "unknown"


def test_one_process_has_nobody_to_share_with() -> None:
    report = verdicts.judge("a.py", "torchrun", Options(np=1), together(record(0)), None)
    assert report.status("data") == "unknown"
    assert report.ok
