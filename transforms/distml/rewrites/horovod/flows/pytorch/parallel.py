"""torch.distributed: the model in `DistributedDataParallel` where it is sure that all of training goes through it.

The wrapped model takes the place of the model in front of the statement that begins training. It averages gradients in
calls of `forward` only, and has the attributes of the model under `.module`. So it serves where the model has one name
there, which is handed on to functions that run behind that place, and no method but `forward` computes losses. Elsewhere the
gradients are averaged in front of the step.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.rewrites.horovod.flows.pytorch.optimizers import Place
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.values import Callable, Class, Foreign, Instance

_SAME = frozenset(
    "train eval parameters named_parameters zero_grad to cuda cpu modules named_modules children named_children buffers "
    "named_buffers training requires_grad_ apply half float double type".split()
)
_WHOLE = frozenset(
    {"torch.save", "torch.onnx.export", "copy.deepcopy", "torch.jit.script", "torch.jit.trace", "builtins.print"}
)
_WRAPPED = Note(
    "model that averages gradients over all ranks",
    "every rank sees another part of the data; their mean gradient is that of the large batch",
    "distributed-data-parallel",
)
_INSIDE = Note(
    "the model inside the distributed one", "the wrapped model has these under `.module`", "distributed-data-parallel"
)


class Parallel:
    """Plans the wrapping of one model."""

    def __init__(self, study: Study, plan: Plan) -> None:
        self.study, self.plan, self.program = study, plan, study.program

    def wrap(self, place: Place) -> bool:
        """Ask for the wrapping of the only model of `place`; False where it would not be sure to be right."""
        name = place.models[0].name if len(place.models) == 1 and not place.models[0].among else ""
        if place.behind or not name.isidentifier() or self.study.loop(place.statement) is not None:
            return False
        model = self._read_at(place.statement, name)
        if model is None:
            return False
        inside: list[ast.expr] = []
        for each in self._aliases(model):
            if not self._follows(each, place.statement, name):
                if self._assigned_elsewhere(each, name):
                    return False
                continue
            verdict = self._use(each)
            if verdict is None:
                return False
            if verdict:
                inside.append(each)
        world = self.plan.world(place.statement)
        local = f"[{world.local_rank}] if torch.cuda.is_available() else None"
        unused = ", find_unused_parameters=True" if self._may_skip() else ""
        code = f"{name} = torch.nn.parallel.DistributedDataParallel({name}, device_ids={local}{unused})"
        self.plan.patch(place.statement).before(place.statement, code, _WRAPPED)
        for each in inside:
            self.plan.patch(each).wrap(each, "{}.module", _INSIDE)
        return True

    def _may_skip(self) -> bool:
        """Whether some layers may take no part in a forward pass: one is called under a condition, or has other outputs."""
        for unit in self.program.units.values():
            for node in ast.walk(unit.tree):
                if isinstance(node, ast.FunctionDef) and node.name == "forward":
                    branches = [each for each in ast.walk(node) if isinstance(each, ast.If | ast.IfExp)]
                    if any(_calls_layer(branch) for branch in branches):
                        return True
        calls = (name for call in self.program.calls for name in self.program.names(call.func))
        return any(name.endswith((".googlenet", ".inception_v3")) for name in calls)

    def _read_at(self, statement: ast.stmt, name: str) -> ast.Name | None:
        """Some expression that reads the model by its name, in the function where training begins."""
        function = self.program.function(statement)
        scope: ast.AST = function or self.program.unit(statement).tree
        for node in ast.walk(scope):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                if self.program.function(node) is function:
                    return node
        return None

    def _aliases(self, model: ast.Name) -> Iterator[ast.expr]:
        """Every expression that can be the model, but not the model as its own methods see it."""
        values = {v for v in self.program.of(model) if isinstance(v, Instance | Foreign)}
        for unit in self.program.units.values():
            for node in ast.walk(unit.tree):
                if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                    if values & self.program.of(node) and not self._own(node):
                        yield node

    def _own(self, node: ast.expr) -> bool:
        function = self.program.function(node)
        owner = self.program.parent(function) if function is not None else None
        if not isinstance(owner, ast.ClassDef) or not isinstance(node, ast.Name):
            return False
        lineage = self.program.lineage(Class(owner))
        return any(isinstance(base, Foreign) and base.name.startswith("torch.nn.") for base in lineage)

    def _follows(self, node: ast.expr, begins: ast.stmt, name: str) -> bool:
        """Whether a node runs when training has begun."""
        here = self.program.function(begins)
        if self.program.function(node) is here:
            return (node.lineno, node.col_offset) >= (begins.lineno, begins.col_offset)
        return not self._before(node, begins, frozenset())

    def _before(self, node: ast.AST, begins: ast.stmt, seen: frozenset[ast.AST]) -> bool:
        """Whether a node in another function can run before training begins."""
        function = self.program.function(node)
        if function is None or function in seen:
            return function is None
        for call in self.study.callers.get(function, ()):
            if self.program.function(call) is self.program.function(begins):
                if (call.lineno, call.col_offset) < (begins.lineno, begins.col_offset):
                    return True
            elif self._before(call, begins, seen | {function}):
                return True
        return False

    def _assigned_elsewhere(self, node: ast.expr, name: str) -> bool:
        """Whether the model gets another name before training begins, under which it would not be wrapped."""
        statement = self.program.statement(node)
        if isinstance(statement, ast.Assign) and statement.value in (node, self.program.parent(node)):
            targets = [ast.unparse(each) for each in statement.targets]
            whole = statement.value is node or self._gives_itself(statement.value)
            return whole and targets != [name]
        above = self.program.parent(node)
        if isinstance(above, ast.Call) and node in above.args:
            return any(isinstance(value, Class | Callable) for value in self.program.of(above.func))
        return isinstance(above, ast.List | ast.Tuple | ast.Dict | ast.keyword)

    def _gives_itself(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Attribute) and bool(self.program.of(value) & self.program.of(value.value))

    def _use(self, node: ast.expr) -> bool | None:
        """Whether a use behind the wrapping needs the model inside; None where it cannot be told."""
        above = self.program.parent(node)
        if isinstance(above, ast.Attribute):
            if above.attr in _SAME:
                return False
            called = self.program.parent(above)
            own = any(isinstance(value, Callable) for value in self.program.of(above))
            computes = (
                own and isinstance(called, ast.Call) and self.study.training.holds(self.study.loop(node) or above)
            )
            return None if computes else True
        if isinstance(above, ast.Call) and above.func is node:
            return False
        if isinstance(above, ast.Call | ast.keyword):
            call = above if isinstance(above, ast.Call) else self.program.parent(above)
            if isinstance(call, ast.Call) and self.program.names(call.func) & _WHOLE:
                return True
            own = isinstance(call, ast.Call) and any(isinstance(v, Callable) for v in self.program.of(call.func))
            return False if own else None
        return False if isinstance(above, ast.Expr) else None


def place_of(places: list[Place]) -> Place | None:
    """The only place where training begins."""
    return places[0] if len(places) == 1 else None


def _calls_layer(branch: ast.AST) -> bool:
    """Whether something of `self` is called in a branch."""
    calls = [node.func for node in ast.walk(branch) if isinstance(node, ast.Call)]
    return any(isinstance(each, ast.Attribute) and ast.unparse(each.value) == "self" for each in calls)
