"""Running statistics of normalization layers: each rank has those of its own batches until they are made alike."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.flows.pytorch.optimizers import Optimizers
from distml.rewrites.horovod.flows.pytorch.spelling import Spelling
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan

KEEPS = re.compile(
    r"torch\.nn\.(modules\.batchnorm\.)?(Lazy)?(BatchNorm\dd|SyncBatchNorm)|torchvision\.models\.(\w+\.)*[a-z]\w+"
    r"|timm\.(models\.)?create_model|torch\.hub\.load|efficientnet_pytorch\..*|segmentation_models_pytorch\..*"
)
_ALIKE = Note(
    "running statistics of rank 0 on all ranks",
    "each rank has the statistics of its own batches; evaluated and saved models must be the same on all ranks",
    "broadcast-buffers",
)


class Statistics:
    """Plans where running statistics are made alike."""

    def __init__(self, study: Study, plan: Plan, spelling: Spelling, optimizers: Optimizers) -> None:
        self.study, self.plan, self.spelling, self.optimizers = study, plan, spelling, optimizers
        self.program = study.program

    def alike(self, loops: set[ast.AST]) -> None:
        """Behind each pass through the data of training, if any layer keeps statistics."""
        if not any(KEEPS.fullmatch(name) for call in self.program.calls for name in self.program.names(call.func)):
            return
        for loop in sorted((each for each in loops if isinstance(each, ast.For)), key=lambda each: each.lineno):
            for model in self._models(loop):
                code = self.spelling.broadcast_buffers(loop, model)
                self.plan.patch(loop).after(loop, code, _ALIKE)

    def _models(self, loop: ast.For) -> list[str]:
        """The models that a loop trains, as they are called there."""
        function = self.program.function(loop)
        scope: ast.AST = function or self.program.unit(loop).tree
        found = [
            ast.unparse(node.func.value)
            for node in ast.walk(scope)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "train"
            if isinstance(node.func.value, ast.Name | ast.Attribute) and not node.args
            if any(name.startswith(("torch.nn.", "torchvision.")) for name in self.program.names(node.func.value))
            if self.program.function(node) is function and self.optimizers.stable(node.func.value)
        ]
        if not found:
            places = [each for each in self.optimizers.places if self.program.function(each.statement) is function]
            found = [model.name for place in places for model in place.models if not model.among]
        return list(dict.fromkeys(found))
