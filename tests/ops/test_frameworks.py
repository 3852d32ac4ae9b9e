"""TensorFlow and Keras against what they gave: calls as they are, with sizes as symbols, with tensors unknown."""

from __future__ import annotations

import subprocess
import sys

import pytest

from distml.ops.bindings.signature import arguments
from distml.values import NONE, Const

from ops.recorded import MODES, RECORDS, replayed


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("record", sorted(path.stem for path in RECORDS.glob("*.jsonl")))
def test_recorded_calls(record: str, mode: str) -> None:
    tally = replayed(record, mode)
    assert not tally.wrong, "\n".join(tally.wrong)
    assert tally.counts["unbound"] == 0, tally.vague
    assert sum(tally.counts.values()) > 400
    if mode == "exact":
        assert tally.share("exact", "found") >= 0.95, tally.vague + tally.missed
        failing = tally.counts["found"] + tally.counts["missed"]
        assert tally.counts["found"] >= 0.95 * failing, tally.missed
    if mode == "symbolic":
        assert tally.share("exact", "partial") >= 0.95, tally.vague


def test_a_signature_takes_what_the_library_takes() -> None:
    signature = "x axis=None * keepdims=False -name=None"
    x, one, true = Const("x"), Const(1), Const(True)
    assert arguments(signature, (x,), {}) == [x, NONE, Const(False)]
    assert arguments(signature, (x, one), {"keepdims": true, "name": x}) == [x, one, true]
    assert arguments(signature, (), {"x": x, "axis": one}) == [x, one, Const(False)]
    for args, kwargs in (((), {}), ((x, one, true), {}), ((x,), {"x": x}), ((x,), {"dim": one})):
        assert arguments(signature, args, kwargs) is None


def test_tables_are_loaded_when_a_program_names_their_library() -> None:
    code = (
        "import sys\nfrom distml.ops.registry import find_op\nfind_op('numpy.sum')\nfind_op('torch.cat')\n"
        "print([m for m in sys.modules if m.startswith('distml.ops.bindings.')])\n"
        "find_op('tensorflow.concat')\nprint('distml.ops.bindings.tensorflow.shaping' in sys.modules)\n"
        "print('distml.ops.bindings.keras.core' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "True", "False"]
