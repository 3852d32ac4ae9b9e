"""How a file imports and starts each back end, and how it asks for its rank."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from distml.rewrites.horovod.aspects.anchors import import_of, tensorflow_in
from distml.rewrites.horovod.aspects.versions import keras_alone, modern
from distml.rewrites.horovod.options import Backend
from distml.rewrites.horovod.plan import Plan, Start, World
from distml.rewrites.patch import Patch
from distml.training.program import Program
from distml.training.unit import Unit

_MODULES: dict[Start, str] = {
    "torch": "horovod.torch",
    "tensorflow": "horovod.tensorflow",
    "keras": "horovod.tensorflow.keras",
    "session": "horovod.tensorflow",
}
_VARIABLES = {"RANK": 0, "WORLD_SIZE": 1, "LOCAL_RANK": 0}
"""What torchrun tells each process, and what holds for one that it did not start."""


@dataclass(frozen=True)
class Way:
    """How one file uses a back end."""

    imports: dict[str, list[str]]
    """What it imports, by the name that the import binds; what other files import already is empty."""
    start: str
    """The statements that start it in the script."""
    again: str
    """The statements by which a function starts it unless that has been done; nothing if only a launcher can."""
    world: World
    """How rank and size are spelled where it has been started."""
    apart: World
    """How they are where it may not have been."""
    with_start: tuple[str, ...] = ()
    """Imports that only the start takes."""
    end: str = ""
    """The last statement of the script."""
    asks: bool = True
    """Whether a process knows its rank before it is started."""
    binds: bool = False
    """Whether the start binds a name, which each function then needs."""
    places: bool = True
    """Whether the script chooses the GPU; if not, the back end does."""
    settled: Callable[[str], str] = str
    """The text of a start when all is planned."""

    @property
    def lines(self) -> list[str]:
        """The imports that the file lacks."""
        return [line for lines in self.imports.values() for line in lines]

    @property
    def spellings(self) -> list[tuple[str, str]]:
        """What is spelled in two ways: where the back end may not have been started, and where it has been."""
        names = ("first", "rank", "size", "local_rank", "barrier")
        pairs = [(getattr(self.apart, name), getattr(self.world, name)) for name in names]
        return [(apart, world) for apart, world in pairs if apart != world]

    def used(self, codes: list[str]) -> list[str]:
        """Those of them that code uses."""
        names = [name for name in self.imports if any(re.search(rf"\b{name}[.(]", code) for code in codes)]
        return [line for name in names for line in self.imports[name]]


def way_of(plan: Plan, unit: Unit, start: Start, alone: bool) -> Way:
    """How a file uses the back end of a plan; `alone` if no other file of the program does."""
    backend: Backend = plan.options.backend if start == "torch" else "horovod"
    return _WAYS[backend](plan, unit, start, alone)


def device_of(start: Start, world: World, patch: Patch, unit: Unit, program: Program) -> tuple[list[str], list[str]]:
    """One GPU for each process of a machine, and the imports that takes."""
    if start == "torch":
        cuda = f"{world.torch}.cuda"
        return [f"if {cuda}.is_available():", f"    {cuda}.set_device({world.local_rank})"], []
    if start == "session":
        return [], []
    tf = tensorflow_in(unit)
    added = [] if tf else [f"import tensorflow as {(tf := tensorflow_in(unit, later=True) or patch.free('tf'))}"]
    if start == "keras" and not modern(program):
        lines, more = _in_session(tf, world, patch, unit, program)
        return lines, [*added, *more] if lines else []
    gpus, gpu = patch.free("gpus"), patch.free("gpu")
    return [
        f'{gpus} = {tf}.config.list_physical_devices("GPU")',
        f"for {gpu} in {gpus}:",
        f"    {tf}.config.experimental.set_memory_growth({gpu}, True)",
        f"if {gpus}:",
        f'    {tf}.config.set_visible_devices({gpus}[{world.local_rank}], "GPU")',
    ], added


def _in_session(tf: str, world: World, patch: Patch, unit: Unit, program: Program) -> tuple[list[str], list[str]]:
    """The session of Keras in TensorFlow 1, and the imports it takes; nothing where the program configures its own."""
    if any(program.calls_of("tensorflow.ConfigProto")):
        return [], []
    keras, added = import_of("keras", unit) if keras_alone(program) else (f"{tf}.keras", [])
    config = patch.free("config")
    return [
        f"{config} = {tf}.ConfigProto()",
        f"{config}.gpu_options.visible_device_list = str({world.local_rank})",
        f"{keras}.backend.set_session({tf}.Session(config={config}))",
    ], added


def _horovod(plan: Plan, unit: Unit, start: Start, alone: bool) -> Way:
    hvd = plan.patch(unit.tree).free("hvd")
    torch, first = import_of("torch", unit) if start == "torch" else ("torch", [])
    module = "horovod.keras" if start == "keras" and keras_alone(plan.program) else _MODULES[start]
    rank = f"{hvd}.rank()"
    world = World(hvd, rank, f"{hvd}.size()", f"{hvd}.local_rank()", torch, f"{rank} == 0", f"{hvd}.barrier()")
    return Way(
        {torch: first, hvd: [f"import {module} as {hvd}"]},
        f"{hvd}.init()",
        f"if not {hvd}.is_initialized():\n    {hvd}.init()",
        world,
        replace(world, first=f"not {hvd}.is_initialized() or {world.first}"),
        asks=False,
    )


def _ddp(plan: Plan, unit: Unit, start: Start, alone: bool) -> Way:
    """torch.distributed: started and ended by the script; torchrun says which process this is."""
    patch = plan.patch(unit.tree)
    dist = patch.free("dist")
    (system, first), (torch, second) = (import_of(each, unit) for each in ("os", "torch"))
    for module, name in (("os", system), ("torch", torch)):  # what is imported here is not imported a second time
        plan.spelled.setdefault((unit.source.location, module), name)
    started = f'{dist}.init_process_group("cpu:gloo,cuda:nccl" if {torch}.cuda.is_available() else "gloo")'
    if not alone:
        # The process group may be started once only, and any file of the program may be imported first.
        started = f"if not {dist}.is_initialized():\n    {started}"
    local, rank = f'int({system}.environ["LOCAL_RANK"])', f"{dist}.get_rank()"
    world = World(dist, rank, f"{dist}.get_world_size()", local, torch, f"{rank} == 0", f"{dist}.barrier()")
    return Way(
        {system: first, torch: second, dist: [f"import torch.distributed as {dist}"]},
        started,
        "",
        world,
        _launched(replace(world, barrier=f"if {dist}.is_initialized():\n    {dist}.barrier()"), system),
        (_complete(patch),),
        f"{dist}.destroy_process_group()",
    )


def _launched(world: World, system: str) -> World:
    """How a file spells rank and size by the variables that a launcher sets."""
    variables = f"{system}.environ.get("
    rank, size, local = (f'int({variables}"{each}", {n}))' for each, n in _VARIABLES.items())
    return replace(world, rank=rank, size=size, local_rank=local, first=f'{variables}"RANK", "0") == "0"')


def _accelerate(plan: Plan, unit: Unit, start: Start, alone: bool) -> Way:
    """accelerate: the objects that several functions make share one state; what they are told is known when all is planned."""
    patch, location = plan.patch(unit.tree), unit.source.location
    (system, first), (torch, second) = (import_of(each, unit) for each in ("os", "torch"))
    plan.spelled.setdefault((location, "os"), system)
    maker, name = patch.free("Accelerator"), patch.free("accelerator")
    words = ("process_index", "num_processes", "local_process_index")
    rank, size, local = (f"{name}.{each}" for each in words)
    world = World(name, rank, size, local, torch, f"{name}.is_main_process", f"{name}.wait_for_everyone()")
    made = f"{name} = {maker}()"
    told = plan.arguments[location] = []
    return Way(
        {system: first, torch: second, maker: [f"from accelerate import {_alias('Accelerator', maker)}"]},
        made,
        made,
        world,
        _launched(world, system),
        end=f"{name}.end_training()",
        binds=True,
        places=False,
        settled=lambda text: text.replace(made, f"{made[:-1]}{', '.join(told)})"),
    )


def utilities_of(plan: Plan, unit: Unit) -> list[str]:
    """The import of the functions of `accelerate.utils` that the code added to a file uses."""
    package = "accelerate.utils."
    named = sorted(
        _alias(key.removeprefix(package), own)
        for (location, key), own in plan.spelled.items()
        if location == unit.source.location and key.startswith(package)
    )
    return [f"from accelerate.utils import {', '.join(named)}"] if named else []


def _alias(name: str, own: str) -> str:
    """How an import names what a file calls `own`."""
    return name if own == name else f"{name} as {own}"


def _complete(patch: Patch) -> str:
    """The import without which PyTorch keeps a process group for ever.

    The functions of `torch.distributed.nn` have the group of the moment they are defined as a default, and the first
    optimizer imports them. A group that is kept has threads that outlive `destroy_process_group`, and can abort the
    interpreter when it ends.
    """
    name = patch.free("dist_nn")
    return f"import torch.distributed.nn as {name}  # noqa: F401 (imported later, it would keep the process group)"


_WAYS: dict[Backend, Callable[[Plan, Unit, Start, bool], Way]] = {
    "horovod": _horovod,
    "ddp": _ddp,
    "accelerate": _accelerate,
}
