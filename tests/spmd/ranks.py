"""One rank of many programs: `python ranks.py RANK WORLD_SIZE` imports torch once and forks a process for each program.

Two things differ from a launcher: processes of one rank share an import, and the process group meets in a file instead
of at a port. Each rank has an interpreter of its own, hence a hash seed of its own, as real ranks have.

Requests are lines of JSON on the input, `{"program": PATH, "folder": PATH}`; the answer to each is the number of the
process. A process writes to `FOLDER/output.RANK` what it prints and to `FOLDER/ending.RANK` how it ended, and asked by a
signal to `FOLDER/stack.RANK` where it is. Where Horovod is installed, its programs meet at a server beside rank 0.
"""

from __future__ import annotations

import faulthandler
import json
import os
import runpy
import signal
import sys
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
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        request = json.loads(line)
        if HOROVOD and RANK == 0 and not os.fork():
            serve_horovod(Path(request["folder"]))
        pid = os.fork()
        if not pid:
            run(Path(request["program"]), Path(request["folder"]))
        print(pid, flush=True)
    os.killpg(0, signal.SIGKILL)


def preload() -> None:
    """Import what programs need, slow parts included that torch imports late, without starting a thread."""
    import torch._dynamo
    import torch.distributed.optim
    import torch.multiprocessing
    import torch.nn.parallel
    import torch.utils.data.distributed  # noqa: F401

    if HOROVOD:
        import horovod.torch  # noqa: F401


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
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _redirect(folder)
    faulthandler.register(signal.SIGUSR1, (folder / f"stack.{RANK}").open("w"))
    os.environ.update(RANK=str(RANK), LOCAL_RANK=str(RANK), WORLD_SIZE=str(WORLD), LOCAL_WORLD_SIZE=str(WORLD))
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29500", OMP_NUM_THREADS="1")
    if HOROVOD:
        _join_horovod(folder / "port")
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
    writing = folder / f"writing.{RANK}"
    writing.write_text(ending, "utf-8")
    writing.rename(folder / f"ending.{RANK}")
    os._exit(bool(ending))


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
