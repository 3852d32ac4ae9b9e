"""Data and weights that are downloaded on first use: by one process of each machine, while the others wait.

Processes that find nothing all begin to download to the same place, and read what others have half written.
"""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence

from distml.rewrites.horovod.aspects.anchors import started
from distml.rewrites.horovod.aspects.destinations import written
from distml.rewrites.horovod.aspects.during import during_training, passes_over, since_training, trains
from distml.rewrites.horovod.aspects.opened import is_read
from distml.rewrites.horovod.aspects.outputs import COMMANDS, private
from distml.rewrites.horovod.aspects.setup import behind_start, start_of
from distml.rewrites.horovod.aspects.spelling import tensorflow_at
from distml.rewrites.horovod.plan import Note, Plan, Start
from distml.source.nodes import SCOPES, walk
from distml.training.around import block_of
from distml.training.callers import leading_to, run_by
from distml.training.callsites import argument, argument_for, called, told
from distml.training.program import Program
from distml.training.syntax import is_literal, method_name, nodes_in, receiver_of, root_of, values_given
from distml.training.values import Class, Constant

_LOADS = re.compile(
    r"keras\.datasets\.\w+\.load_data|keras\.utils\.(data_utils\.)?get_file|keras\.applications\.(\w+\.)?[A-Z]\w+"
    r"|tensorflow_datasets\.(load|builder\(\)\.download_and_prepare)|torch\.hub\.(load|load_state_dict_from_url|download_url_to_file)|torch\.utils\.model_zoo\.load_url"
    r"|(six\.moves\.)?urllib(\.request)?\.urlretrieve|wget\.download|gdown\.(download|cached_download)|nltk\.download"
    r"|tensorflow\.examples\.tutorials\.mnist\.input_data\.read_data_sets|tensorflow\.contrib\.learn\.(\w+\.)*(read_data_sets|load_dataset|maybe_download)|sklearn\.datasets\.fetch_\w+"
    r"|datasets\.load_dataset|transformers\.\w+\.from_pretrained|torchtext\.datasets\.\w+(\.splits)?|torchtext\.vocab\.(GloVe|FastText|CharNGram|Vectors)"
    r"|kagglehub\.\w*download|huggingface_hub\.(\w+\.)*(hf_hub|snapshot)_download|opendatasets\.download(_kaggle_dataset)?"
    r"|(torchvision\.datasets|torchtext|torchaudio)\.(datasets\.)?utils\.(download_\w+|extract_archive)|torch_geometric\.datasets\.(\w+\.)*[A-Z]\w+|torch_geometric\.data\.(\w+\.)*\w*Dataset|ogb\.\w+\.(\w+\.)*\w*Dataset|dgl\.data\.(\w+\.)*[A-Z]\w+"
)
_TOKENS = re.compile(r"tokenizers\.(\w+\.)*\w+\(\)\.save(_model)?")
_ANEW = re.compile(
    r"(six\.moves\.)?urllib(\.request)?\.urlretrieve|wget\.download|gdown\.(download|cached_download)"
    r"|zipfile\.ZipFile\(\)\.extractall|tarfile\.(open|TarFile)\(\)\.extractall|shutil\.unpack_archive"
)
_SETS = re.compile(r"torchvision\.datasets\.(\?|(\w+\.)*[A-Z]\w+)|torchaudio\.datasets\.\w+")
_MODELS = re.compile(r"torchvision\.models\.(\?|(\w+\.)*[a-z]\w+)")
_LOADERS = re.compile(r"\s*(wget|curl|gsutil|kaggle|gdown)\b")
_ASKS = re.compile(r"(?i)exists?$|is_?file|is_?dir|list_?dir|scandir|glob|getsize|^read(_?(text|bytes|line|lines))?$")
_REMOVES = frozenset("os.remove os.unlink shutil.move os.rename os.replace".split())
_LISTS = frozenset("os.listdir os.scandir os.walk glob.glob glob.iglob".split())
_FETCHES = frozenset(
    "requests.get requests.Session().get os.system subprocess.call subprocess.run subprocess.check_call".split()
)
_NOTE = Note(
    "one process per machine downloads or creates missing files, the others wait",
    "processes that write to the same place at the same time read each other's half-written files",
    "download-once",
)


def once(plan: Plan) -> None:
    """Let local rank 0 run the statements that may download before all others do."""
    start = start_of(plan)
    statements: dict[ast.stmt, None] = {}
    fresh: dict[ast.stmt, None] = {}
    for call in plan.program.calls:
        if plan.program.unit(call).source.location not in plan.editable:
            continue
        fresh |= dict.fromkeys(_made_anew(call, start, plan))
        if start in ("keras", "tensorflow") and (tidied := _tidied(call, plan)) is not None:
            statements[tidied] = None
        places = _waiting_places(call, start, plan)
        anew = places == [plan.program.statement(call)] and _afresh(call, plan)
        (fresh if anew else statements).update(dict.fromkeys(places))
    _run_by_one(fresh, start, plan)
    _run_by_one_first(statements, start, plan)


def _waiting_places(call: ast.Call, start: Start, plan: Plan) -> list[ast.stmt]:
    """The statements at which all ranks can wait for what a call downloads, prepares or unpacks."""
    fetches = downloads(call, plan.program)
    if not (fetches or _prepares(call, plan) or _afresh(call, plan)):
        return []
    places = _places(plan.program.statement(call), plan)
    if start == "session":
        places = [outer for each in places for outer in _where_tensorflow_is(each, plan)]
    if places and all(_can_wait(each, start, plan) for each in places):
        return places
    if fetches and not _prepares(call, plan):
        plan.warn("HVD307", call, "every rank may download this at the same time", "run it once before training")
    return []


def _run_by_one(statements: Iterable[ast.stmt], start: Start, plan: Plan) -> None:
    """Local rank 0 alone runs these; all others wait behind."""
    for first, last in _groups([*statements], plan.program):
        local = _between(first, last, plan.program)
        plan.local.update(local)
        for each in local:
            plan.patch(each).guard(each, f"{plan.world(each).local_rank} == 0", _NOTE)
    for _, last in _groups(_whole_loops(statements, plan.program), plan.program):
        plan.patch(last).after(last, _wait(start, last, plan), _NOTE)


def _whole_loops(statements: Iterable[ast.stmt], program: Program) -> list[ast.stmt]:
    """The statements, with each loop that holds nothing but some of them in their place: who waits, waits once for all of it."""
    found = dict.fromkeys(statements)
    above = {each for each in map(program.parent, found) if isinstance(each, ast.For)}
    whole = [each for each in above if found.keys() >= {*each.body, *each.orelse}]
    rest = [each for each in found if program.parent(each) not in whole]
    return _whole_loops([*rest, *whole], program) if whole else rest


def _run_by_one_first(statements: Collection[ast.stmt], start: Start, plan: Plan) -> None:
    """Local rank 0 runs these, and then all others do."""
    outermost = [each for each in statements if not _runs_in(each, statements, plan.program)]
    for first, last in _groups(_whole_loops(outermost, plan.program), plan.program):
        plan.local.update(_between(first, last, plan.program))
        world, patch = plan.world(first), plan.patch(first)
        wait = textwrap.indent(_wait(start, first, plan), "    ")
        patch.before(first, f"if {world.local_rank} != 0:\n{wait}", _NOTE)
        patch.after(last, f"if {world.local_rank} == 0:\n{wait}", _NOTE)


def _runs_in(statement: ast.stmt, others: Collection[ast.stmt], program: Program) -> bool:
    """Whether a statement only runs in functions that some of the others call, so that it waits with them."""
    calls = leading_to(program.function(statement), program)
    return bool(calls) and all(any(above in others for above in program.ancestors(call)) for call in calls)


def _afresh(call: ast.Call, plan: Plan) -> bool:
    """Whether a statement of its own writes files anew each time, also under those who read them already."""
    return isinstance(plan.program.parent(call), ast.Expr) and plan.program.matches(call.func, _ANEW)


def _made_anew(call: ast.Call, start: Start, plan: Plan) -> list[ast.stmt]:
    """The statements that call a function for the files alone that it writes anew each time: all ranks read them behind."""
    program = plan.program
    path, function = _created(call, program), program.function(call)
    if path is None or not isinstance(function, ast.FunctionDef) or not _is_for_files(function):
        return []
    places = [program.statement(each) for each in program.calling(function)]
    alone = all(isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) for each in places)
    if not alone or any(trains(each, plan) or since_training(each, plan) for each in places):
        return []
    asked = any(_if_missing(each, program) for each in (program.statement(call), *places))
    if asked or _if_unread(program.statement(call), path, program) or private(call, program):
        return []
    return places if is_read(plan, path) and all(_can_wait(each, start, plan) for each in places) else []


def _created(call: ast.Call, program: Program) -> ast.expr | None:
    """The file that a call writes, or opens to write."""
    mode = argument(call, 1, "mode") if "h5py.File" in program.names(call.func) else None
    hdf5 = isinstance(mode, ast.Constant) and mode.value in ("w", "w-", "x", "a")
    return argument(call, 0, "name") if hdf5 else written(call, program)


def _is_for_files(function: ast.FunctionDef) -> bool:
    """Whether a function gives nothing back, and sets nothing but its own variables and what they hold."""
    own = {each.id for each in nodes_in(function, ast.Name) if isinstance(each.ctx, ast.Store)}
    for node in walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal | ast.Yield) or (isinstance(node, ast.Return) and node.value):
            return False
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            base = root_of(node)
            if base is None or base.id not in own:
                return False
    return True


def _can_wait(statement: ast.stmt, start: Start, plan: Plan) -> bool:
    """Whether processes can be made to wait here: not in the graph of an estimator, and sessions only where TensorFlow is."""
    if start != "session":
        return not _in_a_graph(statement, plan) and started(plan, statement)
    alone = _evaluates_at_times(plan.program) and _given_away(statement, plan.program)
    return not alone and tensorflow_at(statement, plan.program) is not None and started(plan, statement)


def _evaluates_at_times(program: Program) -> bool:
    """Whether an estimator evaluates whenever it has written a checkpoint, which each rank does at a time of its own."""
    return any(name.endswith(".train_and_evaluate") for call in program.calls for name in program.names(call.func))


def _given_away(node: ast.AST, program: Program, depth: int = 6) -> bool:
    """Whether a node may run in a function that a library calls, such as an input function, and not only in `main`."""
    if any(isinstance(above, ast.Lambda) for above in program.ancestors(node)):
        return True
    function = program.function(node)
    if function is None:
        return False
    calls = program.calling(function)
    if not calls or not depth:
        return getattr(function, "name", "") not in ("main", "run")
    return any(_given_away(call, program, depth - 1) for call in calls)


def wait_in_session(statement: ast.stmt, plan: Plan) -> str:
    """How a program of sessions waits: in a graph of its own, which changes no name in that of the program, and off the GPUs."""
    tf, hvd = tensorflow_at(statement, plan.program) or "tf", plan.world(statement).module
    location = plan.program.unit(statement).source.location
    session = plan.waiting[location] = plan.waiting.get(location) or plan.patch(statement).free("waiting")
    _import_before(statement, tf.partition(".")[0], plan)
    config = f'{tf}.ConfigProto(device_count={{"GPU": 0}})'
    return (
        f"with {tf}.Graph().as_default(), {tf}.Session(config={config}) as {session}:\n"
        f"    {session}.run({hvd}.broadcast({tf}.constant(0), 0))"
    )


def _import_before(statement: ast.stmt, name: str, plan: Plan) -> None:
    """Have a name in front of a statement of a module that imports it only behind."""
    unit = plan.program.unit(statement)
    imports = [each for each in unit.tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    made = [each for each in imports if any((a.asname or a.name.partition(".")[0]) == name for a in each.names)]
    if made and plan.program.function(statement) is None and made[0].lineno > statement.lineno:
        behind_start(plan, unit, ast.unparse(made[0]), _NOTE, imports=True)


def _prepares(call: ast.Call, plan: Plan) -> bool:
    """Whether a call fetches or writes what is missing, and what all processes of a machine go on to read."""
    program = plan.program
    statement = program.statement(call)
    names = program.names(call.func)
    fetches = not names.isdisjoint(_FETCHES)
    path = argument(call, 0, "path") if any(map(_TOKENS.fullmatch, names)) else _created(call, program)
    # What the call itself says comes first: the other questions go through the program.
    unread = path is not None and _if_unread(statement, path, program)
    if not (fetches or path) or not (unread or _if_missing(statement, program)):
        return False
    if during_training(statement, plan):
        return False
    if fetches:
        return True
    if path is None or private(call, program):
        return False
    parts = (each for each in program.sources(path) if isinstance(each, ast.Name | ast.Attribute))
    there = any(isinstance(each, ast.If) and _uses(each.body, path) for each in _leaving(statement, program))
    return unread or there or is_read(plan, path) or any(is_read(plan, each) for each in parts)


def _tidied(call: ast.Call, plan: Plan) -> ast.stmt | None:
    """The loop of a script that opens files it finds in a folder, and removes some: who comes later finds them gone."""
    program = plan.program
    statement = program.statement(call)
    loops = [each for each in program.ancestors(statement) if isinstance(each, ast.For)]
    if not program.names(call.func) & _REMOVES or program.function(statement) is not None or not loops:
        return None
    listed = {name for each in loops for name in _called(each.iter, program)}
    if not listed & _LISTS or "builtins.open" not in _called(loops[-1], program):
        return None
    return None if _branch(loops[-1], program) is not None or trains(loops[-1], plan) else loops[-1]


def _called(node: ast.AST, program: Program) -> set[str]:
    """The paths of what is called in a node."""
    return {name for each in nodes_in(node, ast.Call) for name in program.names(each.func)}


def _if_missing(statement: ast.stmt, program: Program, depth: int = 3) -> bool:
    """Whether a statement stands under a question for files that is asked right there, or behind one that returns.

    So does what a function does that is only called under such questions.
    """
    calls = leading_to(program.function(statement), program) if depth else []
    if calls and all(_if_missing(program.statement(call), program, depth - 1) for call in calls):
        return True
    if any(_leaving(statement, program)):
        return True
    branch = _branch(statement, program)
    tests = [each.test for each in program.ancestors(statement) if isinstance(each, ast.If)]
    return branch is not None and any(_asks(call, program) for test in tests for call in walk(test))


def _if_unread(statement: ast.stmt, path: ast.expr, program: Program, depth: int = 3) -> bool:
    """Whether a file is written where it could not be read: `try: load(path)`, with the writing in a handler, or behind a `try`
    that returns what it has read.

    So is what a function writes that is only called there.
    """
    around = [statement, *itertools.takewhile(lambda up: not isinstance(up, SCOPES), program.ancestors(statement))]
    tried = [up for low, up in itertools.pairwise(around) if isinstance(low, ast.ExceptHandler)]
    before = _before(statement, program)
    tried += [each for each in before if isinstance(each, ast.Try) and any(nodes_in(each, ast.Return))]
    if any(isinstance(each, ast.Try) and _uses(each.body, path) for each in tried):
        return True
    function = program.function(statement)
    calls = leading_to(function, program) if depth else []
    given = [(program.statement(call), _given(call, function, path, program)) for call in calls]
    return bool(given) and all(_if_unread(place, its, program, depth - 1) for place, its in given)


def _given(call: ast.Call, function: ast.AST | None, path: ast.expr, program: Program) -> ast.expr:
    """The path that a function writes, as the call of it says: an argument, else the same expression."""
    if not isinstance(path, ast.Name) or not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return path
    return argument_for(call, function, path.id, program) or path


def _uses(block: list[ast.stmt], path: ast.expr) -> bool:
    """Whether statements give a path, in the same words, to something that may read the file."""
    text = ast.unparse(path)
    given = (part for each in block for call in nodes_in(each, ast.Call) for part in _parts(call))
    return any(ast.unparse(part) == text for part in given)


def _parts(call: ast.Call) -> list[ast.expr]:
    """What a call is given, and what it is made on."""
    receiver = receiver_of(call)
    return values_given(call) + ([receiver] if receiver is not None else [])


def _asks(node: ast.AST, program: Program, depth: int = 2) -> bool:
    """Whether a call asks what files there are, itself or by a function of the program."""
    if not isinstance(node, ast.Call):
        return False
    inner = (each for function in run_by(node, program) for each in walk(function)) if depth else ()
    return bool(_ASKS.search(called(node, program))) or any(_asks(each, program, depth - 1) for each in inner)


def _between(first: ast.stmt, last: ast.stmt, program: Program) -> list[ast.stmt]:
    block = block_of(first, program)
    return block[block.index(first) : block.index(last) + 1]


def _in_a_graph(statement: ast.stmt, plan: Plan) -> bool:
    """Whether a statement may run while an estimator builds its graph, where waiting would become a part of the graph."""
    estimators = any(loop.start == "session" for loop in plan.loops)
    return estimators and plan.program.function(statement) is not None


def downloads(call: ast.Call, program: Program) -> bool:
    """Whether a call may fetch something over the network."""
    for name in _made_of(call, program):
        if name in COMMANDS and call.args:
            return any(
                isinstance(each, ast.Constant) and isinstance(each.value, str) and _LOADERS.match(each.value)
                for each in walk(call.args[0])
            )
        if _LOADS.fullmatch(name):
            weights = told(call, "weights", program) if name.startswith("keras.applications") else None
            return not weights or any(each != Constant(None) for each in weights)
        if _SETS.fullmatch(name):
            return _is_told(call, "download", program) or any(is_literal(each, True) for each in call.args[3:])
        if _MODELS.fullmatch(name):
            return _is_told(call, "pretrained", program) or _is_told(call, "weights", program)
    return False


def _made_of(call: ast.Call, program: Program) -> set[str]:
    """The paths of what a call runs in libraries: a class of the program makes what the classes below it make."""
    owners = [value for value in program.of(call.func) if isinstance(value, Class)]
    if method_name(call) == "__init__":
        owners += [Class(above) for above in program.ancestors(call) if isinstance(above, ast.ClassDef)][:1]
    below = (base for owner in owners for base in program.library_bases(owner))
    return {*program.names(call.func), *below}


def _is_told(call: ast.Call, name: str, program: Program) -> bool:
    """Whether a call may be given something for a parameter that is neither None nor False."""
    values = told(call, name, program)
    return values is None or any(not isinstance(each, Constant) or each.value for each in values)


def _wait(start: Start, statement: ast.stmt, plan: Plan) -> str:
    """How all ranks wait for each other at a statement."""
    if start == "session":
        return wait_in_session(statement, plan)
    world = plan.world(statement)
    if start == "torch":
        return world.barrier
    return world.module + ('.allreduce(0, name="downloads")' if start == "keras" else ".broadcast_object(None)")


def _places(statement: ast.stmt, plan: Plan, depth: int = 3) -> list[ast.stmt]:
    """The statements that do what `statement` does, where every rank does them: itself, or those that call its function.

    What is done only if a file is missing is done where no rank can leave it out: around the branch, or where the
    function is called. None where that would be around the training too, or nobody can say where it is.
    """
    program = plan.program
    statement = _whole_try(statement, plan)
    function, branch = program.function(statement), _branch(statement, program)
    if branch is not None and function is None:
        return _untrained(_whole_loop(branch, plan), plan)
    behind = not any(isinstance(each, ast.Return) for each in walk(statement))
    if (
        isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Try)
        and behind
        and _surely(statement, program)
    ):
        return _untrained(statement, plan)
    simple = isinstance(statement, ast.Return | ast.Assign | ast.AnnAssign | ast.Expr | ast.With | ast.Try)
    calls = program.calling(function) if function is not None and depth and simple else []
    own = [branch] if branch is not None and _surely(branch, program) and not trains(branch, plan) else []
    found = [] if own and passes_over(function, program) else _places_of(calls, plan, depth)
    if found or own:
        return found or [*own]
    return _places_of(leading_to(function, program), plan, depth) if depth and simple and not calls else []


def _places_of(calls: Sequence[ast.Call], plan: Plan, depth: int) -> list[ast.stmt]:
    """The places of all these calls; none where one of them has none."""
    found = [_places(plan.program.statement(call), plan, depth - 1) for call in calls]
    return [each for places in found for each in places] if all(found) else []


def _untrained(statement: ast.stmt, plan: Plan) -> list[ast.stmt]:
    return [] if trains(statement, plan) else [statement]


def _whole_loop(branch: ast.stmt, plan: Plan) -> ast.stmt:
    """The outermost loop around a branch, unless that trains: an iteration of one rank may be none of another."""
    loops = [each for each in plan.program.ancestors(branch) if isinstance(each, ast.For | ast.While)]
    return loops[-1] if loops and not trains(loops[-1], plan) else branch


def _whole_try(statement: ast.stmt, plan: Plan) -> ast.stmt:
    """The `try` around a statement: who fails in it does not come to what stands behind the statement.

    One that runs the training stays as it is: a rank that fails there ends.
    """
    found: ast.stmt = statement
    for below, above in plan.program.around(statement):
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            break
        if isinstance(above, ast.Try) and above.handlers and below in above.body and not trains(above, plan):
            found = above
    return found


def _where_tensorflow_is(place: ast.stmt, plan: Plan, depth: int = 3) -> list[ast.stmt]:
    """The statement, or if its module has no TensorFlow to wait with those that call its function; itself if nobody has."""
    function = plan.program.function(place)
    if function is None or not depth or tensorflow_at(place, plan.program) is not None:
        return [place]
    found = [_places(plan.program.statement(call), plan) for call in plan.program.calling(function)]
    if not all(found):
        return [place]
    return [outer for places in found for each in places for outer in _where_tensorflow_is(each, plan, depth - 1)] or [
        place
    ]


def _surely(statement: ast.stmt, program: Program, depth: int = 3) -> bool:
    """Whether no rank can leave out a statement because it finds a file that another has just written."""
    function = program.function(statement)
    if _branch(statement, program) is not None or (function is not None and any(_leaving(statement, program))):
        return False
    calls = leading_to(function, program) if depth else []
    return all(_surely(program.statement(call), program, depth - 1) for call in calls)


def _branch(statement: ast.stmt, program: Program) -> ast.If | ast.Try | None:
    """The outermost choice by files around a statement in its function: one that a rank finds may be missing for another."""
    found: ast.If | ast.Try | None = None
    for below, above in program.around(statement):
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
            break
        by_file = isinstance(above, ast.If) and below is not above.test and _about_files(above.test, program)
        if by_file or (isinstance(above, ast.Try) and isinstance(below, ast.ExceptHandler)):
            assert isinstance(above, ast.If | ast.Try)
            found = above
    return found


def _leaving(statement: ast.stmt, program: Program) -> Iterator[ast.If | ast.Try]:
    """What a function may return by before it comes to a statement, because of a file: one that is there, or that it reads."""
    for each in _before(statement, program):
        if isinstance(each, ast.Try) or (isinstance(each, ast.If) and _about_files(each.test, program)):
            if any(isinstance(inner, ast.Return) for inner in walk(each)):
                yield each


def _before(statement: ast.stmt, program: Program) -> list[ast.stmt]:
    """The statements in front of one in its function, in its block and in those around."""
    around = [statement, *itertools.takewhile(lambda up: not isinstance(up, SCOPES), program.ancestors(statement))]
    blocks = [(each, block_of(each, program)) for each in around if isinstance(each, ast.stmt)]
    return [one for each, block in blocks for one in block[: block.index(each)]]


def _about_files(test: ast.expr, program: Program) -> bool:
    """Whether a condition asks what files there are."""
    return any(_asks(source, program) for source in program.sources(test))


def _groups(statements: list[ast.stmt], program: Program) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    """Neighbors that download are one: the first and the last of each run."""
    wanted = set(statements)
    for statement in statements:
        if any(above in wanted for above in program.ancestors(statement)):
            continue
        block = block_of(statement, program)
        at = block.index(statement)
        if at and block[at - 1] in wanted:
            continue
        last = at
        while last + 1 < len(block) and block[last + 1] in wanted:
            last += 1
        yield statement, block[last]
