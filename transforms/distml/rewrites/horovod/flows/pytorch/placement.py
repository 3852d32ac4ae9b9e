"""Where accelerate puts models and batches: on its own device if the program asks for that one, else wherever the program says.

Its device replaces the usual choice, a GPU where there is one. A program that has others, by an option or without asking,
places everything itself, as does one that makes arrays of batches; one that speaks of no device stays on the CPU.
"""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.callsites import called
from distml.training.syntax import method_name
from distml.training.values import Foreign

_DEVICE = Note(
    "the device of this process", "accelerate chooses it, by its launcher and its configuration", "own-device"
)
_SPELLED = re.compile(r"(cuda|cpu|gpu|mps|xpu)(:\d+)?")
_GPU = re.compile(r"cuda(:0)?")
_OF_GPU = re.compile(r"torch\.cuda\.\w*Tensor")
"""The classes of tensors on a GPU, which older programs convert to."""
_AVAILABLE = "torch.cuda.is_available()"
_SINGLE = "torch.device"
_FREE = ("torch.amp.", "torch.autocast", "torch.cuda.amp.", "torch.load", "torch.Generator", "torch.hub.")
"""The beginnings of what is told a kind of device, and places no model and no batch of training."""
_TYPES = re.compile(r"torch\.(b?float|double|half|u?int|long|short|bool|complex)\d*")


class Placement:
    """Plans the devices of one program."""

    def __init__(self, study: Study, plan: Plan) -> None:
        self.study, self.plan, self.program = study, plan, study.program
        self.nodes = [*self.program.nodes(ast.AST)]

    def ask(self) -> str:
        """Ask for the device of accelerate where it is the program's, and say what an `Accelerator` is to be told."""
        chosen = [node for node in self.nodes if isinstance(node, ast.IfExp) and self._is_usual(node)]
        within = {each for node in chosen for each in walk(node)}
        others = [node for node in self.nodes if node not in within and self._places(node)]
        if not chosen and not others and not any(self._moves(node) for node in self.nodes):
            return "cpu=True"
        editable = all(self.plan.may_change(node) for node in chosen)
        if others or not chosen or not editable or any(self._to_array(node) for node in self.nodes):
            return "device_placement=False"
        for node in chosen:
            self._replace(node)
        return ""

    def _replace(self, node: ast.IfExp) -> None:
        above = self.program.parent(node)
        device = f"{self.plan.world(node).module}.device"
        if isinstance(above, ast.Call) and _SINGLE in self.program.callee(above) and above.args == [node]:
            self.plan.patch(node).wrap(above, device, _DEVICE)
        else:
            self.plan.patch(node).wrap(node, device if _made(node.body) else f"{device}.type", _DEVICE)

    def _is_usual(self, node: ast.IfExp) -> bool:
        """Whether the first GPU is chosen where there is one, and the CPU elsewhere."""
        values = self.program.of(node.test)
        asks = bool(values) and all(isinstance(each, Foreign) and each.name == _AVAILABLE for each in values)
        gpu, cpu = self._kind(node.body), self._kind(node.orelse)
        return asks and _GPU.fullmatch(gpu) is not None and cpu == "cpu" and _made(node.body) == _made(node.orelse)

    def _kind(self, node: ast.expr) -> str:
        """The text that spells a device, alone or in `torch.device(...)`."""
        if isinstance(node, ast.Call) and _SINGLE in self.program.callee(node) and len(node.args) == 1:
            node = node.args[0]
        return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""

    def _places(self, node: ast.AST) -> bool:
        """Whether something chooses a device otherwise."""
        if isinstance(node, ast.Call) and called(node, self.program) == "cuda" and isinstance(node.func, ast.Attribute):
            return True
        if isinstance(node, ast.Attribute) and self.program.matches(node, _OF_GPU):
            return True
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or not _SPELLED.fullmatch(node.value):
            return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("cuda:")
        above = self.program.parent(node)
        if isinstance(above, ast.keyword):
            if above.arg == "map_location":
                return False
            above = self.program.parent(above)
        if isinstance(above, ast.Call):
            freed = any(name.startswith(_FREE) for name in self.program.names(above.func))
            return not freed and not (called(above, self.program) == "to" and node.value == "cpu")
        return True

    def _moves(self, node: ast.AST) -> bool:
        """Whether something is put on a device, whichever that is."""
        if isinstance(node, ast.keyword):
            return node.arg == "device"
        if not isinstance(node, ast.Call) or method_name(node) != "to":
            return False
        return any(not all(map(_TYPES.fullmatch, self.program.names(each) or {""})) for each in node.args)

    def _to_array(self, node: ast.AST) -> bool:
        """Whether a tensor becomes an array where it is, which a tensor on a GPU cannot."""
        if not isinstance(node, ast.Call) or method_name(node) != "numpy":
            return False
        return not any(isinstance(each, ast.Attribute) and each.attr == "cpu" for each in walk(node.func))


def _made(node: ast.expr) -> bool:
    """Whether an expression makes a device, and is no text."""
    return isinstance(node, ast.Call)
