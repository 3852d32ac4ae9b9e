"""accelerate: what it takes over of a program whose model it wraps, and what its `Accelerator` is told.

Where the model is wrapped (`Parallel` says so), the optimizer is prepared with it, and losses and clipping go through the
`Accelerator`, so that its configuration may choose mixed precision or FSDP. That holds only if all of it does: a program that
scales losses, reads gradients or averages them itself keeps the precision that it is written for. Schedules are not prepared:
those of accelerate step once for each process, which is wrong by epoch, and what counts batches is divided already.
"""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects.anchors import anchor_of
from distml.rewrites.horovod.flows.pytorch.gradients import Gradients
from distml.rewrites.horovod.flows.pytorch.optimizers import Optimizers, Place
from distml.rewrites.horovod.flows.pytorch.placement import Placement
from distml.rewrites.horovod.flows.pytorch.spelling import Spelling
from distml.rewrites.horovod.flows.pytorch.study import LIBRARY, Study
from distml.rewrites.horovod.flows.pytorch.wrapped import Wrapped
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.bindings import last_name
from distml.source.nodes import walk
from distml.training.values import Foreign

_PREPARED = Note(
    "optimizer that accelerate steps", "it knows of scaled losses and of sharded weights", "prepare-optimizer"
)
_BACKWARD = Note("backward pass of accelerate", "it scales the loss where the precision asks for that", "backward")
_CLIPPED = Note("clipping of accelerate", "gradients may be scaled, or sharded among the ranks", "clip-gradients")
_PRECISION = 'mixed_precision="no"'
_TOLD = {
    _PRECISION: Note(
        "the precision the program is written for",
        "it scales losses, reads gradients or averages them itself, or several files share them: a launcher must not change it",
        "own-precision",
    ),
    "cpu=True": Note("processes on the CPU", "nothing in the program is put on another device", "own-device"),
    "device_placement=False": Note(
        "models and batches where the program places them",
        "it chooses devices otherwise than accelerate does, or makes arrays of batches",
        "own-device",
    ),
}
"""What an `Accelerator` may be told, and why."""
_CLIPS = {
    "torch.nn.utils.clip_grad_norm_": {"max_norm", "norm_type"},
    "torch.nn.utils.clip_grad_value_": {"clip_value"},
}
_USED = frozenset("step zero_grad param_groups state_dict load_state_dict state defaults add_param_group".split())
"""What a prepared optimizer has of the one inside."""
_HANDLER = "DistributedDataParallelKwargs"


class Accelerated:
    """Plans what accelerate takes over."""

    def __init__(
        self, study: Study, plan: Plan, spelling: Spelling, optimizers: Optimizers, gradients: Gradients
    ) -> None:
        self.study, self.plan, self.program = study, plan, study.program
        self.spelling, self.optimizers, self.gradients = spelling, optimizers, gradients
        self.own = True
        """Whether the precision stays the program's own."""
        self._wrapping: tuple[ast.stmt, str] | None = None
        if plan.options.backend == "accelerate":
            plan.ends.insert(0, self._settle)

    def prepare(self, place: Place, name: str, extra: str) -> str:
        """The statement that wraps a model of this name, with its optimizer where all steps are sure to be of that one."""
        accelerator = self.plan.world(place.statement).module
        self._wrapping = (place.statement, extra)
        prepares = self._may_prepare()
        together = self._together(place.statement) if prepares else None
        self.own = not (prepares and self._takes_over())
        for maker in self.optimizers.makers if together is None and not self.own else ():
            self.plan.patch(maker).wrap(maker, f"{self.plan.world(maker).module}.prepare({{}})", _PREPARED)
        names = ", ".join([name, *(together or ())])
        return f"{names} = {accelerator}.prepare({names})"

    def _settle(self) -> None:
        """What the `Accelerator` of each file is told, when it is known which files there are."""
        placement = Placement(self.study, self.plan).ask()
        own = self.own or len(self.plan.worlds) > 1
        for unit in self.program.units.values():
            if unit.source.location in self.plan.worlds:
                told = [placement, _PRECISION if own else "", self._handlers(unit.source.location)]
                self.plan.arguments[unit.source.location][:] = filter(None, told)
                for each in told:
                    if each in _TOLD:
                        self.plan.patch(unit.tree).tell(anchor_of(unit, "torch") or unit.tree.body[0], _TOLD[each])

    def _handlers(self, location: str) -> str:
        begins, extra = self._wrapping or (None, "")
        if begins is None or not extra or self.program.unit(begins).source.location != location:
            return ""
        return f"kwargs_handlers=[{self.spelling.utility(begins, _HANDLER)}({extra})]"

    # The optimizer

    def _may_prepare(self) -> bool:
        """Whether optimizers are of PyTorch, in files that may change, and asked for nothing that a prepared one lacks."""
        makers = set(self.optimizers.makers)
        if any(step.scaled for step in self.study.steps) or any(
            self._location(each) not in self.plan.editable for each in makers
        ):
            return False
        for maker in makers:
            own = {v.name for v in self.program.of(maker) if isinstance(v, Foreign) and v.node is maker}
            if not own or not all(LIBRARY.fullmatch(each) for each in own):
                return False
        return not any(
            isinstance(node, ast.Attribute) and node.attr not in _USED and self.study.makers(node.value) & makers
            for node in self.program.nodes(ast.AST)
        )

    def _together(self, begins: ast.stmt) -> list[str] | None:
        """What all optimizers are called where the model is wrapped, if every step reads them from there."""
        named = [self.optimizers.called_at(maker, begins) for maker in self.optimizers.makers]
        if None in named:
            return None
        names = dict.fromkeys(each for each in named if each is not None)
        reads: dict[ast.expr, bool] = {}
        for name in names:
            held = self._read(name, begins)
            if held is None:
                return None
            wrapped = Wrapped(self.study, begins)
            wrapped.follow(held)
            if wrapped.lost:
                return None
            reads |= {read: wrapped.always(read) for read in wrapped.reads}
        return list(names) if all(reads.get(step.optimizer) for step in self.study.steps) else None

    def _read(self, name: str, begins: ast.stmt) -> ast.expr | None:
        """An expression that reads an optimizer under a name that it has where training begins."""
        trees: list[ast.AST] = [self.program.function(begins) or self.program.unit(begins).tree]
        kind: type[ast.Name | ast.Attribute] = ast.Name
        if "." in name:
            trees, kind = [unit.tree for unit in self.program.units.values()], ast.Attribute
        for node in (each for tree in trees for each in walk(tree)):
            if isinstance(node, kind) and last_name(node) == name.rpartition(".")[2] and isinstance(node.ctx, ast.Load):
                if self.study.makers(node):
                    return node
        return None

    # Losses and clipping

    def _takes_over(self) -> bool:
        """Ask for backward passes and clipping by accelerate, if nothing else reads gradients; whether that is so."""
        clips = [call for call in self.program.calls if self._clips(call)]
        given = {node for call in clips for node in walk(call)}
        readers = [each for each in self.gradients.readers() if each not in given]
        changed = [*clips, *self.study.backwards]
        if readers or any(each.args for each in self.study.backwards):
            return False
        if any(self._location(each) not in self.plan.editable for each in changed):
            return False
        for call in clips:
            name = next(iter(self.program.names(call.func) & _CLIPS.keys())).rpartition(".")[2]
            self.plan.patch(call).wrap(call.func, f"{self._accelerator(call)}.{name}", _CLIPPED)
        for call in self.study.backwards:
            self.plan.patch(call).hand(call, f"{self._accelerator(call)}.backward", _BACKWARD)
        return True

    def _clips(self, call: ast.Call) -> bool:
        """Whether a call clips gradients in a way that accelerate has too."""
        names = self.program.names(call.func) & _CLIPS.keys()
        allowed = {"parameters", *(each for name in names for each in _CLIPS[name])}
        return bool(names) and {keyword.arg for keyword in call.keywords} <= allowed

    def _accelerator(self, node: ast.AST) -> str:
        return self.plan.world(node).module

    def _location(self, node: ast.AST) -> str:
        return self.program.unit(node).source.location
