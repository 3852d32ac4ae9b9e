"""Start-up: the import of the back end, its initialization, and one GPU for each process.

It stands behind the imports of the file, not at its very top: Horovod binds to the framework that is imported before it,
and lines such as `os.environ[...] = ...` in front of that import must stay in front.
"""

from __future__ import annotations

import ast

from distml.rewrites.horovod.plan import Note, Plan, Start, World
from distml.rewrites.patch import Patch
from distml.training.unit import Unit

_ORDER: tuple[Start, ...] = ("torch", "tensorflow", "keras", "session")
_MODULES: dict[Start, str] = {
    "torch": "horovod.torch",
    "tensorflow": "horovod.tensorflow",
    "keras": "horovod.tensorflow.keras",
    "session": "horovod.tensorflow",
}
_WHY = "every process must know its rank and the number of ranks before anything is divided among them"


def set_up(plan: Plan, unit: Unit) -> World:
    """Put the start-up into a file, and say how it spells rank and size."""
    starts = {loop.start for loop in plan.loops}
    start = next(each for each in _ORDER if each in starts)
    patch = plan.patch(unit.tree)
    if start == "torch" and plan.options.backend == "ddp":
        code, world = _ddp(patch)
    else:
        code, world = _horovod(start, patch, unit)
    anchor = anchor_of(unit, "torch" if start == "torch" else "tensorflow")
    note = Note("start-up of the distributed back end", _WHY, "start-up")
    if anchor is None:
        patch.before(unit.tree.body[0], code, note)
    else:
        patch.after(anchor, code, note)
    return world


def _horovod(start: Start, patch: Patch, unit: Unit) -> tuple[str, World]:
    hvd = patch.free("hvd")
    lines = [f"import {_MODULES[start]} as {hvd}", "", f"{hvd}.init()"]
    world = World(hvd, f"{hvd}.rank()", f"{hvd}.size()", f"{hvd}.local_rank()")
    return "\n".join([*lines, *_device(start, world, patch, unit)]), world


def _device(start: Start, world: World, patch: Patch, unit: Unit) -> list[str]:
    """One GPU for each process of a machine."""
    if start == "torch":
        return ["if torch.cuda.is_available():", f"    torch.cuda.set_device({world.local_rank})"]
    if start == "session":
        return []
    gpus, gpu = patch.free("gpus"), patch.free("gpu")
    return [
        f'{gpus} = tf.config.list_physical_devices("GPU")',
        f"for {gpu} in {gpus}:",
        f"    tf.config.experimental.set_memory_growth({gpu}, True)",
        f"if {gpus}:",
        f'    tf.config.set_visible_devices({gpus}[{world.local_rank}], "GPU")',
    ]


def _ddp(patch: Patch) -> tuple[str, World]:
    raise NotImplementedError


def anchor_of(unit: Unit, framework: str) -> ast.stmt | None:
    """The statement the start-up goes behind: the last import before the program begins, or that of the framework."""
    last: ast.stmt | None = None
    begun = False
    for statement in unit.tree.body:
        imports = [each for each in ast.walk(statement) if isinstance(each, ast.Import | ast.ImportFrom)]
        top = isinstance(statement, ast.Import | ast.ImportFrom | ast.Try | ast.If) and imports
        begun = begun or isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.For | ast.While | ast.With)
        if top and (not begun or any(_imports(each, framework) for each in imports)):
            last = statement
    if last is None and unit.tree.body and ast.get_docstring(unit.tree, clean=False) is not None:
        return unit.tree.body[0]
    return last


def _imports(statement: ast.Import | ast.ImportFrom, framework: str) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return (statement.module or "").partition(".")[0] == framework
    return any(alias.name.partition(".")[0] == framework for alias in statement.names)
