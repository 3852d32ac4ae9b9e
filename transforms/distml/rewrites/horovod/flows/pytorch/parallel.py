"""torch.distributed and accelerate: the model in `DistributedDataParallel` where it is sure that all of training goes through it.

The wrapped model takes the place of the model in front of the statement that begins training, when the model is on its
device and has the weights of a checkpoint. It averages gradients, while they are computed, of the latest call of `forward`;
it has the attributes of the model under `.module`. So it serves where each backward pass has a forward pass of its own, all
of them go through the wrapped model, and no method but `forward` computes losses (`Wrapped` follows it, `passes` counts).
Elsewhere the gradients are averaged in front of the step.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.rewrites.horovod.flows.pytorch import passes
from distml.rewrites.horovod.flows.pytorch.accelerated import Accelerated
from distml.rewrites.horovod.flows.pytorch.devices import DATA_PARALLEL
from distml.rewrites.horovod.flows.pytorch.optimizers import Place
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.flows.pytorch.wrapped import BEFORE, Wrapped
from distml.rewrites.horovod.plan import Holder, Note, Plan
from distml.training.callsites import called
from distml.training.syntax import nodes_in
from distml.training.values import Class, Foreign, Instance, Values

_SAME = frozenset("train eval parameters zero_grad training".split())
_INNER = frozenset(
    "torch.save torch.onnx.export copy.deepcopy torch.jit.script torch.jit.trace builtins.print builtins.type "
    "builtins.isinstance builtins.getattr builtins.hasattr".split()
)
_DESCRIBES = frozenset("add_graph summary watch".split())
_MOVES = frozenset("to cuda cpu half float double bfloat16 type requires_grad_ share_memory compile".split())
_RULE = "distributed-data-parallel"
_MEAN = "ranks see different data; their average gradient is that of the global batch"
_WRAPPED = Note("model that averages gradients over all ranks and starts from the weights of rank 0", _MEAN, _RULE)
_PARTLY = Note(
    _WRAPPED.what,
    f"{_MEAN}; some layers may take no part in a forward pass, and nothing waits for their gradients",
    _RULE,
)
_SEVERAL = Note(
    _WRAPPED.what,
    f"{_MEAN}; buffers are not broadcast within the several forward passes of one backward pass, which need them unchanged",
    _RULE,
)
_INSIDE = Note("the model inside the distributed one", "the wrapped model has these under `.module`", _RULE)
_COLLECTED = Note("weights that accelerate collects", "its configuration may shard them among the ranks (FSDP)", _RULE)
_INSIDES = {"ddp": "{0}.module", "accelerate": "{1}.unwrap_model({0})"}
_LAST = Note(
    "gradients averaged in the backward pass before the step",
    "those of the others are added up on each rank, and nothing is sent (as in `no_sync`)",
    "no-sync",
)


class Parallel:
    """Plans the wrapping of one model. `several`: whether one backward pass goes through several forward passes."""

    def __init__(self, study: Study, plan: Plan, accelerated: Accelerated) -> None:
        self.study, self.plan, self.program, self.accelerated = study, plan, study.program, accelerated
        self.several = False

    def wrap(self, place: Place) -> bool:
        """Ask for the wrapping of the only model of `place`; False where it would not be sure to be right."""
        model = self._model(place)
        if model is None or self._unwrapped_too_far():
            return False
        wrapped = Wrapped(self.study, place.statement)
        wrapped.follow(model)
        uses = {read: self._use(read) for read in wrapped.reads}
        if wrapped.lost or any(use is None or (use and not wrapped.always(read)) for read, use in uses.items()):
            return False
        forwards = list(self._forwards(model))
        turns = passes.Turns(self.study, forwards)
        if any(turns.hold(call) and call.func not in wrapped.reads for call in forwards):
            return False
        trained = [call for call in forwards if call.func in wrapped.reads and turns.hold(call)]
        if not passes.one_backward_each(self.study, trained) or self._thawed(wrapped):
            return False
        several, partly = turns.several(trained), passes.partly(self.program)
        if several and partly:
            return False
        self.several = several and passes.keeps_buffers(self.program)
        owners = self.program.of(model.value) if isinstance(model, ast.Attribute) else frozenset()
        self._ask(place, partly, owners)
        self._add_up(trained)
        for read in (read for read, inside in uses.items() if inside):
            self._unwrap(read)
        return True

    def _unwrap(self, read: ast.expr) -> None:
        """Ask for the model inside where it is read, or for its weights, which accelerate may have to collect."""
        module, backend = self.plan.world(read).module, self.plan.options.backend
        call = self.program.parent(self.program.parent(read) or read)
        if (
            isinstance(call, ast.Call)
            and backend == "accelerate"
            and ast.unparse(call) == f"{ast.unparse(read)}.state_dict()"
        ):
            self.plan.patch(call).wrap(call, f"{module}.get_state_dict({ast.unparse(read)})", _COLLECTED)
        else:
            self.plan.patch(read).wrap(read, _INSIDES[backend].format("{}", module), _INSIDE)

    def _unwrapped_too_far(self) -> bool:
        """Whether accelerate, which takes off every wrapper, would take off one of the program with its own."""
        return self.plan.options.backend == "accelerate" and any(self.program.calls_of(*DATA_PARALLEL))

    def _ask(self, place: Place, partly: bool, owners: Values) -> None:
        begins, name = place.statement, place.models[0].name
        extra = "find_unused_parameters=True" if partly else "broadcast_buffers=False" if self.several else ""
        if self.plan.options.backend == "accelerate":
            code = self.accelerated.prepare(place, name, extra)
        else:
            torch = self.plan.world(begins).torch
            code = f"{name} = {torch}.nn.parallel.DistributedDataParallel({', '.join(filter(None, (name, extra)))})"
            self.plan.holders.append(Holder(begins, name, owners))
        self.plan.patch(begins).before(begins, code, _PARTLY if partly else _SEVERAL if self.several else _WRAPPED)

    def _add_up(self, trained: list[ast.Call]) -> None:
        """Nothing is sent in the turns of a loop that only add up gradients."""
        found = passes.accumulation(self.study)
        models = {ast.unparse(each.func) for each in trained if found and self.study.loop(each) is found.loop}
        if found is not None and len(models) == 1 and len(trained) == 1:
            code = f"{models.pop()}.require_backward_grad_sync = {ast.unparse(found.test)}"
            self.plan.patch(found.loop).begin(found.loop, code, _LAST)

    def _thawed(self, wrapped: Wrapped) -> bool:
        """Whether what takes part in training may change when it has begun."""
        return any(wrapped.when(node) != BEFORE for node in passes.thaws(self.program))

    def _model(self, place: Place) -> ast.expr | None:
        """An expression that reads the only model of a place, if its name can be given to the wrapped model there."""
        one = len(place.models) == 1 and not place.models[0].among
        if not one or place.behind or self.study.loop(place.statement) is not None:
            return None
        function = self.program.function(place.statement)
        calls = self.study.leading(place.statement)
        if any(self.study.loop(call) for call in calls):
            return None
        scope: ast.AST = function or self.program.unit(place.statement).tree
        name = ast.parse(place.models[0].name, mode="eval").body
        if isinstance(name, ast.Name):
            return self._variable(name.id, scope)
        plain = isinstance(name, ast.Attribute) and isinstance(name.value, ast.Name)
        return self._attributes(name.attr) if len(calls) < 2 and plain and isinstance(name, ast.Attribute) else None

    def _variable(self, name: str, scope: ast.AST) -> ast.expr | None:
        for node in nodes_in(scope, ast.Name):
            if node.id == name and isinstance(node.ctx, ast.Load):
                lexical = self.program.unit(node).lexical
                if lexical.scope(node) is scope:
                    return node if lexical.owner_at(name, node) is scope else None
        return None

    def _attributes(self, name: str) -> ast.expr | None:
        """A read of the only model that is an attribute of this name, of what is no model itself."""
        found = [
            node
            for node in self.program.nodes(ast.Attribute)
            if node.attr == name and isinstance(node.ctx, ast.Load)
            if self._is_module(node)
        ]
        models = {value for node in found for value in self.program.of(node)}
        inside = any(self._is_module(node.value) or self._own(node.value) for node in found)
        return found[0] if found and len(models) == 1 and not inside else None

    def _is_module(self, node: ast.expr) -> bool:
        return any(name.startswith("torch.nn.") for name in self.program.names(node))

    def _forwards(self, model: ast.expr) -> Iterator[ast.Call]:
        """Every call of the model, or of a method that it has of its own, but not what its own methods call."""
        values = {v for v in self.program.of(model) if isinstance(v, Instance | Foreign)}
        for call in self.program.calls:
            called = call.func
            if values & self.program.of(called) and not self._own(called):
                yield call
            elif isinstance(called, ast.Attribute) and values & self.program.of(called.value):
                if self.program.functions(called) and not self._own(called.value):
                    yield call

    def _own(self, node: ast.expr) -> bool:
        function = self.program.function(node)
        owner = self.program.parent(function) if function is not None else None
        if not isinstance(owner, ast.ClassDef) or not isinstance(node, ast.Name):
            return False
        lineage = self.program.lineage(Class(owner))
        return any(isinstance(base, Foreign) and base.name.startswith("torch.nn.") for base in lineage)

    def _use(self, node: ast.expr) -> bool | None:
        """Whether a use of the wrapped model needs the one inside; None where it cannot be told."""
        above = self.program.parent(node)
        if isinstance(above, ast.Attribute):
            return self._attribute(above)
        if isinstance(above, ast.Call) and above.func is node:
            return False
        call = self.program.parent(above) if isinstance(above, ast.keyword) else above
        if isinstance(call, ast.Call):
            if self.program.names(call.func) & _INNER or called(call, self.program) in _DESCRIBES:
                return True
            return False if self.study.run_by(call) else None
        if isinstance(above, ast.Return) or (
            isinstance(above, ast.Tuple) and isinstance(self.program.parent(above), ast.Return)
        ):
            return True
        return False if isinstance(above, ast.Expr) else None

    def _attribute(self, node: ast.Attribute) -> bool | None:
        if node.attr in _SAME:
            return False
        if node.attr in _MOVES or not isinstance(node.ctx, ast.Load):
            return None
        return True


def only_place(places: list[Place]) -> Place | None:
    """The only place where training begins."""
    return places[0] if len(set(places)) == 1 else None
