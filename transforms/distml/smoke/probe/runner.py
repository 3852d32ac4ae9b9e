"""Runs the script as `__main__`, under the hooks, and sees to its end."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import random
import signal
import sys
import threading
import time
import traceback
import types
from typing import Any

from . import chance, keras_hooks, shares, torch_data, torch_hooks
from .importing import Hook, install
from .plan import Plan, read
from .recorder import Recorder, Stopped
from .tensorflow_hooks import TensorFlow

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Run the script `arguments[0]` with the other arguments; ends the process."""
    plan = read()
    recorder = Recorder(plan)
    recorder.note("start", rank=plan.rank, size=plan.size, pid=os.getpid(), python=sys.version.split()[0])
    _die_with_parent(recorder)
    stacks = open(plan.file("stacks"), "w", encoding="utf-8")  # noqa: SIM115 open as long as the process
    faulthandler.register(signal.SIGUSR1, file=stacks, all_threads=True)
    _seed(plan)
    if plan.share_gpu:
        _alone_on_its_machine(plan)
    install(_hooks(recorder), lambda name, error: recorder.note("trouble", text=f"{name}: {error!r}"))
    code = _run(arguments, recorder)
    sys.stdout.flush()
    sys.stderr.flush()
    if code is None:
        _leave()
    sys.exit(code)


def _hooks(recorder: Recorder) -> dict[str, list[Hook]]:
    found: dict[str, list[Hook]] = {}
    tensorflow = TensorFlow(recorder)
    rooms = (
        torch_hooks.hooks(recorder),
        torch_data.hooks(recorder),
        tensorflow.hooks(),
        keras_hooks.hooks(tensorflow),
        shares.hooks(recorder.plan),
        chance.hooks(recorder),
    )
    for room in rooms:
        for name, hook in room.items():
            found.setdefault(name, []).append(hook)
    return found


def _run(arguments: list[str], recorder: Recorder) -> Any:
    """The exit code of the script, None where the probe ended it."""
    try:
        _as_main(arguments)
    except Stopped:
        recorder.finish("stopped")
        return None
    except SystemExit as request:
        recorder.finish("finished" if not request.code else "error", text=f"exit code {request.code}")
        return request.code if request.code is not None else 0
    except BaseException as error:
        traceback.print_exc()
        recorder.finish("error", text=f"{type(error).__name__}: {error}"[:2000], where=_where(error))
        return 1
    recorder.finish("finished")
    return 0


def _as_main(arguments: list[str]) -> None:
    script = arguments[0]
    sys.argv = list(arguments)
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=script, __builtins__=__builtins__, __loader__=None, __spec__=None)
    sys.modules["__main__"] = module
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec")
    exec(code, module.__dict__)  # running the script is what this process is for


def _where(error: BaseException) -> str:
    """The last line of the script's own files in the traceback."""
    folder = sys.path[0]
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(folder)]
    return f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""


def _leave() -> None:
    """End at once, when the others no longer need this process."""
    with contextlib.suppress(Exception):  # they may be gone
        torch_hooks.leave_together()
    horovod = sys.modules.get("horovod.common.basics")
    for name in ("horovod.torch", "horovod.tensorflow"):
        if horovod and name in sys.modules:
            sys.modules[name].shutdown()
            break
    os._exit(0)


def _seed(plan: Plan) -> None:
    """What a script leaves to chance is repeatable, and differs between ranks as it does in life."""
    random.seed(plan.seed + plan.rank)
    os.environ.setdefault("PYTHONHASHSEED", "0")


def _alone_on_its_machine(plan: Plan) -> None:
    """Be the only process of a machine of its own, as far as NCCL and the script can tell: NCCL refuses two on one GPU.

    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html (NCCL_HOSTID)
    """
    started = [prefix for prefix in ("", "HOROVOD_") if f"{prefix}LOCAL_RANK" in os.environ]
    for prefix in started:
        os.environ[f"{prefix}LOCAL_RANK"] = "0"
    if "HOROVOD_" in started:
        os.environ.update(HOROVOD_LOCAL_SIZE="1", HOROVOD_CROSS_RANK=str(plan.rank), HOROVOD_CROSS_SIZE=str(plan.size))
    if started:
        os.environ["NCCL_HOSTID"] = f"distml-{plan.rank}"
        os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
        os.environ.setdefault("NCCL_IB_DISABLE", "1")


def _die_with_parent(recorder: Recorder) -> None:
    """Outlive neither the launcher (Linux tells) nor the process that asked for the run (looked for every second)."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    except (AttributeError, OSError):
        recorder.note("trouble", text="no prctl")
    threading.Thread(target=_watch, args=(recorder,), daemon=True).start()


def _watch(recorder: Recorder) -> None:
    asked = os.path.join(recorder.plan.folder, "hang")
    told = False
    while True:
        time.sleep(0.25)
        try:
            os.kill(recorder.plan.parent, 0)
        except OSError:
            os._exit(3)
        if not told and os.path.exists(asked):
            told = True
            for callback in recorder.at_end:
                callback()
