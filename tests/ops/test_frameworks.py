"""TensorFlow and Keras against what they gave: calls as they are, with sizes as symbols, with tensors unknown."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from distml.ops.bindings.signature import arguments
from distml.values import NONE, Const

from ops.recorded import MODES, RECORDS, replayed

EXACT = {"jax": 0.9}
"""The least share of calls whose result is exact; of the others 0.95. Among NumPy's are many whose sizes depend on the data."""
PAIRS = Path(__file__).parents[2] / "benchmarks" / "pairs"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("record", sorted(path.stem for path in RECORDS.glob("*.jsonl")))
def test_recorded_calls(record: str, mode: str) -> None:
    tally = replayed(record, mode)
    assert not tally.wrong, "\n".join(tally.wrong)
    assert tally.counts["unbound"] == 0, tally.vague
    assert sum(tally.counts.values()) > 500
    if mode == "exact":
        assert tally.share("exact", "found") >= EXACT.get(record.partition("-")[0], 0.95), tally.vague + tally.missed
        assert tally.share("unknown") < 0.05, tally.vague
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
        "print('distml.ops.bindings.jax.numpy' in sys.modules)\nfind_op('jax.numpy.sum')\n"
        "print('distml.ops.bindings.jax.numpy' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "True", "False", "False", "True"]


def test_pairs_are_told_apart() -> None:
    kinds = ("tf", "jax", "flax", "optax")
    files = sorted(str(path) for kind in kinds for path in PAIRS.glob(f"{kind}_*/*.py"))
    command = [sys.executable, "-m", "distml.cli", "check", "--no-cache", "--jobs", "1", "--format", "json", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found: dict[str, set[int]] = {path: set() for path in files}
    for finding in json.loads(done.stdout):
        found[finding["path"]].add(finding["line"])
    assert len(files) >= 90
    for path, lines in found.items():
        text = Path(path).read_text("utf-8").splitlines()
        assert lines == {number for number, line in enumerate(text, 1) if "  # bug:" in line}, path
