"""Which calls of a TensorFlow 1 program train: the operations that optimizers make, and the `run` that reaches them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from distml.rewrites.horovod.flows.session_frames import runs_session
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.remembered import Keeper, remembered
from distml.training.values import Box, Class, Foreign

OPTIMIZER = re.compile(r"tensorflow\.(train|contrib(\.\w+)+)\.\w*Optimizer\(\)")
SESSION = re.compile(r"tensorflow\.(Session|InteractiveSession)\(\)")
MONITORED = re.compile(r"tensorflow\.train\.(MonitoredTrainingSession|MonitoredSession|SingularMonitoredSession)\(\)")
SUPERVISED = re.compile(
    r"tensorflow\.train\.Supervisor\(\)\.(managed_session|prepare_or_wait_for_session|PrepareSession|wait_for_session)\(\)"
)
_LOSS = re.compile(r"tensorflow\.(contrib\.)?(slim\.)?losses\.")
_LOSSES = frozenset(
    f"tensorflow.{where}losses.get_{what}"
    for where in ("", "contrib.", "contrib.slim.")
    for what in ("total_loss", "losses")
)
"""What adds up the losses that were made before."""

_OTHERS = frozenset("tensorflow keras torch scipy sklearn skopt jax optax lmfit cvxpy iminuit nevergrad".split())
COUNTERS = frozenset(f"tensorflow.train.{name}_global_step" for name in ("get", "create", "get_or_create"))
"""What gives the variable that counts the steps of a graph."""
_UPDATES = frozenset({"minimize", "apply_gradients"})


@dataclass(frozen=True, eq=False)
class Run:
    """A call that takes a training step: `session.run(fetches, feeds)`, or `step.run(feeds)` in the default session."""

    call: ast.Call
    session: ast.expr | None
    fetches: ast.expr
    feeds: ast.expr | None


def updates(program: Program) -> list[ast.Call]:
    """The calls of `minimize` and `apply_gradients` on optimizers of TensorFlow 1, and of what makes steps in `tf.contrib`."""
    found = {call for call, receiver in _update_calls(program) if is_optimizer(receiver, program)}
    return [call for call in program.calls if call in found or optimizes(call, program) or creates(call, program)]


def optimizes(call: ast.Call, program: Program) -> bool:
    """Whether a call is `optimize_loss` of `tf.contrib`, which makes the optimizer and the step."""
    return any(
        name.startswith("tensorflow.contrib.") and name.endswith(".optimize_loss") for name in program.names(call.func)
    )


def creates(call: ast.Call, program: Program) -> bool:
    """Whether a call is `create_train_op` of `tf.contrib`, which makes the step of an optimizer that it is given."""
    return any(
        name.startswith("tensorflow.contrib.") and name.endswith(".create_train_op")
        for name in program.names(call.func)
    )


def unknown_updates(program: Program) -> list[ast.Call]:
    """The calls of `minimize` and `apply_gradients` on something nobody knows, in a program that makes sessions."""
    if not any(SESSION.fullmatch(name + "()") for call in program.calls for name in program.names(call.func)):
        return []
    return [call for call, receiver in _update_calls(program) if _unknown(receiver, program)]


def _update_calls(program: Program) -> Iterator[tuple[ast.Call, ast.expr]]:
    for call in program.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr in _UPDATES:
            yield call, call.func.value


def is_optimizer(node: ast.expr, program: Program) -> bool:
    """Whether an expression can be an optimizer of TensorFlow 1."""
    if program.matches(node, OPTIMIZER):
        return True
    return any(isinstance(value, Foreign) and _chosen(value.node, program) for value in program.of(node))


def makes_optimizer(node: ast.AST, program: Program) -> bool:
    """Whether a call makes an optimizer: of the library, or of a class of the program that is derived from one."""
    if not isinstance(node, ast.Call):
        return False
    if any(isinstance(value, Class) for value in program.of(node.func)):
        return program.matches(node, OPTIMIZER)
    return any(OPTIMIZER.fullmatch(name + "()") for name in program.names(node.func)) or _chosen(node, program)


def _chosen(node: ast.AST | None, program: Program) -> bool:
    """Whether a call makes an optimizer of a class that is chosen by name: `getattr(tf.train, name)(rate)`."""
    if not isinstance(node, ast.Call) or "builtins.getattr()" not in program.names(node.func):
        return False
    made = [value.node for value in program.of(node.func) if isinstance(value, Foreign)]
    modules = [each.args[0] for each in made if isinstance(each, ast.Call) and each.args]
    return any("tensorflow.train" in program.names(each) for each in modules)


def _unknown(node: ast.expr, program: Program) -> bool:
    return all(
        isinstance(each, Foreign) and (each.name.startswith("?") or each.name.partition(".")[0] not in _OTHERS)
        for each in program.of(node)
    )


class Graph(Keeper):
    """The operations of a program that train."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program
        self.updates = updates(program)
        self._trains: dict[ast.AST, bool] = {}

    def sources(self, node: ast.AST) -> set[ast.AST]:
        """What an operation is computed from in the graph: what a session gives is a number there."""
        found: set[ast.AST] = set()
        waiting: list[ast.AST] = [node]
        while waiting:
            start = waiting.pop()
            for each in self.program.sources(
                start, lambda e: (e is not node and runs_session(e)) or bool(self._picked(e))
            ):
                if each not in found:
                    found.add(each)
                    waiting += [part for part in (*self._picked(each), *self._collected(each)) if part not in found]
        return found

    def _collected(self, node: ast.AST) -> list[ast.AST]:
        """What a collection of the graph was given: by the name that a call asks for it, or by each loss."""
        if not isinstance(node, ast.Call):
            return []
        names = self.program.names(node.func)
        if names & _LOSSES:
            return list(self._losses)
        key = argument(node, 0, "key") if "tensorflow.get_collection" in names else None
        return [] if key is None else self._collections.get(ast.unparse(key), [])

    @cached_property
    def _collections(self) -> dict[str, list[ast.AST]]:
        found: dict[str, list[ast.AST]] = {}
        for call in self.program.calls_of("tensorflow.add_to_collection"):
            key, value = argument(call, 0, "name"), argument(call, 1, "value")
            if key is not None and value is not None:
                found.setdefault(ast.unparse(key), []).append(value)
        return found

    @cached_property
    def _losses(self) -> list[ast.AST]:
        named = ((call, self.program.names(call.func)) for call in self.program.calls)
        return [call for call, names in named if any(_LOSS.match(each) for each in names) and not names & _LOSSES]

    def _picked(self, node: ast.AST) -> list[ast.AST]:
        """What an entry of a dictionary that is read by its name was made by: the other entries have no part in it."""
        if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)):
            return []
        if not isinstance(node.slice.value, str) or not isinstance(node.ctx, ast.Load):
            return []
        if not any(isinstance(each, Box) for each in self.program.of(node.value)):
            return []
        values = (each for each in self.program.of(node) if isinstance(each, Foreign | Box))
        return [
            each.node
            for each in values
            if each.node is not None and not (isinstance(each, Foreign) and each.name.startswith("?"))
        ]

    def trains(self, node: ast.AST) -> bool:
        """Whether computing `node` takes a training step."""
        if node not in self._trains:
            self._trains[node] = False
            found = self.sources(node)
            wanted = set(self.updates)
            self._trains[node] = not found.isdisjoint(wanted) or any(
                self._depends(each) for each in found if isinstance(each, ast.Call)
            )
        return self._trains[node]

    def _depends(self, call: ast.Call) -> bool:
        """Whether an operation is made under control of one that trains."""
        for above in self.program.ancestors(call):
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return False
            for item in above.items if isinstance(above, ast.With) else ():
                inside = item.context_expr
                if isinstance(inside, ast.Call) and _called(inside, "control_dependencies") and inside.args:
                    if self.trains(inside.args[0]):
                        return True
        return False

    @cached_property
    def runs(self) -> list[Run]:
        """The calls that take training steps, in the order of the files."""
        if not self.updates:
            return []
        return [run for call in self.program.calls if (run := self._run(call)) is not None]

    def _run(self, call: ast.Call) -> Run | None:
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "run":
            return None
        first = argument(call, 0, "fetches")
        if first is not None and self.trains(first):
            return Run(call, call.func.value, first, argument(call, 1, "feed_dict"))
        if self._is_operation(call.func.value) and self.trains(call.func.value):
            session = argument(call, 1, "session")
            return Run(call, session, call.func.value, argument(call, 0, "feed_dict"))
        return None

    def _is_operation(self, node: ast.expr) -> bool:
        names = self.program.names(node)
        return not any(SESSION.fullmatch(n) or MONITORED.fullmatch(n) or SUPERVISED.fullmatch(n) for n in names)


@remembered
def graph_of(program: Program) -> Graph:
    """The operations of a program."""
    return Graph(program)


def _called(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Attribute | ast.Name) and ast.unparse(call.func).rpartition(".")[2] == name


def monitored(node: ast.expr | None, program: Program) -> bool:
    """Whether a session keeps its own checkpoints and hooks."""
    names = program.names(node) if node is not None else ()
    return any(MONITORED.fullmatch(name) or SUPERVISED.fullmatch(name) for name in names)


def counted_up(made: ast.Call, program: Program) -> bool:
    """Whether a variable counts steps: `minimize(loss, global_step=variable)`, or `tf.assign_add(variable, 1)`."""
    given = [
        keyword.value for call in program.calls for keyword in call.keywords if keyword.arg in ("global_step", "step")
    ]
    for call in program.calls:
        if "tensorflow.assign_add" in program.names(call.func):
            given += call.args[:1]
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "assign_add":
            given.append(call.func.value)
    return any(isinstance(v, Foreign) and v.node is made for each in given for v in program.of(each))


def gives_count(call: ast.Call, program: Program) -> bool:
    """Whether a session is only asked for a variable that counts steps."""
    asked = argument(call, 0, "fetches") if runs_session(call) else None
    return asked is not None and is_counter(asked, program)


def is_counter(node: ast.expr, program: Program) -> bool:
    """Whether an expression is a variable that counts steps."""
    values = [each for each in program.of(node) if isinstance(each, Foreign)]
    return bool(values) and all(
        each.name.removesuffix("()") in COUNTERS or (isinstance(each.node, ast.Call) and counted_up(each.node, program))
        for each in values
    )
