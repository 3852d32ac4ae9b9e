"""Which GPU the program asked for: with one process a GPU, that is the launcher's business."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects.idle import runs
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.syntax import is_literal

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_SETTERS = {"tensorflow.config.set_visible_devices", "tensorflow.config.experimental.set_visible_devices"}


def visible(plan: Plan) -> None:
    """Take away what would let all ranks see one and the same GPU. What switches GPUs off stays."""
    for unit in plan.units():
        for node in (each for each in walk(unit.tree) if isinstance(each, ast.stmt) and runs(each, plan.program)):
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
