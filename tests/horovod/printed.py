"""What programs of TensorFlow print of numbers: on two ranks of Horovod once they are rewritten, and in one process."""

from __future__ import annotations

import json
from pathlib import Path

from horovod.tape.test_ranks import rewritten

from smoke.environments import horovod_python
from spmd.running import together

Printed = dict[str, dict[str, list[float]]]
"""The numbers by program, of `alone` and of rank 0 of `ranks`."""
DRIVER = """
import contextlib, io, json, runpy, sys, tempfile
found = {}
for name, text in json.load(open(sys.argv[1])).items():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write(text)
            script.flush()
            runpy.run_path(script.name, run_name="__main__")  # what is traced is read from its file
    found[name] = [float(each) for each in out.getvalue().split()]
import horovod.tensorflow as hvd
if not hvd.is_initialized() or hvd.rank() == 0:
    with open(sys.argv[2], "w") as told:
        json.dump(found, told)
"""


def printed_by(texts: dict[str, str], folder: Path) -> Printed:
    """Run all programs, given by name, in one pair of processes and in one process."""
    python = horovod_python("tensorflow")
    (folder / "driver.py").write_text(DRIVER)
    (folder / "alone.json").write_text(json.dumps(texts))
    (folder / "ranks.json").write_text(json.dumps({name: rewritten(text) for name, text in texts.items()}))
    for kind in ("alone", "ranks"):
        together(["driver.py", f"{kind}.json", f"{kind}-found.json"], folder, python, alone=kind == "alone")
    return {kind: json.loads((folder / f"{kind}-found.json").read_text()) for kind in ("alone", "ranks")}
