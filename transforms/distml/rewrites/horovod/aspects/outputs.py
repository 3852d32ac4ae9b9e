"""What a program prints and writes, done by rank 0 only.

Every rank would print every line, and write the same file at the same time. Statements that only produce output are put
under rank 0. Where their arguments do more than read, all ranks evaluate them, since one that does not would fall behind
the others, and rank 0 alone does what is done with them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.anchors import started
from distml.rewrites.horovod.aspects.destinations import SCREEN, makes_picture, opens_to_write, screens
from distml.rewrites.horovod.aspects.during import since_training
from distml.rewrites.horovod.aspects.purity import reads_only
from distml.rewrites.horovod.aspects.setup import helper
from distml.rewrites.horovod.aspects.spelling import Spelled
from distml.rewrites.horovod.plan import Note, Plan
from distml.rewrites.patch import Patch
from distml.source.nodes import walk
from distml.spmd.touched import HEARD
from distml.training.around import own_nodes, owner_of
from distml.training.callers import leading_to
from distml.training.callsites import argument, stored
from distml.training.counting import LIBRARIES
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import is_literal, method_name, names_in, nodes_in, values_given
from distml.training.values import Class, Foreign

_PRINTS = re.compile(
    r"builtins\.print|pprint\.(PrettyPrinter\(\)\.)?pprint|tensorflow\.print|tqdm(\.\w+)*\.tqdm\w*(\(\))?\.write"
    r"|sys\.(stdout|stderr)\.(write|flush)|progress\.(bar|spinner|counter)\.\w+\(\)\.(next|goto|finish|update|writeln|write)"
)
_LOGS = re.compile(
    r"((absl\.|tensorflow\.)?logging|loguru\.logger|logzero(\.logger)?|structlog\.get_logger\(\))"
    r"(\.(getLogger|getChild|get_logger|get_absl_logger|Logger|LoggerAdapter|bind|opt|new)\(\))*\.(?P<level>\w+)"
)
_TOLD = frozenset({"trace", "debug", "info", "success", "log"})
_URGENT = frozenset({"warning", "warn", "error", "critical", "fatal"})
"""What a log is told, at which level; what is urgent may be said of what befalls one rank, where it catches that."""
_SUMMARY = re.compile(
    r"keras\.(Model|Sequential)\(\)(\.\w+\(\))*\.summary|torchsummary\.summary|torchinfo\.summary"
    r"|keras\.utils\.(vis_utils\.)?plot_model"
)
_FILES = re.compile(
    r"torch\.(jit\.)?save|numpy\.(save|savez|savez_compressed|savetxt)|json\.dump|pickle\.dump|dill\.dump|yaml\.(safe_)?dump"
    r"|(sklearn\.externals\.)?joblib\.dump|torchvision\.utils\.save_image|matplotlib\.(pyplot|pylab|figure)\.(savefig|show|imsave)"
    r"|matplotlib\.(pyplot|pylab)\.(waitforbuttonpress|ginput|pause|(figure|gcf|subplots)\(\)[\[\]\d]*\.(show|savefig))|cv2\.(imwrite|imshow|waitKey)"
    r"|imageio(\.v2|\.v3)?\.(imwrite|imsave|mimsave|mimwrite)|scipy\.misc\.(imsave|toimage)|skimage\.io\.imsave"
    r"|keras\.(preprocessing\.image|utils)\.(save_img|array_to_img)|keras\.models\.save_model|tensorflow\.saved_model\.save"
    r"|tensorflow\.io\.(write_file|write_graph)|tensorflow\.train\.write_graph|onnx\.save|torch\.onnx\.export|shutil\.(rmtree|copy\w*|move)"
    r"|os\.(remove|unlink|rmdir|removedirs|rename|replace)"
    r"|pathlib\.Path\(\)\.(write_text|write_bytes|unlink|rmdir|rename|replace)"
    r"|(builtins|pathlib\.Path\(\))\.open\(\)\.(write|writelines|flush)"
    r"|tensorflow\.(gfile|io\.gfile)\.(DeleteRecursively|Remove|Rename|Copy|rmtree|remove|rename|copy)"
    r"|omegaconf\.OmegaConf\.save|(toml|tomli_w|cloudpickle)\.dump|scipy\.(io\.(savemat|wavfile\.write|mmwrite)|sparse\.save_npz)|soundfile\.write|torchaudio\.save"
    r"|librosa\.output\.write_wav|nibabel\.save|SimpleITK\.WriteImage|tifffile\.(imwrite|imsave)|networkx\.write_\w+|open3d\.io\.write_\w+"
    r"|plotly\.(offline|io)\.(plot|iplot|write_\w+)|bokeh\.(plotting|io)\.(save|show|output_file|export_\w+)"
    r"|torchvision\.io\.write_\w+|safetensors\.\w+\.(save_file|save_model)"
    r"|wandb\.(watch|save|finish)|tensorboard_logger\.configure|tensorflow\.summary\.(scalar|image|histogram|text|audio)"
)
_WRITERS = re.compile(
    r"(torch\.utils\.tensorboard|tensorboardX?)(\.writer)?\.SummaryWriter\(\)\.(add_\w+|export_\w+|flush|close)"
    r"|tensorflow\.(summary\.File|train\.Summary)Writer\(\)\.(add_\w+|flush|close)|tensorflow\.summary\.create_file_writer\(\)\.(flush|close)"
    r"|tensorflow\.train\.Supervisor\(\)\.(summary_writer\.(add_\w+|flush|close)|summary_computed)"
    r"|csv\.(writer|DictWriter)\(\)\.(writerow|writerows|writeheader)|visdom\.Visdom\(\)\.\w+"
    r"|wandb\.log|wandb\.init\(\)\.log|mlflow\.log_\w+|tensorboard_logger\.log_\w+|tensorboard_logger\.Logger\(\)\.log_\w+"
)
_DRAWN = re.compile(
    r"visdom\.Visdom\(\)\.(line|scatter|images?|text|heatmap|bar|histogram|matplot|video|surf|contour|boxplot|pie|svg|mesh)"
)
"""What draws into a window, and gives its name: those that draw nothing need none."""
COMMANDS = HEARD | {"os.system", "subprocess.call", "subprocess.check_call"}
_WRITING = re.compile(r"\s*(cp|mv|rm|ln|touch|zip|gzip|rsync|convert|ffmpeg|montage)\b")
"""Commands of a shell that write files, and are followed by no other rank."""
_SAVES = frozenset(
    "save_weights savefig to_csv to_json to_pickle to_excel to_parquet to_feather to_hdf to_msgpack imsave save_pretrained"
    " write_text write_bytes write_html write_image write_videofile write_gif tofile".split()
)
_SAVED = re.compile(
    r"(keras\.(Model|Sequential)|tensorflow\.train\.(Checkpoint|CheckpointManager|Saver)|PIL\.Image\.(open|fromarray)"
    r"|matplotlib\.animation\.\w+)\(\)(\.\w+\(\))*\.(save|write|export_meta_graph)"
    r"|tensorflow\.data\.Dataset(\.\w+)?\(\)(\.\w+\(\))*\.save|tensorflow\.data\.experimental\.save"
    r"|(?!\?|builtins)\w[\w.]*\(\)\.save(_model|_vocabulary|_to_file|_to_disk)?"
)
_CHECKPOINTS = re.compile(
    r"torch\.save|pickle\.dump|keras\.models\.save_model|(keras\.(Model|Sequential)|tensorflow\.train\.\w+)\(\)(\.\w+\(\))*"
    r"\.(save|save_weights)"
)
_OWN_FOLDER = re.compile(r"tempfile\.(?!gettemp)")
"""What makes a file or folder that no other process has; the folder of all temporary files is everybody's."""

_CSV = frozenset({"csv.writer", "csv.DictWriter"})
_BAR = Note("progress shown by rank 0", "the bars of several ranks would overwrite each other", "rank-zero-output")
_TRACK = Note("tracked by rank 0", "every rank would begin a run of its own", "rank-zero-output")
_QUIET = [(each.bars, each.option, each.shown, _BAR) for each in LIBRARIES] + [
    (re.compile(pattern), keyword, value, note)
    for pattern, keyword, value, note in (
        (r"wandb\.init", "mode", 'None if {0.first} else "disabled"', _TRACK),
        (r"comet_ml\.(Offline)?Experiment", "disabled", "{0.rank} != 0", _TRACK),
    )
]
"""What shows bars, or begins a run of a service that keeps records, and how it is told to keep quiet."""
_FIRST = '''

def {name}(function):
    """What only rank 0 does; all ranks compute what it is given."""
    return function if {first} else lambda *values, **named: None
'''
_THERE = frozenset({"OSError", "FileExistsError", "Exception"})
_FOLDER = Note("made once", "the rank that comes second would find the folder there", "folder-race")
_COLLECTIVE = re.compile(
    r"get_state_dict|allreduce|all_reduce|allgather|all_gather|broadcast|average|barrier|agreed|mean_of|sum_of"
)


def on_rank_zero(plan: Plan) -> None:
    """Put output statements under rank 0 in every file that knows its rank, and in functions of the other modules."""
    known = set(plan.worlds)
    for unit in plan.units():
        changed = unit.source.location in known
        for node in walk(unit.tree):
            if not isinstance(node, ast.Expr | ast.Call | ast.With) or node in plan.program.idle:
                continue
            if isinstance(node, ast.Call):
                _made_quiet(node, plan)
                drawn = plan.program.matches(node.func, _DRAWN)
                if (
                    drawn
                    and not isinstance(plan.program.parent(node), ast.Expr)
                    and not guarded(plan.program.statement(node), plan)
                ):
                    run_by_one(node, node.func, "log", plan)
            elif isinstance(node, ast.Expr):
                if isinstance(node.value, ast.Call) and (changed or puts_out(node.value, plan)):
                    _statement(node, node.value, plan)
            elif changed or since_training(node, plan):
                _written(node, plan)


def puts_out(call: ast.Call, plan: Plan) -> bool:
    """Whether a script, or a function of a module, in which nothing else changes shows something, or writes what training gives.

    What it writes before that may be data, which all ranks go on to read.
    """
    kind, program = kind_of(call, plan.program), plan.program
    if kind is None or (program.function(call) is None and program.unit(call) not in program.roots):
        return False
    return kind != "file" or checkpoint(call, plan.program) or since_training(call, plan)


def checkpoint(call: ast.Call, program: Program) -> bool:
    """Whether a call writes weights or the like, and not a picture."""
    weights = method_name(call) == "save_weights"
    known = program.matches(call.func, _CHECKPOINTS)
    return (weights or known) and not private(call, program)


def _statement(node: ast.Expr, call: ast.Call, plan: Plan) -> None:
    kind = kind_of(call, plan.program)
    if kind is not None and is_for_one(node, call, kind, plan):
        by_first(node, call, kind, plan)


def is_for_one(node: ast.stmt, call: ast.Call, kind: str, plan: Plan) -> bool:
    """Whether what a call in a statement puts out is left to rank 0: neither rank 0 has it alone already, nor all need it."""
    if _is_operation(call, plan) or guarded(node, plan) or plan.program.function(node) in screens(plan.program):
        return False
    if kind in ("file", "log") and (private(call, plan.program) or _opened_by_all(node, call, plan)):
        return False
    return kind != "file" or not on_each_machine(node, plan)


def by_first(node: ast.Expr, call: ast.Call, kind: str, plan: Plan) -> None:
    """Leave what a statement puts out to rank 0, and what it computes for that to all where it must be."""
    if _free_to_move(node, call, plan):
        guard(plan, node, kind)
    else:
        run_by_one(call, call.func, kind, plan)


def run_by_one(call: ast.Call, function: ast.expr, kind: str, plan: Plan) -> None:
    """Let all ranks evaluate what a call is given, and rank 0 alone run the function, which is called or handed on."""
    if started(plan, call) and not (kind == "file" and _opens_itself(call, plan.program)):
        own = function is call.func and _saved_by_accelerate(call, plan)
        template = f"{plan.world(call).module}.save" if own else f"{helper(plan, call, 'on_rank_zero', _FIRST)}({{}})"
        plan.patch(call).wrap(function, template, Note(*_WHAT[kind], "rank-zero-output"))


def _saved_by_accelerate(call: ast.Call, plan: Plan) -> bool:
    """Whether accelerate has a function for what a call does, which writes on rank 0 what all ranks compute."""
    given = len(call.args) == 2 and not call.keywords and not any(isinstance(each, ast.Starred) for each in call.args)
    return plan.options.backend == "accelerate" and given and "torch.save" in plan.program.names(call.func)


def _opens_itself(call: ast.Call, program: Program) -> bool:
    """Whether the file that a call writes is opened by what it is made of, where rank 0 alone gets the real one."""
    parts = [*call.args, *(keyword.value for keyword in call.keywords), getattr(call.func, "value", None)]
    return any(isinstance(each, ast.Call) and opens_to_write(each, program) for each in parts)


def _is_operation(call: ast.Call, plan: Plan) -> bool:
    """Whether a call adds to a graph of TensorFlow 1, which is to be the same on all ranks."""
    names = plan.program.names(call.func)
    graph = any(loop.start == "session" for loop in plan.loops)
    return graph and any(
        name.startswith(("tensorflow.summary.", "tensorflow.print")) for name in names if "()" not in name
    )


def private(call: ast.Call, program: Program) -> bool:
    """Whether a call writes below a temporary folder, of which each rank has its own."""
    sources = (source for part in values_given(call) for source in program.sources(part))
    return any(any(_OWN_FOLDER.match(name) for name in program.callee(source)) for source in sources)


_LEARNS = frozenset({"fit", "fit_generator", "train_on_batch", "compile"})


def kind_of(call: ast.Call, program: Program, handed: ast.expr | None = None) -> str | None:
    """What sort of output a call makes, or a function that it is `handed`; None where it is not known to be output."""
    function = handed or call.func
    if handed is None and is_pause(call, program):
        return "pause"
    for name in program.names(function):
        if _PRINTS.fullmatch(name) or _logs(call, name, program):
            return "file" if _into_file(call, program) else "output"
        if _SUMMARY.fullmatch(name):
            return "summary"
        if _FILES.fullmatch(name) or _SAVED.fullmatch(name):
            return "file"
        if _WRITERS.fullmatch(name):
            return "log"
        if name in COMMANDS and _WRITING.match(_first_text(call)):
            return "file"
    if handed is None and makes_picture(call, program):
        return "file"
    method = function.attr if isinstance(function, ast.Attribute) else ""
    if method == "write" and is_bar(function, program):
        return "output"
    own = method in _SAVES and bool(program.functions(function))
    return "file" if (method in _SAVES and not own) or _saves_what_learns(call, function, program) else None


def is_pause(call: ast.Call, program: Program) -> bool:
    """Whether a person is asked, and nothing reads the answer: the others wait for rank 0 where they communicate next."""
    return isinstance(program.parent(call), ast.Expr) and "builtins.input" in program.names(call.func)


def _saves_what_learns(call: ast.Call, function: ast.expr, program: Program) -> bool:
    """Whether an object saves itself that nobody sees made, and that is told to learn in the same class or module."""
    if not isinstance(function, ast.Attribute) or function.attr != "save" or not call.args:
        return False
    return _place(function.value, program) in _learning(program)


@remembered
def _learning(program: Program) -> frozenset[tuple[ast.AST, str]]:
    """The objects that nobody sees made and that are told to learn, by where that stands and how they are written there."""
    told = (call.func for call in program.calls if method_name(call) in _LEARNS)
    held = (each.value for each in told if isinstance(each, ast.Attribute))
    return frozenset(_place(each, program) for each in held if not program.of(each))


def _place(node: ast.expr, program: Program) -> tuple[ast.AST, str]:
    around = (above for above in program.ancestors(node) if isinstance(above, ast.ClassDef | ast.Module))
    return next(around), ast.unparse(node)


def _into_file(call: ast.Call, program: Program) -> bool:
    """Whether something is printed into a file, and not on the screen."""
    into = next((keyword.value for keyword in call.keywords if keyword.arg == "file"), None)
    return into is not None and not is_literal(into, None) and not program.matches(into, SCREEN)


def _first_text(call: ast.Call) -> str:
    """The text with which a command begins that a call has the system run."""
    node: ast.AST | None = call.args[0] if call.args else None
    while node is not None and not isinstance(node, ast.Constant):
        inner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        parts = getattr(node, "values", None) or getattr(node, "elts", None) or [getattr(node, "left", inner)]
        node = parts[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def is_bar(method: ast.expr, program: Program) -> bool:
    """Whether a method is one of a progress bar, which stands for what it goes through in all else."""
    bar = method.value if isinstance(method, ast.Attribute) else method
    made = stored(bar, program) if isinstance(bar, ast.Name | ast.Attribute) else [bar]
    calls = [each for each in made if isinstance(each, ast.Call)]
    return any(program.matches(each.func, library.bars) for each in calls for library in LIBRARIES)


def _logs(call: ast.Call, name: str, program: Program) -> bool:
    """Whether a call by this name tells the log something that all ranks would say."""
    found = _LOGS.fullmatch(name)
    level = found["level"] if found else ""
    caught = any(isinstance(each, ast.ExceptHandler) for each in program.ancestors(call))
    return level in _TOLD or (level in _URGENT and not caught)


_WHAT = {
    "output": ("printed by rank 0", "every rank would print the same line"),
    "summary": ("printed by rank 0", "every rank would print the same summary"),
    "file": ("written by rank 0", "all ranks would write the same file at the same time"),
    "log": ("logged by rank 0", "all ranks would log the same values"),
    "pause": ("input read by rank 0", "the other ranks have no terminal"),
}


def guard(plan: Plan, statement: ast.stmt, kind: str = "file") -> None:
    """Put a statement under rank 0; `kind` is output, summary, file, log or pause. What runs before the start-up stays."""
    if not started(plan, statement):
        return
    what, reason = _WHAT[kind]
    plan.patch(statement).guard(statement, plan.world(statement).first, Note(what, reason, "rank-zero-output"))


def _free_to_move(node: ast.stmt, call: ast.Call, plan: Plan) -> bool:
    """Whether all ranks but one can leave a statement out."""
    parts = values_given(call)
    written = [each for each in parts if isinstance(each, ast.Call) and opens_to_write(each, plan.program)][:1]
    calls = (each for part in parts for each in nodes_in(part, ast.Call))
    written += (each for each in calls if checkpoint(each, plan.program))
    if any(not reads_only(part, plan.program, harmless=written) for part in parts):
        return False
    return not _communicates(node, plan.patch(node))


def guarded(node: ast.stmt, plan: Plan) -> bool:
    """Whether a statement, or one around it, is put under rank 0 already, or stands in a function that rank 0 alone runs."""
    guards = plan.patch(node).requests.statements
    around = [each for each in (node, *plan.program.ancestors(node)) if isinstance(each, ast.stmt)]
    return any(each in plan.alone or (each in guards and guards[each].guard is not None) for each in around)


def on_each_machine(node: ast.AST, plan: Plan, seen: frozenset[ast.AST] = frozenset()) -> bool:
    """Whether a node only runs in one process of each machine before all others: files are made on all of them then."""
    if any(each in plan.local for each in (node, *plan.program.ancestors(node))):
        return True
    function = plan.program.function(node)
    calls = leading_to(function, plan.program) or _making(function, plan.program) if function not in seen else []
    return bool(calls) and all(on_each_machine(call, plan, seen | {function}) for call in calls if function)


def _making(method: ast.AST | None, program: Program) -> list[ast.Call]:
    """The calls that make the objects of which a library may run a method, such as `process` of a data set."""
    owner = program.parent(method) if method is not None else None
    if not isinstance(owner, ast.ClassDef):
        return []
    made = ((call, value) for call in program.calls for value in program.of(call.func) if isinstance(value, Class))
    return [call for call, value in made if Class(owner) in program.lineage(value)]


def _communicates(node: ast.stmt, patch: Patch) -> bool:
    """Whether a change inside a statement has the ranks talk to each other."""
    return any(_COLLECTIVE.search(code) for inner in walk(node) for code in _asked(inner, patch))


def _asked(node: ast.AST, patch: Patch) -> Iterator[str]:
    requests = patch.requests
    if isinstance(node, ast.expr) and node in requests.expressions:
        yield from requests.expressions[node]
    if isinstance(node, ast.Call):
        yield from requests.keywords.get(node, {}).values()
        yield from requests.arguments.get(node, ())


def _written(node: ast.With, plan: Plan) -> None:
    """A file that is opened for writing, and the statements that write it."""
    opened = [item.context_expr for item in node.items]
    if not all(isinstance(each, ast.Call) and opens_to_write(each, plan.program) for each in opened):
        return
    inside = [each for each in nodes_in(node, ast.stmt) if each is not node]
    if (
        not guarded(node, plan)
        and not on_each_machine(node, plan)
        and all(
            (isinstance(each, ast.Assign) and _kept_inside(each, node, plan)) or _only_writes(each, plan)
            for each in inside
        )
    ):
        guard(plan, node)


def _opened_by_all(node: ast.stmt, call: ast.Call, plan: Plan) -> bool:
    """Whether every rank opens the file that a statement writes: one that only opens it would empty it."""
    files = _files(call.func.value, plan.program) if isinstance(call.func, ast.Attribute) else []
    if any(isinstance(plan.program.parent(file), ast.Assign) for file in files):
        return any(opens_to_write(file, plan.program) for file in files)
    items = (item for above in plan.program.ancestors(node) if isinstance(above, ast.With) for item in above.items)
    return any(
        isinstance(item.context_expr, ast.Call)
        and opens_to_write(item.context_expr, plan.program)
        and (item.context_expr in files or names_in(item.optional_vars or node) & names_in(call))
        for item in items
    )


def _files(receiver: ast.expr, program: Program) -> list[ast.Call]:
    """The calls that can have made the file that is written, also by a writer of `csv`."""
    made = [value.node for value in program.of(receiver) if isinstance(value, Foreign)]
    calls = [each for each in made if isinstance(each, ast.Call)]
    written = [each.args[0] for each in calls if each.args and program.names(each.func) & _CSV]
    return calls if not written else [file for each in written for file in _files(each, program)]


def _kept_inside(node: ast.Assign, within: ast.With, plan: Plan) -> bool:
    """Whether what a statement computes is used nowhere but in the block around it, or in the same name anew."""
    if not all(isinstance(target, ast.Name) for target in node.targets) or not reads_only(node.value, plan.program):
        return False
    names = {target.id for target in node.targets if isinstance(target, ast.Name)}
    inside = set(walk(within))
    owner = owner_of(within, plan.program)
    looped = any(isinstance(above, ast.For | ast.While) for above in plan.program.ancestors(within))
    uses = [each for each in nodes_in(owner, ast.Name) if each.id in names and each not in inside]
    if looped or not isinstance(owner, ast.FunctionDef):
        return not looped and not uses
    return all(each.lineno < within.lineno for each in uses)


def _only_writes(node: ast.stmt, plan: Plan) -> bool:
    if isinstance(node, ast.For | ast.If):
        return reads_only(node.iter if isinstance(node, ast.For) else node.test, plan.program)
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return isinstance(node, ast.Pass)
    call = node.value
    writes = kind_of(call, plan.program) is not None
    return writes and _free_to_move(node, call, plan)


def _made_quiet(call: ast.Call, plan: Plan) -> None:
    """Progress bars of all ranks but one are switched off; folders may exist already."""
    program = plan.program
    names = program.names(call.func)
    given = {keyword.arg for keyword in call.keywords}
    for pattern, keyword, value, note in _QUIET:
        if any(map(pattern.fullmatch, names)):
            if keyword not in given and None not in given and started(plan, call):
                plan.patch(call).keyword(call, keyword, value.format(plan.world(call), Spelled(plan, call)), note)
            return
    _shared_folder(call, plan)


def _shared_folder(call: ast.Call, plan: Plan) -> None:
    """A folder that all ranks make may be there already."""
    around = plan.program.around(call)
    tried = [above for below, above in around if isinstance(above, ast.Try) and below in above.body]
    if any(map(_passes_over, tried)):
        return
    names = plan.program.names(call.func)
    if names & {"os.makedirs", "os.mkdir"} and any(_does_otherwise(each, plan.program) for each in tried):
        what = (
            "a folder that is there already makes this program go on in another way, and every process asks for itself"
        )
        plan.warn("HVD307", call, what, "make the folder, and what belongs into it, in a program of its own")
        return
    may_exist = argument(call, 2, "exist_ok")
    if "os.mkdir" in names and len(call.args) == 1 and not call.keywords and isinstance(call.func, ast.Attribute):
        plan.patch(call).wrap(call.func, f"{ast.unparse(call.func.value)}.makedirs", _FOLDER)
    elif "os.makedirs" not in names and ("os.mkdir" in names or method_name(call) != "mkdir" or call.args):
        return
    if may_exist is not None and not is_literal(may_exist, True):
        plan.patch(call).wrap(may_exist, "True", _FOLDER)
    elif may_exist is None and None not in {keyword.arg for keyword in call.keywords}:
        plan.patch(call).keyword(call, "exist_ok", "True", _FOLDER)


def _passes_over(node: ast.Try) -> bool:
    """Whether a statement goes on where a folder that it makes is there already."""
    caught = [each for each in node.handlers if each.type is None or ast.unparse(each.type).strip("()") in _THERE]
    return any(all(isinstance(each, ast.Pass | ast.Continue) for each in handler.body) for handler in caught)


def _does_otherwise(node: ast.Try, program: Program) -> bool:
    """Whether a statement does something else where it fails than to tell of it, or to fail."""
    inside = (
        each for handler in node.handlers for statement in handler.body for each in own_nodes(statement, itself=True)
    )
    return any(
        not isinstance(each, ast.Pass | ast.Continue | ast.Raise | ast.If)
        and not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) and kind_of(each.value, program))
        for each in inside
        if isinstance(each, ast.stmt)
    )
