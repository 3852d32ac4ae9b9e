"""Programs of TensorFlow 1 that cannot be made distributed by changing their text, and why."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from distml.rewrites.horovod.aspects import environments
from distml.rewrites.horovod.flows.session_frames import frames
from distml.rewrites.horovod.flows.session_graph import (
    MONITORED,
    SESSION,
    SUPERVISED,
    Graph,
    graph_of,
    unknown_updates,
    updates,
)
from distml.rewrites.horovod.plan import Refuse
from distml.training.around import loops_around, owner_of
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import elements, is_false, is_literal, method_name, nodes_in, values_given
from distml.training.values import Callable, Constant, Foreign

_ASSIGNS = frozenset({"assign", "assign_sub"})
_TWO = 2
_TRAINERS = re.compile(
    r"(.*\.)?slim\.learning\.train|tensorflow\.contrib\.training\.train|tensorflow\.contrib\.gan\.gan_train"
    r"|tensorflow\.contrib\.learn\.(Experiment|learn_runner\.run|\w+\.learn_runner\.run)"
)
_OWN = re.compile(r"tensorflow\.(?!models\.|examples\.)")
_BY_NAME = re.compile(
    r"(tensorflow\.(.*\.)?|.*\.)(get_operation_by_name|get_tensor_by_name|as_graph_element|get_collection)\(\)(\[.*\])?"
)
"""What a graph is asked for by its name."""
_SEEN = frozenset({"builtins", "tensorflow", "keras", "numpy", "?", *sys.stdlib_module_names})
"""The libraries that run no step that they are given, and what is not known at all."""
_CALL_RUN = "call `run` of the session with the operation"


@remembered
def unfollowed(program: Program) -> list[Refuse]:
    """Training by other means than the optimizers of `tf.train`, as far as it is seen to be that."""
    found = [
        Refuse(
            "HVD205",
            call,
            f"cannot determine which optimizer `{ast.unparse(call.func)}` belongs to",
            "pass the files that create it as well, or create it where it is used",
        )
        for call in unknown_updates(program)
    ]
    for call in program.calls:
        names = program.names(call.func)
        if any(name.endswith("ScipyOptimizerInterface") for name in names):
            found.append(
                Refuse(
                    "HVD204",
                    call,
                    "SciPy evaluates the loss several times per step, and the ranks would diverge",
                    "use an optimizer of tf.train, which steps once for each gradient",
                )
            )
        elif any(_TRAINERS.fullmatch(name) for name in names):
            found.append(
                Refuse(
                    "HVD202",
                    call,
                    f"training is left to `{ast.unparse(call.func)}`, which handles its session and several "
                    "processes itself",
                    "run the training operation in a MonitoredTrainingSession",
                )
            )
        elif _by_hand(call, names, program):
            found.append(
                Refuse(
                    "HVD203",
                    call,
                    "weights are updated by hand with the gradient of one rank: the models would diverge",
                    "let an optimizer of tf.train make the update",
                )
            )
    return found or _made_elsewhere(program)


def _made_elsewhere(program: Program) -> list[Refuse]:
    """Loops that run an operation for its effect which nothing in the files makes; and the reverse, with what may run it."""
    if not any(_is_session(call, program) for call in program.calls):
        return []
    made = updates(program)
    if made and graph_of(program).runs:
        return []
    chosen = program.calls_of("importlib.import_module", "builtins.__import__") if made else []
    what = "cannot determine which module this is, and no other runs the steps that the optimizers of the program make"
    found = [Refuse("HVD205", call, what, "import the module by its name") for call in chosen]
    return [*found, *_run_for_effect(program), *(_handed_on(made, program) if made else ())][:1]


def _run_for_effect(program: Program) -> Iterator[Refuse]:
    """Operations that a loop runs and nobody knows, or that the graph is asked for by a name."""
    for call in (each for each in program.calls if method_name(each) == "run" and any(loops_around(each, program))):
        fetched = argument(call, 0, "fetches") or next(iter(call.args), None)
        for part in elements(fetched) if fetched is not None else ():
            texts = (value.value for value in program.of(part) if isinstance(value, Constant))
            named = program.matches(part, _BY_NAME) or any(isinstance(each, str) for each in texts)
            named = named or isinstance(part, ast.Starred)
            prepares = isinstance(part, ast.Attribute) and part.attr == "initializer"
            if not prepares and _for_effect(part, call, program) and (named or _unseen(part, program)):
                what = f"cannot determine which optimizer makes `{ast.unparse(part)}`"
                yield Refuse("HVD205", part, what, "give the file that makes it as well")


def _handed_on(made: list[ast.Call], program: Program) -> Iterator[Refuse]:
    """Where something else is given the way to run operations, or one that trains: what it runs cannot be seen."""
    for node in program.nodes(ast.Attribute):
        above = program.parent(node)
        called = isinstance(above, ast.Call) and above.func is node
        if (node.attr == "run" and not called) or node.attr in ("make_callable", "partial_run"):
            if _is_session(node.value, program):
                yield Refuse("HVD205", node, f"cannot determine what `{ast.unparse(node)}` runs", _CALL_RUN)
    for call in program.calls:
        roots = {name.partition(".")[0] for name in program.names(call.func)}
        given = (value for each in values_given(call) for value in program.of(each) if isinstance(value, Foreign))
        if roots and roots.isdisjoint(_SEEN) and any(value.node in made for value in given):
            yield Refuse(
                "HVD205", call, f"cannot determine what `{ast.unparse(call.func)}` does with the step", _CALL_RUN
            )


def _is_session(node: ast.expr, program: Program) -> bool:
    return any(program.matches(node, kind) for kind in (SESSION, MONITORED, SUPERVISED))


def _for_effect(part: ast.expr, run: ast.Call, program: Program) -> bool:
    """Whether nothing reads what a session gives for one of the fetches, so that it is run for what it does."""
    statement = program.statement(run)
    if isinstance(statement, ast.Expr) and statement.value is run:
        return True
    if not isinstance(statement, ast.Assign) or statement.value is not run:
        return False
    target, fetched = statement.targets[0], argument(run, 0, "fetches")
    if isinstance(target, ast.Tuple | ast.List) and isinstance(fetched, ast.Tuple | ast.List):
        target = dict(zip(fetched.elts, target.elts, strict=False)).get(part, target)
    owner = owner_of(run, program)
    read = {each.id for each in nodes_in(owner, ast.Name) if isinstance(each.ctx, ast.Load)}
    return isinstance(target, ast.Name) and target.id not in read


def _unseen(node: ast.expr, program: Program) -> bool:
    """Whether what an expression is comes from a file that is not given, as far as anything is known of it."""
    return all(
        isinstance(value, Foreign) and value.node is not None and not _OWN.match(value.name)
        for value in program.of(node)
    )


def _by_hand(call: ast.Call, names: frozenset[str], program: Program) -> bool:
    """Whether a call assigns to a variable what is computed from a gradient, of TensorFlow or of the program's own."""
    method = method_name(call)
    if not (method in _ASSIGNS or names & {f"tensorflow.{each}" for each in _ASSIGNS}):
        return False
    held = [each for part in values_given(call) for each in program.sources(part)]
    made_of = (each for step in _steps(call, names, program) for each in program.sources(step))
    if any("tensorflow.placeholder" in program.callee(each) for each in made_of):
        return True
    target = call.args[0] if names & {f"tensorflow.{each}" for each in _ASSIGNS} else getattr(call.func, "value", None)
    made = [value.node for value in program.of(target) if isinstance(value, Foreign)]
    if made and all(isinstance(each, ast.Call) and is_literal(argument(each, -1, "trainable"), False) for each in made):
        return False
    if method == "assign" or "tensorflow.assign" in names:
        held = held if any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Sub) for each in held) else []
    return any("tensorflow.gradients" in program.callee(each) for each in held)


def _steps(call: ast.Call, names: frozenset[str], program: Program) -> list[ast.expr]:
    """What an assignment takes from a trainable variable: `s` of `w.assign(w - s)` or `tf.assign(w, tf.subtract(w, s))`."""
    given = list(call.args)
    if isinstance(call.func, ast.Attribute) and not names & {f"tensorflow.{each}" for each in _ASSIGNS}:
        given.insert(0, call.func.value)
    if len(given) < _TWO or not _trainable(given[0], program):
        return []
    target, value = ast.dump(given[0]), given[1]
    if method_name(call) == "assign_sub":
        return [value]
    found: list[ast.expr] = []
    for node in program.sources(value):
        left, right = None, None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            left, right = node.left, node.right
        elif (
            isinstance(node, ast.Call) and len(node.args) >= _TWO and "tensorflow.subtract" in program.names(node.func)
        ):
            left, right = node.args[:_TWO]
        if left is not None and right is not None and ast.dump(left) == target:
            found.append(right)
    return found


def _trainable(node: ast.expr, program: Program) -> bool:
    made = program.made(node)
    return bool(made) and not any(k.arg == "trainable" and is_false(k.value) for c in made for k in c.keywords)


def refuse(graph: Graph, node: ast.expr) -> None:
    """Raises `Refuse` where an environment makes the steps around `node`, or threads and windows ask for them."""
    environments.refuse(node, graph.program)
    _threads(node, graph.program)


def _threads(node: ast.expr, program: Program) -> None:
    """Steps that several threads take at once, as many and in such an order as it comes; and those that a window asks for."""
    around = [each.owner for each in frames(node, [], program)]
    for call in program.calls_of("matplotlib.animation.FuncAnimation"):
        if any(isinstance(v, Callable) and v.node in around for v in program.of(argument(call, 1, "func"))):
            raise Refuse(
                "HVD211",
                call,
                "each frame of an animation takes a training step, and only one rank shows the animation",
                "take the steps in a loop, and draw inside it",
            )
    for call in program.calls_of("threading.Thread"):
        target = argument(call, 1, "target")
        if any(isinstance(value, Callable) and value.node in around for value in program.of(target)):
            raise Refuse(
                "HVD211",
                call,
                "several threads take training steps concurrently, in a different order on each rank",
                "train in one thread, and start a process for each GPU",
            )
