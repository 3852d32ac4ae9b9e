"""Which GPU the program asked for: with one process a GPU, that is the launcher's business."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import turns_around
from distml.training.callsites import called
from distml.training.counting import COUNTS
from distml.training.program import Program
from distml.training.syntax import is_literal, nodes_in
from distml.training.values import Constant

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_GPU = re.compile(r"gpu:?(\d+)", re.IGNORECASE)
_SETTERS = {"tensorflow.config.set_visible_devices", "tensorflow.config.experimental.set_visible_devices"}


def visible(plan: Plan) -> None:
    """Take away what would let all ranks see one and the same GPU. What switches GPUs off stays."""
    for unit in plan.units():
        for node in (each for each in walk(unit.tree) if isinstance(each, ast.stmt) and each not in plan.program.idle):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and _is_visible(node.targets[0]):
                _removed(node, node.value, plan)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                _called(node, node.value, plan)


def _is_visible(target: ast.expr) -> bool:
    """Whether a target is `os.environ["CUDA_VISIBLE_DEVICES"]`."""
    return (
        isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and target.slice.value == _VISIBLE
    )


def _called(node: ast.Expr, call: ast.Call, plan: Plan) -> None:
    names = plan.program.names(call.func)
    first = call.args[0] if call.args else None
    if names & {"os.environ.setdefault", "os.putenv"} and isinstance(first, ast.Constant) and first.value == _VISIBLE:
        _removed(node, call.args[1], plan)
    elif names & _SETTERS and _of_gpus(call):
        _remove(node, "the GPU of each process is chosen by its local rank", plan)


def _of_gpus(call: ast.Call) -> bool:
    """Whether devices are made visible, not hidden: `set_visible_devices([], "GPU")` stays."""
    first = call.args[0] if call.args else None
    kind = (
        call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "device_type"), None)
    )
    none = isinstance(first, ast.List | ast.Tuple) and not first.elts
    return not none and not is_literal(kind, "CPU")


def _removed(node: ast.stmt, value: ast.expr, plan: Plan) -> None:
    text = value.value if isinstance(value, ast.Constant) else None
    if text is not None and str(text).strip() in ("", "-1"):
        return
    _remove(node, "all ranks would use the same GPU; the launcher assigns one to each process", plan)


def _remove(node: ast.stmt, reason: str, plan: Plan) -> None:
    plan.patch(node).remove(node, Note("choice of one GPU taken away", reason, "visible-devices"))


def several(program: Program) -> Iterator[ast.Call]:
    """Where TensorFlow is told to work on one GPU after another: on one that a loop names, or on a second one by its number."""
    named: set[str] = set()
    for call in program.calls_of("tensorflow.device"):
        sources = [each for given in call.args[:1] for each in program.sources(given)]
        texts = {str(each.value) for node in sources for each in program.of(node) if isinstance(each, Constant)}
        numbers = {number for text in texts for number in _GPU.findall(text)}
        looped = counted(sources, program) and not any("cpu" in each.lower() for each in texts)
        if looped or len(named | numbers) > max(1, len(named)):
            yield call
        named |= numbers


def counted(sources: Iterable[ast.AST], program: Program) -> bool:
    """Whether what is computed from these is another GPU in each iteration of a loop."""
    return any(_looped(each, program) for each in sources)


def _looped(node: ast.AST, program: Program) -> bool:
    """Whether a variable is another one in each iteration of a loop around it, or a number is one of several counted ones."""
    if isinstance(node, ast.Call):
        return called(node, program) in COUNTS
    targets = (each.target for each in turns_around(node, program) if isinstance(each, ast.For | ast.comprehension))
    names = {each.id for target in targets for each in nodes_in(target, ast.Name)}
    return isinstance(node, ast.Name) and node.id in names
