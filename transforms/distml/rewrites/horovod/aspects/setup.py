"""Start-up: the import of the back end, its initialization, and one GPU for each process.

It stands behind the imports of the file, not at its very top: Horovod binds to the framework that is imported before it,
and lines such as `os.environ[...] = ...` in front of that import must stay in front.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from distml.rewrites.horovod.aspects.anchors import anchor_of, path_of
from distml.rewrites.horovod.aspects.backends import device_of, utilities_of, way_of
from distml.rewrites.horovod.aspects.ends import end
from distml.rewrites.horovod.aspects.imported import Imported, is_entry, uses
from distml.rewrites.horovod.plan import Note, Plan, Start, World
from distml.training.syntax import closure, nodes_in, only_in_script, runs_as_script
from distml.training.unit import Unit

_ORDER: tuple[Start, ...] = ("torch", "tensorflow", "keras", "session")
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
    start, entry = start_of(plan), is_entry(plan, unit)
    way = way_of(plan, unit, start, _is_alone(plan, unit))
    if not entry and _is_prepared(plan, unit):
        ask = Imported(plan, unit, way, put=lambda code: behind_start(plan, unit, code, _IMPORTED))
        ask.put(ask.plain)
        plan.ends.append(ask.complete)
        plan.imported[unit.source.location] = ask.complete
        return way.apart
    patch, guard = plan.patch(unit.tree), _guard(plan, unit)
    shared = (
        Imported(plan, unit, way, script=True) if guard is not None and unit.source.location in plan.shared else None
    )
    device, added = (
        device_of(start, way.world, patch, unit, plan.program)
        if way.places and (entry or start != "torch")
        else ([], [])
    )
    for each in (alias for line in added for alias in nodes_in(ast.parse(line), ast.alias)):
        plan.spelled.setdefault((unit.source.location, each.name), each.asname or each.name)
    begun = "\n".join([way.start, *device])
    plain = "\n".join([*added, *way.lines, *way.with_start])
    if guard is not None:
        patch.begin(guard, begun, _STARTED)
        behind_start(plan, unit, plain, _IMPORTED)
    else:
        plain = f"{plain}\n\n{begun}"
        behind_start(plan, unit, plain, _STARTED)

    def complete() -> None:
        if shared is not None:
            shared.in_functions()
        codes = [begun, *(code for _, code in patch.requests.codes() if code != plain)]
        used = "\n".join([*added, *way.used(codes), *way.with_start, *utilities_of(plan, unit)])
        patch.amend(plain, way.settled(used if guard is not None else f"{used}\n\n{begun}"))
        patch.amend(begun, way.settled(begun))
        if way.end:
            end(plan, unit, way.end, entry)

    plan.ends.append(complete)
    return way.apart if shared is not None else way.world


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
    guard = _guard(plan, unit)
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
    apart = only_in_script(unit.tree)

    def at_once(node: ast.AST) -> Iterable[ast.AST]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return node.args.defaults
        return () if node in apart else node.body if isinstance(node, ast.ClassDef) else ast.iter_child_nodes(node)

    calls = (each for each in closure(unit.tree.body, at_once) if isinstance(each, ast.Call) and each not in apart)
    return any(path_of(each.func, unit).partition(".")[0] in ("tensorflow", "keras") for each in calls)


def _is_alone(plan: Plan, unit: Unit) -> bool:
    """Whether a file imports no other of the program and is imported by none: only its own start-up ever runs."""
    others = [other for other in plan.program.units.values() if other is not unit]
    return not any(uses(plan, unit, other) or uses(plan, other, unit) for other in others)


def _guard(plan: Plan, unit: Unit) -> ast.If | None:
    """The `__main__` guard that a script of PyTorch begins in: what stands in front of it only defines and sets things.

    Processes that load data import the script as well where they are not forked, and must start nothing.
    """
    *before, last = unit.tree.body
    if start_of(plan) != "torch" or not is_entry(plan, unit) or not runs_as_script(last) or last.orelse:
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
