"""Waiting for what rank 0 has written: all ranks read it later, and would find nothing, or half of it.

Where training has ended, or is about to go on, statements that all ranks come to in one order are looked through: in
front of the first that reads files of a kind which rank 0 alone has written since, all wait. In an iteration of training
they wait for files by the same name only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from distml.rewrites.horovod.aspects import destinations
from distml.rewrites.horovod.aspects.downloads import wait_in_session
from distml.rewrites.horovod.aspects.during import trains
from distml.rewrites.horovod.aspects.outputs import COMMANDS, on_each_machine, private
from distml.rewrites.horovod.aspects.spelling import tensorflow_at
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.notes import WAIT
from distml.rewrites.horovod.plan import Plan
from distml.source.nodes import SCOPES, walk
from distml.training.around import block_of, own_nodes
from distml.training.callers import run_by
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.syntax import is_literal, runs_as_script, values_given
from distml.training.values import Class, Constant

_LISTS = (
    r"keras\.(\w+\.)*(image|text|audio)_dataset_from_directory|tensorflow\.data\.Dataset\.list_files"
    r"|os\.(listdir|walk|scandir)|glob\.i?glob|keras\.(\w+\.)*ImageDataGenerator\(\)\.flow_from_directory"
    r"|torchvision\.datasets\.(\w+\.)*(ImageFolder|DatasetFolder)|pathlib\.Path\(\)\.(iterdir|r?glob)"
)
"""What reads which files a folder holds."""
_KINDS = (
    (
        re.compile(
            r"torch\.(jit\.)?save|(keras\.(Model|Sequential)|tensorflow\.train\.\w+)\(\)(\.\w+\(\))*\.(save|save_weights)"
        ),
        re.compile(
            rf"{_LISTS}|torch\.(jit\.)?load|tensorflow\.train\.(latest_checkpoint|get_checkpoint_state|import_meta_graph|Saver\(\)\.restore)"
            r"|keras\.models\.load_model|.*\(\)\.load_weights"
        ),
    ),
    (
        re.compile(
            r"matplotlib\.\w+\.(savefig|imsave)|torchvision\.utils\.save_image|cv2\.imwrite|os\.rename"
            r"|imageio(\.v\d)?\.(imwrite|imsave|mimsave|mimwrite)|PIL\.Image\.\w+\(\)\.save|skimage\.io\.imsave"
            r"|keras\.(preprocessing\.image|utils)\.save_img"
        ),
        re.compile(
            rf"{_LISTS}|PIL\.Image\.open|imageio(\.v\d)?\.imread|cv2\.imread|matplotlib\.(image|pyplot)\.imread"
            r"|keras\.(preprocessing\.image|utils)\.load_img|skimage\.io\.imread|IPython\.display\.Image|tensorflow_docs\.vis\.embed\.embed_file"
        ),
    ),
    (
        re.compile(r"\.to_(csv|json|pickle|excel)"),
        re.compile(
            r"pandas\.read_\w+|tensorflow\.data\.(experimental\.make_csv_dataset|experimental\.CsvDataset|TextLineDataset)"
        ),
    ),
    (
        re.compile(r"shutil\.(rmtree|move|copy\w*)|os\.(remove|unlink|rename|replace)"),
        re.compile(_LISTS),
    ),
    (
        re.compile(r"tensorflow\.data\.(Dataset(\.\w+)?\(\)(\.\w+\(\))*|experimental)\.save"),
        re.compile(r"tensorflow\.data\.(Dataset|experimental)\.load"),
    ),
    (re.compile(r"pickle\.dump"), re.compile(rf"pickle\.load|pandas\.read_pickle|{_LISTS}")),
    (re.compile(r"json\.dump"), re.compile(rf"json\.load|pandas\.read_json|{_LISTS}")),
    (re.compile(r"numpy\.save\w*"), re.compile(rf"numpy\.(load(txt)?|genfromtxt)|{_LISTS}")),
    (
        re.compile(
            r"(builtins|pathlib\.Path\(\))\.open\(\)\.write(lines)?|csv\.\w+\(\)\.write\w+|pathlib\.Path\(\)\.write_\w+"
        ),
        re.compile(
            r"(builtins|io|codecs|pathlib\.Path\(\))\.open|pathlib\.Path\(\)\.read_\w+|tensorflow\.data\.TextLineDataset"
        ),
    ),
)
"""What writes files of a kind, and what reads them."""
_HDF5 = len(_KINDS)
"""The kind of files that one call opens to write and to read."""

_CALLBACKS = {"keras.callbacks.ModelCheckpoint()": 0, "keras.callbacks.CSVLogger()": 2}
"""Callbacks that write files, and of which kind."""
_CALLS = 4
"""So many calls are followed back."""
_MODE = 3
"""The most letters of a mode, such as `rb+`, which is no name of a file."""
_WAITS = {"tensorflow": "broadcast_object(None)", "keras": 'allreduce(0, name="written")'}
"""How all ranks wait for each other where no session is needed for it."""
_IN_SESSION = ".broadcast_object(None, session="
"""How they have been made to wait within a session already."""


def wait(plan: Plan) -> None:
    """Have all ranks wait in front of what reads files that rank 0 alone writes."""
    if _start(plan) is not None:
        reach, uniform = _Reach(plan), Uniform(plan.program)
        for block, again in _blocks(plan, uniform):
            _look_through(plan, reach, block, uniform, again)


def _start(plan: Plan) -> str | None:
    """What all wait with: TensorFlow's module where its loops stand beside those of Keras; None for other mixtures."""
    starts = {loop.start for loop in plan.loops}
    return "tensorflow" if starts == {"tensorflow", "keras"} else starts.pop() if len(starts) == 1 else None


class _Reach:
    """What running a part of the program may come to: functions are followed."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.program = plan, plan.program
        self.called: dict[ast.AST, list[ast.AST]] = {}
        for unit in self.program.units.values():
            for node in walk(unit.tree):
                for call in self.program.calling(node) if isinstance(node, ast.FunctionDef) else ():
                    self.called.setdefault(call, []).append(node)
        for call in self.program.calls:
            made = [value.node for value in self.program.of(call.func) if isinstance(value, Class)]
            inits = [each for owner in made for each in owner.body if isinstance(each, ast.FunctionDef)]
            self.called.setdefault(call, []).extend(each for each in inits if each.name == "__init__")

    def of(self, node: ast.AST, done: set[ast.AST] | None = None) -> Iterator[ast.AST]:
        """The nodes that are run with `node`, those of functions called included."""
        done = set() if done is None else done
        found = [] if isinstance(node, SCOPES) else list(own_nodes(node, itself=True))
        yield from found
        for call in found:
            for function in self.called.get(call, ()):
                if function not in done:
                    done.add(function)
                    yield function
                    for statement in getattr(function, "body", ()):
                        yield from self.of(statement, done)


def _blocks(plan: Plan, uniform: Uniform) -> Iterator[tuple[list[ast.stmt], bool]]:
    """Statements in a row that all ranks come to, and whether again and again: of scripts, of functions and loops that train,
    and of functions that all ranks call.
    """
    for unit in plan.units():
        if unit.source.location in plan.worlds:
            for node in walk(unit.tree):
                found = [each for each in _in_a_row(node) if any(trains(statement, plan) for statement in each)]
                # who trains comes to what stands beside it: training is done by all ranks
                again = isinstance(node, ast.For | ast.While)
                yield from (([*_one_by_one(each, uniform)] if again else each, again) for each in found)


def _one_by_one(block: list[ast.stmt], uniform: Uniform) -> Iterator[ast.stmt]:
    """Statements in a row, and for conditions that are the same on all ranks what is under them."""
    for statement in block:
        if isinstance(statement, ast.If) and uniform.holds(statement.test):
            yield from _one_by_one([*statement.body, *statement.orelse], uniform)
        else:
            yield statement


def _in_a_row(node: ast.AST) -> list[list[ast.stmt]]:
    """The statements in a row that a node holds, which run once each time it does."""
    if isinstance(node, ast.Module | ast.FunctionDef | ast.With | ast.For | ast.While):
        return [node.body]
    return [node.body, node.orelse] if isinstance(node, ast.If | ast.Try) else []


def _all_call(function: ast.FunctionDef, plan: Plan, uniform: Uniform, depth: int = _CALLS) -> bool:
    """Whether all ranks call a function, equally often."""
    calls = plan.program.calling(function) if depth else []
    return bool(calls) and all(all_come_to(call, plan, uniform, depth - 1) for call in calls)


def all_come_to(node: ast.AST, plan: Plan, uniform: Uniform, depth: int = _CALLS) -> bool:
    """Whether all ranks come to a node, equally often: under conditions that are the same everywhere, or beside what trains in
    its own function, and not in a worker.
    """
    if _first_only(plan.program.statement(node), plan) or on_each_machine(node, plan):
        return False
    below: ast.AST = node
    for above in plan.program.ancestors(node):
        if isinstance(above, ast.FunctionDef):
            return _all_call(above, plan, uniform, depth)
        if isinstance(above, ast.Lambda | ast.IfExp | ast.comprehension | ast.AsyncFunctionDef | ast.ClassDef):
            return False
        beside = depth == _CALLS and _comes_with_training(below, plan)
        if isinstance(above, ast.If | ast.While | ast.Try) and not beside:
            if isinstance(above, ast.Try) or not uniform.holds(above.test):
                return False
        below = above
    return True


def _comes_with_training(node: ast.AST, plan: Plan) -> bool:
    """Whether a statement stands beside one that trains, which all ranks come to."""
    return isinstance(node, ast.stmt) and any(trains(each, plan) for each in block_of(node, plan.program))


def _look_through(plan: Plan, reach: _Reach, block: list[ast.stmt], uniform: Uniform, again: bool) -> None:
    written, waited = set[_File](), set[ast.stmt]()
    for statement in block * (1 + again):  # an iteration may read what the one before has written
        calls = (
            [] if runs_as_script(statement) else [each for each in reach.of(statement) if isinstance(each, ast.Call)]
        )
        names = _said(own_nodes(statement, itself=True), plan.program) if again else None
        asked = (call for call in calls if not _by_first(call, plan))
        read = {each for call in asked for each in _files(call, plan.program, 1, names)}
        wrote = set[_File]()
        for call in calls:
            files = _files(call, plan.program, 0, names)
            if files and not private(call, plan.program) and _by_first(call, plan):
                wrote |= files
            wrote |= {_File(each, "") for each in _by_callbacks(call, plan.program)} if not again else set()
        if again:
            read -= wrote  # it writes them anew itself
        if written & read and not _first_only(statement, plan):
            place = _first_of_called(statement, block, plan, uniform) or statement
            if statement not in waited and not _put(statement, place, plan):
                continue
            waited.add(statement)
            written = set()
        written |= wrote


def _put(statement: ast.stmt, place: ast.stmt, plan: Plan) -> bool:
    """Have all ranks wait for what a statement reads, in front of a place, where they can."""
    code = waiting(statement, plan)
    if code is None:
        return False
    plan.patch(place).before(place, code, WAIT, first=True)  # what was put in front may read already
    return True


def _first_of_called(statement: ast.stmt, block: list[ast.stmt], plan: Plan, uniform: Uniform) -> ast.stmt | None:
    """The first statement of a function that a block calls again and again, if all ranks call it: there they wait."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    functions = run_by(call, plan.program) if isinstance(call, ast.Call) else []
    if len(functions) != 1 or not isinstance(function := functions[0], ast.FunctionDef):
        return None
    again = [each for each in block if isinstance(each, ast.Expr) and each.value in plan.program.calling(function)]
    if len(again) < 2 or not plan.may_change(function) or not _all_call(function, plan, uniform):
        return None
    return next((each for each in function.body if not _is_text(each)), None)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def waiting(statement: ast.stmt, plan: Plan) -> str | None:
    """How all ranks wait for each other in front of a statement; None where its module has no TensorFlow to do it with."""
    start = _start(plan)
    if start == "session":
        asked = plan.patch(statement).requests.statements
        waits = any(_IN_SESSION in code for each in walk(statement) if each in asked for code in asked[each].before)
        if waits:
            return None
        return wait_in_session(statement, plan) if tensorflow_at(statement, plan.program) is not None else None
    world = plan.world(statement)
    return f"{world.module}.{_WAITS[start]}" if start in _WAITS else world.barrier


class _File(NamedTuple):
    """What is written or read: files of a kind, by one of the names that the program gives them where that is asked for."""

    kind: int
    name: str


def _files(call: ast.Call, program: Program, reads: int, names: set[str] | None) -> set[_File]:
    """The files that a call, which a statement with these `names` comes to, reads or writes."""
    kinds = _kinds(call, program, reads)
    if not kinds or names is None:
        return {_File(each, "") for each in kinds}
    path = None if reads else destinations.written(call, program)
    given = [path] if path is not None else call.args[:1] if reads else values_given(call)
    own = _said((source for each in given for source in program.sources(each)), program)
    return {_File(kind, name) for kind in kinds for name in own & names or own}


def _said(nodes: Iterable[ast.AST], program: Program) -> set[str]:
    """The names that expressions may be."""
    values = {
        value.value
        for each in nodes
        if isinstance(each, ast.expr)
        for value in program.of(each)
        if isinstance(value, Constant)
    }
    return {each for each in values if isinstance(each, str) and len(each) > _MODE}


def _kinds(call: ast.Call, program: Program, reads: int) -> set[int]:
    if destinations.opens_to_write(call, program):
        return set() if reads else {len(_KINDS) - 1}
    if reads and program.matches(call.func, COMMANDS):
        return {*range(_HDF5 + 1)}  # whatever it is told to read
    if "h5py.File" in program.names(call.func):
        mode = argument(call, 1, "mode")
        return {_HDF5} if bool(reads) is (mode is None or is_literal(mode, "r")) else set()
    names = program.names(call.func) | ({f".{call.func.attr}"} if isinstance(call.func, ast.Attribute) else set())
    return {number for number, pair in enumerate(_KINDS) if any(pair[reads].fullmatch(name) for name in names)}


def _by_callbacks(call: ast.Call, program: Program) -> set[int]:
    """The kinds of files that callbacks of the library write where a model of Keras is trained."""
    given = argument(call, -1, "callbacks") if isinstance(call.func, ast.Attribute) else None
    names = {name for each in program.sources(given) for name in program.names(each)} if given is not None else set()
    return {kind for name, kind in _CALLBACKS.items() if name in names}


def _by_first(call: ast.Call, plan: Plan) -> bool:
    """Whether rank 0 alone makes a call."""
    within = plan.program.unit(call).source.location in plan.patches
    return _first_only(plan.program.statement(call), plan) or (
        within and call.func in plan.patch(call).requests.expressions
    )


def _first_only(statement: ast.stmt, plan: Plan) -> bool:
    """Whether a statement is put under rank 0, or one around it."""
    location = plan.program.unit(statement).source.location
    if location not in plan.patches:
        return False
    asked = plan.patches[location].requests.statements
    around = (statement, *(each for each in plan.program.ancestors(statement) if isinstance(each, ast.stmt)))
    return any(each in asked and asked[each].guard is not None for each in around)
