"""The commands that start a script under the probe: alone, by horovodrun, or by torchrun."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distml.smoke import probe
from distml.smoke.model import Options, SmokeError
from distml.smoke.probe.plan import VARIABLE

PROBE = Path(probe.__file__).parent
HOROVODRUN = "from horovod.runner.launch import run_commandline; run_commandline()"
MISSING = (
    "Horovod is not installed for {python}: build it with `.ci/horovod` of the distml repository, or "
    "`HOROVOD_WITH_GLOO=1 pip install --no-build-isolation horovod==0.28.1` beside TensorFlow <= 2.15 or PyTorch"
)
_NEEDS = {
    "horovodrun": ("horovod", MISSING),
    "torchrun": ("torch", "PyTorch is not installed for {python}: pip install torch"),
    "accelerate": ("accelerate", "accelerate is not installed for {python}: pip install accelerate"),
}
"""The module that each launcher needs, and what to say where it is missing."""
FIND = "import importlib.util as u, sys; sys.exit(0 if u.find_spec(sys.argv[1]) else 1)"


@dataclass(frozen=True)
class Start:
    """A script to be run: where, by whom, with which arguments."""

    python: str
    script: Path
    folder: Path
    arguments: tuple[str, ...]


def launcher_for(text: str, wanted: str) -> str:
    """`horovodrun`, `accelerate` or `torchrun`, by what the program uses.

    Raises:
        SmokeError: It uses none of them.
    """
    if wanted != "auto":
        return wanted
    if "horovod" in text:
        return "horovodrun"
    if "import Accelerator" in text:
        return "accelerate"
    if "torch.distributed" in text or "DistributedDataParallel" in text:
        return "torchrun"
    raise SmokeError(
        "the rewritten script uses neither Horovod nor torch.distributed nor accelerate; name one with --launcher"
    )


def check(python: str, launcher: str) -> None:
    """Whether the launcher is there.

    Raises:
        SmokeError: It is not, and how to get it.
    """
    module, text = _NEEDS[launcher]
    try:
        found = subprocess.run([python, "-c", FIND, module], timeout=60, capture_output=True, check=False).returncode
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SmokeError(f"{python} does not run: {error}") from None
    if found:
        raise SmokeError(text.format(python=python))


def command(start: Start, launcher: str, processes: int) -> list[str]:
    """What to execute; no shell is involved."""
    inner = [str(PROBE), str(start.script), *start.arguments]
    if launcher == "horovodrun":
        where = ["-np", str(processes), "--gloo", "-H", f"localhost:{processes}"]
        return [start.python, "-c", HOROVODRUN, *where, start.python, *inner]
    if launcher in ("torchrun", "accelerate"):
        return [start.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes), *inner]
    return [start.python, *inner]


def environment(options: Options, plan: Path, python: str) -> dict[str, str]:
    """The environment of the processes: as ours, with threads shared out, and without GPUs for Gloo."""
    threads = str(max(1, (os.cpu_count() or 1) // options.np))
    found = {
        "OMP_NUM_THREADS": threads,
        "TF_NUM_INTRAOP_THREADS": threads,
        "TF_NUM_INTEROP_THREADS": threads,
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "MPLBACKEND": "Agg",
        **os.environ,
        "PATH": os.pathsep.join([str(Path(python).parent), os.environ.get("PATH", os.defpath)]),
        "TMPDIR": str(plan.parent),  # what frameworks leave behind goes with the run
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOROVOD_STALL_CHECK_TIME_SECONDS": str(max(1, int(options.stall / 2))),
        "TORCH_FR_BUFFER_SIZE": "4000",
        VARIABLE: str(plan),
    }
    if options.backend == "gloo":
        found |= {"CUDA_VISIBLE_DEVICES": "", "ACCELERATE_USE_CPU": "true"}
    return {**found, **options.environment}


def write_plan(path: Path, fields: Mapping[str, Any]) -> None:
    """Tell the probe what to do."""
    path.write_text(json.dumps({"parent": os.getpid(), **fields}), encoding="utf-8")
