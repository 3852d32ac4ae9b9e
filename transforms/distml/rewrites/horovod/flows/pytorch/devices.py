"""Which GPU: every process has its own, however the program called the first one."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan

_NUMBERED = re.compile(r"cuda:\d+")
_OWN = Note("the GPU of this process", "all ranks would share one GPU", "own-device")
_PARALLEL = Note(
    "DataParallel on the GPU of this process", "every rank has one GPU, and the data is sharded", "own-device"
)


class Devices:
    """Plans the choice of GPUs."""

    def __init__(self, study: Study, plan: Plan) -> None:
        self.plan, self.program = plan, study.program

    def own(self) -> None:
        """Ask for every GPU that is given by number to be the one of the process."""
        for unit in self.plan.units():
            for node in ast.walk(unit.tree):
                if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp):
                    self._spelled(node)
                elif isinstance(node, ast.Call):
                    self._called(node)

    def _spelled(self, node: ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call) -> None:
        above = self.program.parent(node)
        if isinstance(above, ast.Expr | ast.Compare | ast.JoinedStr | ast.Dict | ast.FormattedValue | ast.BinOp):
            return
        if (isinstance(above, ast.keyword) and above.arg == "help") or not _is_device(node):
            return
        world = self.plan.world(node)
        local = world.local_rank.replace('"', "'")
        self.plan.patch(node).wrap(node, f'f"cuda:{{{local}}}"', _OWN)

    def _called(self, call: ast.Call) -> None:
        names = self.program.names(call.func)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if _is_device(call):
            self._spelled(call)
        elif names & {"torch.nn.DataParallel", "torch.nn.parallel.DataParallel"}:
            world = self.plan.world(call)
            if len(call.args) > 1:
                self.plan.patch(call).wrap(call.args[1], f"[{world.local_rank}]", _PARALLEL)
            else:
                self.plan.patch(call).keyword(call, "device_ids", f"[{world.local_rank}]", _PARALLEL)
        elif "torch.cuda.set_device" in names and call.args:
            self._local(call.args[0])
        elif "torch.cuda.device" in names and call.args:
            world = self.plan.world(call)
            local = f"{world.local_rank} if {world.torch}.cuda.is_available() else {{}}"
            self.plan.patch(call).wrap(call.args[0], local, _OWN)
        elif "torch.device" in names and len(call.args) == 2:
            self._local(call.args[1])
        elif method == "cuda" and len(call.args) == 1 and not _is_device(call.args[0]):
            if not names or any(name.startswith(("torch", "?")) for name in names):
                if not self.program.names(call.args[0]) & {"torch.device()"} and not _flag(call.args[0]):
                    self._local(call.args[0])

    def _local(self, node: ast.expr) -> None:
        if not _is_device(node):
            world = self.plan.world(node)
            self.plan.patch(node).wrap(node, world.local_rank, _OWN)


def _flag(node: ast.expr) -> bool:
    """Whether an argument is no device: `None`, or whether a copy is asynchronous."""
    return isinstance(node, ast.Constant) and not (isinstance(node.value, int) and not isinstance(node.value, bool))


def _is_device(node: ast.AST) -> bool:
    """Whether an expression spells a GPU with its number."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and _NUMBERED.fullmatch(node.value) is not None
    if isinstance(node, ast.JoinedStr):
        first = node.values[0] if node.values else None
        return len(node.values) == 2 and isinstance(first, ast.Constant) and first.value == "cuda:"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        left = node.left
        return isinstance(left, ast.Constant) and left.value in ("cuda:", "cuda:%d", "cuda:%s")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        text = node.func.value
        return isinstance(text, ast.Constant) and text.value in ("cuda:{}", "cuda:{0}", "cuda:{:d}")
    return False
