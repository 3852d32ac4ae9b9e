"""What is wrong with the GPUs or with NCCL, found before a run does: each trouble in one line."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

SHARED_MEMORY = 64 << 20
"""What NCCL needs of /dev/shm between two GPUs of one machine; Docker gives 64 MiB unless told otherwise."""
ASK = """
import json, sys
found = {}
if sys.argv[1] == "torch":
    import torch
    found["built"] = torch.backends.cuda.is_built()
    found["nccl"] = found["built"] and torch.distributed.is_nccl_available()
    found["gpus"] = torch.cuda.device_count()
else:
    import tensorflow as tf
    found["built"] = tf.test.is_built_with_cuda()
    found["gpus"] = len(tf.config.list_physical_devices("GPU"))
if sys.argv[2] == "horovodrun":
    import importlib
    found["nccl"] = bool(importlib.import_module("horovod." + sys.argv[1]).nccl_built())
print("FOUND " + json.dumps(found))
"""


def preflight(python: str, framework: str, launcher: str, processes: int) -> list[str]:
    """The troubles that `processes` ranks on as many GPUs would meet; none where all is well.

    `framework` is `torch` or `tensorflow`, `launcher` is `torchrun` or `horovodrun`.
    """
    return [*_driver(processes), *_shared_memory(processes), *_library(python, framework, launcher, processes)]


def _driver(processes: int) -> list[str]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return ["no NVIDIA driver: nvidia-smi is not on the path"]
    try:
        found = subprocess.run(
            [program, "--query-gpu=name,memory.free", "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [f"the NVIDIA driver does not answer: {error}"]
    if found.returncode:
        last = (found.stdout + found.stderr).strip().splitlines()[-1:] or ["no message"]
        return [f"the NVIDIA driver does not work: {last[0]}"]
    count = len(found.stdout.splitlines())
    return [f"{count} GPUs for {processes} processes"] if count < processes else []


def _shared_memory(processes: int) -> list[str]:
    shared = Path("/dev/shm")
    if processes < 2 or not shared.is_dir():
        return []
    free = shutil.disk_usage(shared).free
    if free >= SHARED_MEMORY:
        return []
    return [f"/dev/shm has {free >> 20} MiB free, NCCL needs {SHARED_MEMORY >> 20}: --shm-size, or --ipc=host"]


def _library(python: str, framework: str, launcher: str, processes: int) -> list[str]:
    found = _ask(python, framework, launcher)
    if isinstance(found, str):
        return [found]
    if not found["built"]:
        return [f"{framework} of {python} was built without CUDA"]
    troubles = []
    if not found.get("nccl", True):
        who = "Horovod" if launcher == "horovodrun" else framework
        troubles.append(f"{who} of {python} was built without NCCL")
    if found["gpus"] < processes:
        troubles.append(f"{framework} sees {found['gpus']} GPUs, {processes} processes need one each")
    return troubles


def _ask(python: str, framework: str, launcher: str) -> dict[str, Any] | str:
    """What the library says of itself, or why it says nothing."""
    try:
        found = subprocess.run(
            [python, "-c", ASK, framework, launcher], capture_output=True, text=True, timeout=120, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{python} does not answer: {error}"
    answer = next((line for line in found.stdout.splitlines() if line.startswith("FOUND ")), None)
    if answer is None:
        last = found.stderr.strip().splitlines()[-1:] or ["no message"]
        return f"{framework} of {python} cannot be asked: {last[0]}"
    told: dict[str, Any] = json.loads(answer.removeprefix("FOUND "))
    return told
