"""Start-up: the import of the back end, its initialization, and one GPU for each process.

It stands behind the imports of the file, not at its very top: Horovod binds to the framework that is imported before it,
and lines such as `os.environ[...] = ...` in front of that import must stay in front.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from distml.rewrites.horovod.aspects.ends import end
from distml.rewrites.horovod.aspects.idle import only_as_script
from distml.rewrites.horovod.options import Backend
from distml.rewrites.horovod.plan import Note, Plan, Start, World
from distml.rewrites.patch import Patch
from distml.source.nodes import walk
from distml.training.callers import upwards
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import nodes_in, runs_as_script
from distml.training.unit import Unit
from distml.training.values import Module, Values

_ORDER: tuple[Start, ...] = ("torch", "tensorflow", "keras", "session")
_MODULES: dict[Start, str] = {
    "torch": "horovod.torch",
    "tensorflow": "horovod.tensorflow",
    "keras": "horovod.tensorflow.keras",
    "session": "horovod.tensorflow",
}
_FETCHES = re.compile(r"(urlretrieve|wget\.download|gdown\.\w*download|nltk\.download|fetch_\w+|load_dataset)$")
_PRELUDE = frozenset({"os", "sys", "warnings", "matplotlib", "pathlib", "random"})
_HELPER = Note("functions that combine values of all ranks", "the backend has none for this", "start-up")
_STARTED = Note(
    "initialize the distributed backend",
    "every process must know its rank and the number of ranks before anything is divided among them",
    "start-up",
)
_IMPORTED = Note("imports", "the added code uses them; the script starts the processes", "start-up")


def start_of(plan: Plan) -> Start:
    """Which start-up the loops of a program need: one that serves all of them."""
    starts = {loop.start for loop in plan.loops}
    return "tensorflow" if {"keras", "session"} <= starts else next(each for each in _ORDER if each in starts)


def set_up(plan: Plan, unit: Unit) -> World:
    """Put the start-up into a file, and say how it spells rank and size."""
    start = start_of(plan)
    backend = _STARTS[plan.options.backend] if start == "torch" else _horovod
    code, world, note = backend(plan, unit, start)
    behind_start(plan, unit, code, note)
    return world


def behind_start(plan: Plan, unit: Unit, code: str, note: Note, *, imports: bool = False) -> None:
    """Put statements behind the imports of a file: one more of the `imports`, or what runs behind the start-up."""
    patch = plan.patch(unit.tree)
    torch = any(loop.start == "torch" for loop in plan.loops)
    anchor = anchor_of(unit, "torch" if torch else "tensorflow")
    if anchor is None:
        patch.before(unit.tree.body[0], code, note, first=imports)
    else:
        patch.after(anchor, code, note, first=imports)


def at_start(plan: Plan, unit: Unit, code: str, note: Note) -> None:
    """Put what a script is to do first directly behind its start-up."""
    guard = _start_of_script(plan, unit) if plan.options.backend == "ddp" and _is_entry(plan, unit) else None
    if guard is None:
        behind_start(plan, unit, code, note)
    else:
        plan.patch(unit.tree).begin(guard, code.strip("\n"), note)


def helper(plan: Plan, node: ast.AST, name: str, code: str, **words: str) -> str:
    """The name of a small function that the file of `node` needs, put behind its start-up once; `code` has holes."""
    unit = plan.program.unit(node)
    key = (unit.source.location, name)
    if key not in plan.spelled:
        world = plan.world(node)
        plan.spelled[key] = plan.patch(unit.tree).free(name)
        known = {"name": plan.spelled[key], "dist": world.module, "torch": world.torch, "first": world.first}
        behind_start(plan, unit, code.format(**known, **words), _HELPER)
    return plan.spelled[key]


def _is_entry(plan: Plan, unit: Unit) -> bool:
    """Whether no other file of the program imports a file: then it is run, and starts the back end."""
    return not any(_uses(plan, other, unit) for other in plan.program.units.values() if other is not unit)


def _is_prepared(plan: Plan, unit: Unit) -> bool:
    """Whether the script has chosen the GPU before a file that it imports needs one: only the file's functions do."""
    roots = plan.program.roots
    if unit in roots or not all(each.source.location in plan.editable for each in roots) or _works(unit):
        return False
    for root in roots:
        plan.world(root.tree)
    return True


def _works(unit: Unit) -> bool:
    """Whether a file calls the framework while it is imported."""
    waiting: list[ast.AST] = [*unit.tree.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and path_of(node.func, unit).partition(".")[0] in ("tensorflow", "keras"):
            return True
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += node.args.defaults
        else:
            waiting += node.body if isinstance(node, ast.ClassDef) else ast.iter_child_nodes(node)
    return False


def _is_alone(plan: Plan, unit: Unit) -> bool:
    """Whether a file imports no other of the program and is imported by none: only its own start-up ever runs."""
    others = [other for other in plan.program.units.values() if other is not unit]
    return not any(_uses(plan, unit, other) or _uses(plan, other, unit) for other in others)


def _uses(plan: Plan, user: Unit, unit: Unit) -> bool:
    """Whether a file imports another."""
    return unit.source.location in _imported_by(user, plan.program)


@remembered
def _imported_by(user: Unit, program: Program) -> set[str]:
    """The files that a file imports."""
    found: set[str] = set()
    for node in nodes_in(user.tree, ast.Import):
        modules = (each for alias in node.names for each in _modules(program.module_of(user, alias.name)))
        found |= {each.source.location for each in modules}
    for each in nodes_in(user.tree, ast.ImportFrom):
        for module in _modules(program.module_of(user, each.module or "", each.level)):
            inner = (program.project.submodule(module.source, alias.name) for alias in each.names)
            found |= {module.source.location, *(source.location for source in inner if source is not None)}
    return found


def _modules(values: Values) -> list[Module]:
    return [each for each in values if isinstance(each, Module)]


def _horovod(plan: Plan, unit: Unit, start: Start) -> tuple[str, World, Note]:
    patch, entry = plan.patch(unit.tree), _is_entry(plan, unit)
    entry = entry or (start != "torch" and not _is_prepared(plan, unit))
    hvd = patch.free("hvd")
    torch, first = _imported("torch", unit) if start == "torch" else ("torch", [])
    rank = f"{hvd}.rank()"
    world = World(hvd, rank, f"{hvd}.size()", f"{hvd}.local_rank()", torch, f"{rank} == 0", f"{hvd}.barrier()")
    device, imports = _device(start, world, patch, unit) if entry else ([], [])
    lines = [*first, *imports, f"import {_MODULES[start]} as {hvd}", "", f"{hvd}.init()", *device]
    return "\n".join(lines), world, _STARTED


def _device(start: Start, world: World, patch: Patch, unit: Unit) -> tuple[list[str], list[str]]:
    """One GPU for each process of a machine, and the imports that takes."""
    if start == "torch":
        cuda = f"{world.torch}.cuda"
        return [f"if {cuda}.is_available():", f"    {cuda}.set_device({world.local_rank})"], []
    if start == "session":
        return [], []
    tf = tensorflow_in(unit)
    added = [] if tf else [f"import tensorflow as {(tf := tensorflow_in(unit, later=True) or patch.free('tf'))}"]
    gpus, gpu = patch.free("gpus"), patch.free("gpu")
    return [
        f'{gpus} = {tf}.config.list_physical_devices("GPU")',
        f"for {gpu} in {gpus}:",
        f"    {tf}.config.experimental.set_memory_growth({gpu}, True)",
        f"if {gpus}:",
        f'    {tf}.config.set_visible_devices({gpus}[{world.local_rank}], "GPU")',
    ], added


def _ddp(plan: Plan, unit: Unit, _: Start) -> tuple[str, World, Note]:
    """torch.distributed: started and ended by the script; torchrun says which process this is.

    What the script imports starts nothing while it is imported, unless it communicates then: processes that load data import
    it too, and scripts that train nothing.
    """
    patch, entry = plan.patch(unit.tree), _is_entry(plan, unit)
    dist = patch.free("dist")
    (system, first), (torch, second) = (_imported(each, unit) for each in ("os", "torch"))
    for module, name in (("os", system), ("torch", torch)):  # what is imported here is not imported a second time
        plan.spelled.setdefault((unit.source.location, module), name)
    started = f'{dist}.init_process_group("cpu:gloo,cuda:nccl" if {torch}.cuda.is_available() else "gloo")'
    if not _is_alone(plan, unit):
        # The process group may be started once only, and any file of the program may be imported first.
        started = f"if not {dist}.is_initialized():\n    {started}"
    imported = [*first, *second, f"import torch.distributed as {dist}", _complete(patch)]
    local, rank = f'int({system}.environ["LOCAL_RANK"])', f"{dist}.get_rank()"
    world = World(dist, rank, f"{dist}.get_world_size()", local, torch, f"{rank} == 0", f"{dist}.barrier()")
    if entry or not _is_prepared(plan, unit):
        plan.ends.append(lambda: end(plan, unit, f"{dist}.destroy_process_group()", entry))
        device = _device("torch", world, patch, unit)[0] if entry else []
        guard, start = _start_of_script(plan, unit), "\n".join([started, *device])
        if guard is None or not entry:
            return "\n".join([*imported, "", start]), world, _STARTED
        patch.begin(guard, start, _STARTED)
        return "\n".join(imported), world, _IMPORTED
    if all(plan.program.unit(loop.node) is not unit for loop in plan.loops):
        variables = f"{system}.environ.get("
        rank, size, local = (f'int({variables}"{each}", {n}))' for each, n in _VARIABLES.items())
        barrier = f"if {dist}.is_initialized():\n    {dist}.barrier()"
        world = World(dist, rank, size, local, torch, f'{variables}"RANK", "0") == "0"', barrier)
    imports = {system: first, torch: second, dist: [f"import torch.distributed as {dist}"]}
    plain = "\n".join(line for lines in imports.values() for line in lines)

    def complete() -> None:
        codes = [each for each in patch.requests.codes() if each[1] != plain]
        names = [name for name in imports if any(re.search(rf"\b{name}\.", code) for _, code in codes)]
        used = [line for name in names for line in imports[name]]
        patch.amend(plain, "\n".join([*imported, "", started] if _communicates(codes, dist, plan) else used))

    plan.ends.append(complete)
    return plain, world, _IMPORTED


def _start_of_script(plan: Plan, unit: Unit) -> ast.If | None:
    """The `__main__` guard that a script begins in: what stands in front of it only defines and sets things.

    Processes that load data import the script as well where they are not forked, and must start nothing.
    """
    *before, last = unit.tree.body
    if not runs_as_script(last) or last.orelse:
        return None
    running = [each for each in before if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    calls = (call for each in running for call in nodes_in(each, ast.Call))
    return last if all(plan.program.matches(call.func, _SETS) for call in calls) else None


_SETS = re.compile(
    r"os\.(environ|path)\.\w+|os\.(getenv|getcwd)|sys\.path\.\w+|warnings\.\w+|matplotlib\.use|pathlib\.Path(\(\)\.\w+)*|"
    r"argparse\.ArgumentParser(\(\)\.\w+)*|logging\.(basicConfig|getLogger)|torch\.device|torch\.cuda\.(is_available|device_count)|"
    r"builtins\.(dict|list|set|tuple|frozenset|range|int|float|str|len)|collections\.\w+|re\.compile|typing\.\w+"
)
"""What a script calls in front of its `__main__` guard, and no rank needs to know which it is for."""
_VARIABLES = {"RANK": 0, "WORLD_SIZE": 1, "LOCAL_RANK": 0}
"""What torchrun tells each process, and what holds for one that it did not start."""


def _communicates(codes: list[tuple[ast.AST, str]], dist: str, plan: Plan) -> bool:
    """Whether what is put into a file needs the process group while the file is imported."""
    helpers = [code for _, code in codes if code.lstrip().startswith(("def ", "class "))]
    names = [match[1] for code in helpers if f"{dist}." in code and (match := re.search(r"(?:def|class) (\w+)", code))]
    needs = re.compile("|".join([rf"\b{dist}\.", r"\.Distributed", *(rf"\b{name}\(" for name in names)]))
    return any(needs.search(code) and code not in helpers and _runs_on_import(node, plan) for node, code in codes)


def _runs_on_import(node: ast.AST, plan: Plan) -> bool:
    """Whether a node runs while a file is imported that is not the script: what its `__main__` guard begins does not."""
    program = plan.program
    running = (each for each in upwards([node], program, direct=True) if program.function(each) is None)
    imported = (each for each in running if not only_as_script(each, program))
    return any(not _is_entry(plan, program.unit(each)) for each in imported)


def _accelerate(plan: Plan, unit: Unit, _: Start) -> tuple[str, World, Note]:
    """accelerate: the objects that several files make share one state; what they are given is known when all is planned."""
    patch, entry = plan.patch(unit.tree), _is_entry(plan, unit)
    torch, first = _imported("torch", unit)
    maker, name = patch.free("Accelerator"), patch.free("accelerator")
    words = ("process_index", "num_processes", "local_process_index")
    rank, size, local = (f"{name}.{each}" for each in words)
    world = World(name, rank, size, local, torch, f"{name}.is_main_process", f"{name}.wait_for_everyone()")
    begun = f"from accelerate import {_alias('Accelerator', maker)}\n"
    made = f"{name} = {maker}("
    plan.arguments[unit.source.location] = []

    def complete() -> None:
        location, package = unit.source.location, "accelerate.utils."
        named = (
            (key.removeprefix(package), own)
            for (at, key), own in plan.spelled.items()
            if at == location and package in key
        )
        utilities = ", ".join(sorted(_alias(*each) for each in named))
        imported = f"from accelerate.utils import {utilities}\n" if utilities else ""
        patch.amend(begun, begun + imported)
        patch.amend(f"{made})", f"{made}{', '.join(plan.arguments[location])})")
        end(plan, unit, f"{name}.end_training()", entry)

    plan.ends.append(complete)
    return "\n".join([*first, begun, f"{made})"]), world, _STARTED


def _alias(name: str, own: str) -> str:
    """How an import names what a file calls `own`."""
    return name if own == name else f"{name} as {own}"


_STARTS: dict[Backend, Callable[[Plan, Unit, Start], tuple[str, World, Note]]] = {
    "horovod": _horovod,
    "ddp": _ddp,
    "accelerate": _accelerate,
}


def _complete(patch: Patch) -> str:
    """The import without which PyTorch keeps a process group for ever.

    The functions of `torch.distributed.nn` have the group of the moment they are defined as a default, and the first
    optimizer imports them. A group that is kept has threads that outlive `destroy_process_group`, and can abort the
    interpreter when it ends.
    """
    name = patch.free("dist_nn")
    return f"import torch.distributed.nn as {name}  # noqa: F401 (imported later, it would keep the process group)"


def _imported(module: str, unit: Unit) -> tuple[str, list[str]]:
    """The name of a module, and the import it takes unless the file has one by then."""
    anchor = anchor_of(unit, "torch")
    for statement in unit.tree.body[: unit.tree.body.index(anchor) + 1] if anchor is not None else []:
        for alias in statement.names if isinstance(statement, ast.Import) else ():
            if alias.asname is None and alias.name.partition(".")[0] == module:
                return module, []
            if alias.asname is not None and alias.name == module:
                return alias.asname, []
    return module, [f"import {module}"]


def tensorflow_in(unit: Unit, later: bool = False) -> str:
    """The name that a file has for TensorFlow where the start-up stands, or also `later`; nothing if it has none by then."""
    anchor = unit.tree.body[-1] if later else anchor_of(unit, "tensorflow")
    for statement in unit.tree.body[: unit.tree.body.index(anchor) + 1 if anchor else 0]:
        for node in [statement] if not isinstance(statement, ast.Try | ast.If) else walk(statement):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    whole = alias.name in ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2")
                    if whole and (alias.asname or alias.name == "tensorflow"):
                        return alias.asname or alias.name
                    if alias.name.startswith("tensorflow.") and not alias.asname:
                        return "tensorflow"
    return ""


@remembered
def anchor_of(unit: Unit, framework: str) -> ast.stmt | None:
    """The statement the start-up goes behind: the last import before the program begins, or the first of the framework."""
    last: ast.stmt | None = None
    begun = seen = fetched = False
    for statement in unit.tree.body:
        imports = [each for each in walk(statement) if isinstance(each, ast.Import | ast.ImportFrom)]
        works = isinstance(statement, ast.If) and not _prepares(statement, unit)
        top = isinstance(statement, ast.Import | ast.ImportFrom | ast.Try | ast.If) and imports and not works
        begun = begun or not (top or _prepares(statement, unit))
        ours = any(_imports(each, framework) for each in imports)
        fetched = fetched or (begun and last is not None and framework == "tensorflow" and _fetches(statement, unit))
        if top and (not begun or (ours and not seen and not fetched)):
            last = statement
            seen = seen or ours
    if last is None and unit.tree.body and ast.get_docstring(unit.tree, clean=False) is not None:
        return unit.tree.body[0]
    return last


def _fetches(statement: ast.stmt, unit: Unit) -> bool:
    """Whether a statement downloads, which processes are to do one after another, so that they must have been started."""
    return any(isinstance(each, ast.Call) and _FETCHES.search(path_of(each.func, unit)) for each in walk(statement))


def started(plan: Plan, node: ast.AST) -> bool:
    """Whether the start-up of a file has run where a node stands, also where a function around it is called."""
    program = plan.program
    unit = program.unit(node)
    torch = any(loop.start == "torch" for loop in plan.loops)
    anchor = anchor_of(unit, "torch" if torch else "tensorflow")
    if anchor is None:
        return True
    waiting: list[ast.AST] = [node]
    seen: set[ast.AST] = set()
    while waiting:
        here = waiting.pop()
        function = program.function(here)
        if function is None:
            top = next((each for each in (here, *program.ancestors(here)) if program.parent(each) is unit.tree), anchor)
            if _place(top) <= _place(anchor):
                return False
        elif function not in seen:
            seen.add(function)
            waiting += [call for call in program.calling(function) if program.unit(call) is unit]
    return True


def _place(node: ast.AST) -> tuple[int, int]:
    """Where a statement of a module begins."""
    return (node.lineno, node.col_offset) if isinstance(node, ast.stmt) else (0, 0)


def _prepares(statement: ast.stmt, unit: Unit) -> bool:
    """Whether a statement between imports only sets something: constants, the environment, warnings, paths."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.For | ast.While | ast.With):
        return False
    calls = list(nodes_in(statement, ast.Call))
    return all(path_of(call.func, unit).partition(".")[0] in _PRELUDE for call in calls)


def path_of(node: ast.expr, unit: Unit) -> str:
    """An expression as it is written, with the names of imports as those of what they import."""
    text = ast.unparse(node)
    first, dot, rest = text.partition(".")
    return imported(unit).get(first, first) + dot + rest


@remembered
def imported(unit: Unit) -> dict[str, str]:
    """What the imports at the top of a module bind, by name."""
    found: dict[str, str] = {}
    for node in unit.tree.body:
        if isinstance(node, ast.Import):
            found |= {
                each.asname or each.name.partition(".")[0]: each.name if each.asname else each.name.partition(".")[0]
                for each in node.names
            }
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return found


_ON_TORCH = frozenset({"torchvision", "torchtext", "torchaudio"})


def _imports(statement: ast.Import | ast.ImportFrom, framework: str) -> bool:
    """Whether a statement imports the framework, or what stands on it."""
    modules = [alias.name for alias in statement.names]
    if isinstance(statement, ast.ImportFrom):
        modules = [statement.module or ""] if not statement.level else []
    tops = {each.partition(".")[0] for each in modules}
    return (
        framework in tops
        or (framework == "torch" and bool(tops & _ON_TORCH))
        or (framework == "tensorflow" and any(each == "keras" or each.startswith("tensorflow_") for each in tops))
    )
