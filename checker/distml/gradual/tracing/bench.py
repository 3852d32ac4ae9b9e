"""Trials of a traced model: what `migrate` and `branches` ask is answered by running it on proxies."""

from __future__ import annotations

import inspect
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from distml.gradual.inputs import Input
from distml.gradual.questions import QuestionError, wanted, where_of
from distml.gradual.targets import Program, Target
from distml.gradual.tracing.dispatch import (
    Dispatch,
    layers_answered,
    lengths_followed,
    modules_of,
    restored,
    truths_taken,
)
from distml.gradual.tracing.places import Places
from distml.gradual.tracing.runs import MAX_OPEN_RUNS, MAX_RUNS, Runs
from distml.gradual.tracing.tracer import Tracer
from distml.gradual.tracing.watching import PathWatcher
from distml.gradual.trial import Bench, Plan, Trial
from distml.interp.check import deep_recursion
from distml.interp.language import LANGUAGE
from distml.interp.machine import Machine
from distml.interp.session import Session
from distml.interp.state import State
from distml.shapes import Shape
from distml.solver.formula import FALSE
from distml.source.project import Project
from distml.values import Function, Tensor

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Mapping

    from distml.gradual.questions import Question
    from distml.gradual.tracing.factory import Model, Parameter
    from distml.solver.formula import Formula


class TracedProgram(Program):
    """The files that a model's code is in. They are read for places and names only; what runs is the model."""

    def __init__(self, model: Model, deadline: float | None) -> None:
        """Raises `QuestionError` where the source of the model's `forward` cannot be read."""
        self.project = Project()
        self.vm = Machine(LANGUAGE, self.project, deadline, Session())
        self.vm.state = State(self.vm.base)
        self.places = Places(self.vm, self.project)
        forward = inspect.unwrap(type(model.module).forward)
        info = self.places.module_at(inspect.getsourcefile(forward) or "")
        node = None if info is None else self.places.function_at(forward.__code__)
        if info is None or node is None:
            raise QuestionError(f"--trace {model.spec}: the source of {model.name} cannot be read")
        self.source = info.source
        self.node: ast.FunctionDef | ast.AsyncFunctionDef = node
        self.vm.checked, self.vm.main, self.vm.frame = info.source, info, info.frame
        self.vm.stack = [info.frame]
        self.vm.symbolic = True
        self.vm.loaded = self.vm.state

    def target(self, model: Model) -> Target:
        """The model's `forward`."""
        assert self.vm.main is not None
        function = Function(self.node, self.vm.main.name, self.vm.main.frame.ident, "forward")
        return Target(model.name, function, None, self.vm.loaded, f"{type(model.module).__qualname__}.forward")


class TracedBench(Bench):
    """Runs trials of a model by running the model itself."""

    def __init__(
        self,
        model: Model,
        program: TracedProgram,
        parameters: list[Parameter],
        where: Callable[[Mapping[str, Shape]], Formula] | None = None,
        least: int = 1,
    ) -> None:
        inputs = tuple(Input(p.name, p.is_tensor, "torch", True, p.keyword) for p in parameters)
        super().__init__(program, program.target(model), inputs, where, least)
        self.model = model
        self.parameters = parameters
        self.tracer = Tracer(program.vm, program.places, model.device)

    def in_general(self) -> Bench:
        """This one: a trace is of the model and the inputs that the factory gives."""
        return self

    def _run(self, plan: Plan) -> Trial:
        program, vm = self.program, self.program.vm
        program.begin(self.target.state)
        ranks = {p.name: p.rank for p in self.parameters if p.rank is not None}
        open_ = tuple((name, rank) for name, rank in ranks.items() if name not in dict(plan.ranks))
        fixed = plan._replace(ranks=(*plan.ranks, *open_), dynamic_ranks=plan.dynamic_ranks - set(ranks))
        symbols = {given.name: self._shape(given, fixed) for given in self.inputs if given.is_tensor}
        possible = all(ranks.get(name, rank) == rank for name, rank in plan.ranks)
        assumed = self.assumed(symbols) if possible else FALSE
        watcher = PathWatcher(vm, assumed, plan.excused, min(1.0, self.seconds))
        vm.watcher = self.tracer.watcher = watcher
        watcher.assume()
        known = all(shape.rank is not None for shape in symbols.values())
        runs = Runs(self.tracer, watcher, MAX_RUNS if known else MAX_OPEN_RUNS)
        try:
            with deep_recursion(), ExitStack() as stack:
                stack.enter_context(layers_answered(self.tracer, self.model.module))
                stack.enter_context(truths_taken(self.tracer))
                stack.enter_context(lengths_followed(self.tracer, modules_of(self.model.module)))
                runs.follow(lambda: self._forward(symbols))
        finally:
            vm.watcher = None
        watcher.finish()
        return self._ended(plan, watcher, runs.failure, symbols, runs.complete, runs.reason)

    def _forward(self, symbols: Mapping[str, Shape]) -> None:
        import torch

        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for given in self.parameters:
            shape = symbols.get(given.name)
            value = given.plain if shape is None else self.tracer.tensor(Tensor("torch", shape, given.dtype))
            if given.keyword:
                keywords[given.name] = value
            else:
                positional.append(value)
        with restored(self.model.module), torch.no_grad(), Dispatch(self.tracer):
            self.model.module(*positional, **keywords)


def bench_of(model: Model, question: Question) -> TracedBench:
    """The bench of a model. Raises `QuestionError` where it cannot be asked about."""
    asked = wanted(question)
    program = TracedProgram(model, time.process_time() + question.seconds)
    parameters = model.parameters(asked)
    return TracedBench(model, program, parameters, where_of(question, program.vm.facts), question.least)
