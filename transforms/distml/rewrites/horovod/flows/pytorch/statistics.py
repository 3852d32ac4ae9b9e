"""Running statistics of normalization layers: each rank has those of its own batches until they are made alike."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from distml.rewrites.horovod.flows.pytorch.loaders import Loaders
from distml.rewrites.horovod.flows.pytorch.optimizers import Optimizers
from distml.rewrites.horovod.flows.pytorch.spelling import Spelling
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.syntax import nodes_in

KEEPS = re.compile(
    r"torch\.nn\.(modules\.batchnorm\.)?(Lazy)?(BatchNorm\dd|SyncBatchNorm)|torchvision\.models\.(\w+\.)*[a-z]\w+"
    r"|timm\.(models\.)?create_model|torch\.hub\.load|efficientnet_pytorch\..*|segmentation_models_pytorch\..*"
)
_ALIKE = Note(
    "running statistics of rank 0 on all ranks",
    "each rank has the statistics of its own batches; evaluated and saved models must be the same on all ranks",
    "broadcast-buffers",
)


_MEAN = Note(
    "running statistics of all ranks",
    "each rank has gone through its own part of the data; the statistics are to be of all of it",
    "broadcast-buffers",
)
_ESTIMATES = frozenset({"torch.optim.swa_utils.update_bn"})


class Statistics:
    """Plans where running statistics are made alike."""

    def __init__(self, study: Study, plan: Plan, spelling: Spelling, optimizers: Optimizers) -> None:
        self.study, self.plan, self.spelling, self.optimizers = study, plan, spelling, optimizers
        self.program = study.program

    def alike(self, loops: set[ast.AST], own: bool) -> None:
        """Behind each pass through the data of training, if any layer keeps statistics; `own`: one of the program does."""
        kept = any(KEEPS.fullmatch(name) for call in self.program.calls for name in self.program.names(call.func))
        if not kept and not own:
            return
        for loop in sorted((each for each in loops if isinstance(each, ast.For)), key=lambda each: each.lineno):
            for model in self._models(loop):
                code = self.spelling.broadcast_buffers(loop, model)
                self.plan.patch(loop).after(loop, code, _ALIKE)

    def estimate(self, passes: Iterable[ast.AST], loaders: Loaders) -> None:
        """Behind each pass that trains no weights, but goes through the part of a rank with a model in its training mode."""
        for loop in (each for each in passes if isinstance(each, ast.For)):
            function = self.program.function(loop)
            calls = [each for each in self.program.calls if self.program.function(each) is function]
            modes = {name: [*self._moded(calls, name)] for name in ("train", "eval")}
            used = {ast.unparse(each.func) for each in nodes_in(loop, ast.Call)}
            for model in dict.fromkeys(modes["train"]):
                if model in used and model not in modes["eval"]:
                    self._average(loop, model)
        for call in self.program.calls:
            if self.program.names(call.func) & _ESTIMATES and len(call.args) > 1:
                if loaders.loops.makers(call.args[0]) & loaders.sampled and self.plan.may_change(call):
                    self._average(self.program.statement(call), ast.unparse(call.args[1]))

    def _moded(self, calls: list[ast.Call], mode: str) -> Iterator[str]:
        """The models that calls put into a mode."""
        for call in calls:
            if isinstance(call.func, ast.Attribute) and call.func.attr == mode and not call.args:
                if isinstance(call.func.value, ast.Name | ast.Attribute) and self.plan.may_change(call):
                    yield ast.unparse(call.func.value)

    def _average(self, statement: ast.stmt, model: str) -> None:
        buffer = self.plan.patch(statement).free("buffer")
        code = f"for {buffer} in {model}.buffers():\n    {buffer}.copy_({self.spelling.mean_of(statement, buffer)})"
        self.plan.patch(statement).after(statement, code, _MEAN)

    def _models(self, loop: ast.For) -> list[str]:
        """The models that a loop trains, as they are called there."""
        function = self.program.function(loop)
        scope: ast.AST = function or self.program.unit(loop).tree
        found = [
            ast.unparse(node.func.value)
            for node in nodes_in(scope, ast.Call)
            if isinstance(node.func, ast.Attribute) and node.func.attr == "train"
            if isinstance(node.func.value, ast.Name | ast.Attribute) and not node.args
            if any(name.startswith(("torch.nn.", "torchvision.")) for name in self.program.names(node.func.value))
            if self.program.function(node) is function and self.optimizers.stable(node.func.value)
        ]
        if not found:
            places = [each for each in self.optimizers.places if self.program.function(each.statement) is function]
            found = [model.name for place in places for model in place.models if not model.among]
        return list(dict.fromkeys(found))
