"""One rank of many programs: `python ranks.py RANK WORLD_SIZE` imports a framework once and forks a process for each program.

It serves whoever started it for as long as that one lives. Each rank has an interpreter of its own, hence a hash seed of its
own, as real ranks have; processes of one rank share an import, which is what differs from a launcher.

Requests are lines of JSON on the input; the answer to each is the number of the process, which leads a group of its own. A
process writes to `FOLDER/output.RANK` what it prints and to `FOLDER/ending.RANK` how it ended. Where Horovod is installed, its
programs meet at a server in the group of rank 0.

- `{"program": PATH, "folder": PATH}`: the process is watched. Asked by a signal it writes to `FOLDER/stack.RANK` where it is,
  and its process group meets in a file instead of at a port.
- `{"arguments": [PATH, ...], "folder": PATH, "environment": {...}, "alone": false}`: `python PATH ...` in the folder, which ends
  as Python ends, and whose status is how it ended.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import runpy
import signal
import sys
import tempfile
import time
import traceback
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

RANK, WORLD = int(sys.argv[1]), int(sys.argv[2])
LONG = timedelta(seconds=60)
"""No program may wait that long, not on a busy machine either; hanging is seen from outside, long before."""
KEPT: list[Any] = []
HOROVOD = find_spec("horovod") is not None


def main() -> None:
    preload()
    gc.freeze()  # else each process looks at, and copies, all of the framework
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    started = []
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if not pid:
            serve(request, Path(request["folder"]))
            return
        with contextlib.suppress(OSError):  # the process may have ended
            os.setpgid(pid, pid)
        started.append(pid)
        print(pid, flush=True)
    for pid in started:  # none, unless the one that this serves was killed
        with contextlib.suppress(OSError):
            if os.getsid(pid) == os.getsid(0):
                os.killpg(pid, signal.SIGKILL)


def preload() -> None:
    """Import what programs need, slow parts included that a framework imports late, without starting a thread."""
    if find_spec("torch"):
        import torch._dynamo
        import torch.distributed.optim
        import torch.multiprocessing
        import torch.nn.parallel
        import torch.utils.data.distributed  # noqa: F401

        if HOROVOD:
            import horovod.torch
    else:
        import horovod.tensorflow.keras  # noqa: F401


def serve(request: dict[str, Any], folder: Path) -> None:
    """Be the process that was asked for."""
    os.setpgid(0, 0)
    alone = request.get("alone", False)
    if HOROVOD and RANK == 0 and not alone and not os.fork():
        serve_horovod(folder)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if "program" in request:
        run(Path(request["program"]), folder)
    if child := os.fork():
        _tell(folder, str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
        os._exit(0)
    _redirect(folder)
    if not alone:
        _join(folder)
    os.environ.update(request["environment"])
    os.chdir(folder)
    tempfile.tempdir = None
    sys.argv = request["arguments"]
    script = Path(sys.argv[0]).absolute()
    sys.path[:1] = [] if script.is_dir() else [str(script.parent)]
    runpy.run_path(str(script), run_name="__main__")


def serve_horovod(folder: Path) -> None:
    """Be what horovodrun is for its processes, until the group of processes is killed."""
    from horovod.runner.common.util.hosts import get_host_assignments, parse_hosts
    from horovod.runner.http.http_server import RendezvousServer

    server = RendezvousServer()
    port = server.start()
    server.init(get_host_assignments(parse_hosts(f"localhost:{WORLD}"), WORLD))
    (folder / "writing.port").write_text(str(port), "utf-8")
    (folder / "writing.port").rename(folder / "port")
    while True:
        signal.pause()


def _join(folder: Path) -> None:
    """Set what a launcher sets."""
    os.environ.update(RANK=str(RANK), LOCAL_RANK=str(RANK), WORLD_SIZE=str(WORLD), LOCAL_WORLD_SIZE=str(WORLD))
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29500", OMP_NUM_THREADS="1")
    if HOROVOD:
        _join_horovod(folder / "port")


def _join_horovod(port: Path) -> None:
    """Set what horovodrun sets for a process of one machine."""
    while not port.is_file():
        time.sleep(0.01)
    slot = {"RANK": RANK, "SIZE": WORLD, "LOCAL_RANK": RANK, "LOCAL_SIZE": WORLD, "CROSS_RANK": 0, "CROSS_SIZE": 1}
    where = {"HOSTNAME": "localhost", "GLOO_RENDEZVOUS_ADDR": "127.0.0.1", "GLOO_RENDEZVOUS_PORT": port.read_text()}
    how = {"CONTROLLER": "gloo", "CPU_OPERATIONS": "gloo", "GLOO_IFACE": "lo", "GLOO_TIMEOUT_SECONDS": LONG.seconds}
    os.environ.update({f"HOROVOD_{name}": str(value) for name, value in {**slot, **where, **how}.items()})


def run(program: Path, folder: Path) -> None:
    """Run a program as a launcher's process would; never returns."""
    _redirect(folder)
    faulthandler.register(signal.SIGUSR1, (folder / f"stack.{RANK}").open("w"))
    _join(folder)
    os.chdir(folder / "work")
    _patch(folder / "store")
    sys.argv = [str(program)]
    ending = ""
    try:
        runpy.run_path(str(program), run_name="__main__")
    except SystemExit as error:
        ending = f"SystemExit: {error.code}" if error.code else ""
    except BaseException as error:
        traceback.print_exc()
        ending = f"{type(error).__name__}: {error}"
    sys.stdout.flush()
    sys.stderr.flush()
    _tell(folder, ending)
    os._exit(bool(ending))


def _tell(folder: Path, ending: str) -> None:
    """Write how the process ended."""
    writing = folder / f"writing.{RANK}"
    writing.write_text(ending, "utf-8")
    writing.rename(folder / f"ending.{RANK}")


def _redirect(folder: Path) -> None:
    """Outputs go to files, the input is empty."""
    for name, number in (("output", 1), ("errors", 2)):
        opened = os.open(folder / f"{name}.{RANK}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 they last as long as the process


def _patch(store: Path) -> None:
    """The process group meets in a file; `mp.spawn` and `mp.Process` become the one process of this rank."""
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp

    torch.set_num_threads(1)
    original = dist.init_process_group

    def init_process_group(backend: str | None = None, *unused: Any, **given: Any) -> None:
        rank, world = int(given.get("rank", RANK)), int(given.get("world_size", WORLD))
        original("gloo", store=dist.FileStore(str(store), world), rank=rank, world_size=world, timeout=LONG)
        # Its destructor waits for a thread that may wait for the interpreter's lock, if a wrapped model outlives the group.
        KEPT.append(dist.group.WORLD)

    def spawn(fn: Any, args: tuple[Any, ...] = (), *unused: Any, **given: Any) -> None:
        fn(RANK, *args)

    dist.init_process_group = init_process_group
    mp.spawn = spawn


if __name__ == "__main__":
    main()
