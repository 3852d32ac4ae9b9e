"""What to analyze: a function, or the method that a model is called by.

A target is named as `FILE`, `FILE::function`, `FILE::Class` or `FILE::Class.method`. A function
that builds a model (`resnet50()`) stands for the `forward` of what it returns.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from distml.interp.arguments import Arguments
from distml.interp.calls import call_value
from distml.interp.check import deep_recursion, run_with_room, session_of
from distml.interp.flow_log import FlowLog
from distml.interp.language import LANGUAGE
from distml.interp.machine import Limits, Machine, OutOfSteps, OutOfTime, PathEnd
from distml.interp.shape_log import ShapeLog
from distml.interp.symbolic import any_object, constructed
from distml.interp.unsettled import unsettle_module
from distml.ops.registry import find_layer
from distml.values import Bound, Class, Const, Function, InstanceRecord, Lib, Ref, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distml.interp.state import State
    from distml.source.file import SourceFile
    from distml.source.project import Project

ENTRY_POINTS = ("forward", "call", "__call__")
"""The methods a model may be called by, in the order they are looked for."""
MAX_STEPS = 40_000
"""Statements and rules that building one model, or one run of it, may take."""
PATIENCE = Limits(loop_steps=100_000, entries=20_000)


class TargetError(Exception):
    """What was asked for is not there, or is nothing that can be analyzed: one line."""


class Target(NamedTuple):
    """A function with the state to call it in.

    `receiver` is the model for a method, None for a function. `name` is how it was asked for, `qualified` the
    function's own name.
    """

    name: str
    function: Function
    receiver: Value | None
    state: State

    qualified: str

    @property
    def callee(self) -> Value:
        """What to call."""
        return self.function if self.receiver is None else Bound(self.function, self.receiver)


class Program:
    """A file that was run once, ready for any number of runs of what it defines, each of `max_steps` steps at most."""

    max_steps = MAX_STEPS

    def __init__(
        self,
        source: SourceFile,
        project: Project,
        deadline: float | None = None,
        logged: bool = False,
        flows: bool = False,
    ) -> None:
        """`logged`: the shapes that are met are kept in a `ShapeLog`; `flows`: and what is made of what in a `FlowLog`.

        Raises `UnreadableError` where the file cannot be parsed, `OutOfTime` at the deadline.
        """
        self.source = source
        self.project = project

        def begin() -> Machine:
            vm = Machine(LANGUAGE, project, deadline, session_of(project))
            if logged:
                vm.shape_log = ShapeLog(vm)
            if flows:
                vm.flow = FlowLog(vm)
            return vm

        with deep_recursion():
            self.vm = run_with_room(begin(), begin, source, source.tree)
        self.vm.symbolic = True
        self.vm.symbolic_start = self.vm.steps
        self.vm.memo.clear()
        self.vm.loaded = self.vm.state
        self.vm.limits = PATIENCE

    def begin(self, state: State) -> None:
        """Make the machine ready to run from a copy of a state."""
        vm = self.vm
        assert vm.main is not None
        vm.state = state.fork()
        vm.return_to(vm.main)
        vm.brief = False
        vm.entered.clear()
        vm.step_limit = vm.steps + self.max_steps

    def targets(self, wanted: str | None = None) -> list[Target]:
        """The target named `wanted`; without it every model and every function of the file, in order.

        Raises `TargetError` where there is none of that name.
        """
        if wanted is None:
            return [target for node in self.source.tree.body for target in self._of_statement(node)]
        name, _, method = wanted.partition(".")
        value = self.value(name)
        if value is None:
            raise TargetError(f"{self.source.path} has no function or class {name!r}{self._others()}")
        found = self._of_value(value, name, method or None)
        if found is None:
            raise TargetError(f"{wanted!r} in {self.source.path} is neither a function nor a model that can be called")
        return [found]

    def in_general(self, target: Target) -> Target | None:
        """The same function of an object that was made with any arguments, after whatever code in sight may have done.

        None where no such object can be made.
        """
        vm = self.vm
        vm.state = target.state
        record = vm.record(target.receiver) if isinstance(target.receiver, Ref) else None
        self.begin(vm.loaded)
        unsettle_module(vm)
        if target.receiver is None:
            return target._replace(state=vm.state)
        if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class):
            return None
        cls = record.cls
        made: list[Ref | None] = []
        self._follow(lambda: made.append(any_object(vm, cls)))
        if not made or made[0] is None:
            return None
        self._overridden(made[0], cls)
        return target._replace(receiver=made[0], state=vm.state)

    def _overridden(self, ref: Ref, cls: Class) -> None:
        """Let the data that the class holds be that of any subclass."""
        vm = self.vm
        record = vm.record(ref)
        assert isinstance(record, InstanceRecord)
        owners = [vm.at(base.address).attrs for base in vm.at(cls.address).mro if isinstance(base, Class)]
        names = {name for attrs in owners for name, value in attrs.items() if isinstance(value, Const)}
        shared = {name: vm.opaque(f"self.{name}") for name in sorted(names) if not name.startswith("__")}
        vm.replace(ref, replace(record, attrs={**shared, **record.attrs}))

    def _others(self) -> str:
        names = [n.name for n in self.source.tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
        return f"; it has {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}" if names else ""

    def _of_statement(self, node: ast.stmt) -> Iterator[Target]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            value = self.value(node.name)
            try:
                found = None if value is None else self._of_value(value, node.name, None)
            except TargetError:
                return
            if found is not None:
                yield found

    def value(self, name: str) -> Value | None:
        """What a name of the module stands for when it was run."""
        vm = self.vm
        assert vm.main is not None
        vm.state = vm.loaded
        return vm.variable(vm.main.frame.ident, name)

    def _of_value(self, value: Value, name: str, method: str | None) -> Target | None:
        if isinstance(value, Class):
            made = self._instance(value)
            return None if made is None else self._method(made[0], made[1], name, method)
        if isinstance(value, Ref) and isinstance(self.vm.record(value), InstanceRecord):
            return self._method(value, self.vm.loaded, name, method) or self._called(value, name)
        if method is not None or not isinstance(value, Function):
            return None
        if _builds(value.node):
            model = self.built(value)
            if model is not None:
                found = self._method(model[0], model[1], name, None)
                if found is not None:
                    return found._replace(name=name)
        return Target(name, value, None, self.vm.loaded, name)

    def _instance(self, cls: Class) -> tuple[Ref, State] | None:
        """An object made with the constructor's defaults, unknown where there are none."""
        vm = self.vm
        self.begin(vm.loaded)
        made: list[Ref] = []

        def run() -> None:
            ref = constructed(vm, cls)
            if ref is not None:
                made.append(ref)

        self._follow(run)
        return (made[0], vm.state) if made else None

    def built(self, function: Function) -> tuple[Ref, State] | None:
        """What a function that builds a model returns, called without arguments."""
        vm = self.vm
        self.begin(vm.loaded)
        made: list[Value] = []
        required = function.node.args.args[: len(function.node.args.args) - len(function.defaults)]
        given = Arguments([vm.opaque(a.arg) for a in required], {})
        self._follow(lambda: made.append(call_value(vm, function, given, function.node)))
        if made and isinstance(made[0], Ref) and isinstance(vm.record(made[0]), InstanceRecord):
            return made[0], vm.state
        return None

    def _follow(self, run: object) -> None:
        vm = self.vm
        assert callable(run)
        try:
            with deep_recursion():
                vm.follow(run)
        except (OutOfSteps, OutOfTime):
            vm.lose("building it takes too much work", vm.node)
        except PathEnd:
            return

    def _method(self, ref: Ref, state: State, name: str, method: str | None) -> Target | None:
        vm = self.vm
        vm.state = state
        for candidate in (method,) if method else ENTRY_POINTS:
            found = vm.attribute(ref, candidate)
            if isinstance(found, Bound) and isinstance(found.function, Function):
                return Target(f"{name}.{candidate}", found.function, ref, state, self._qualified(ref, found.function))
        if method:
            raise TargetError(f"{name} in {self.source.path} has no method {method!r}")
        return None

    def _called(self, model: Ref, name: str) -> Target | None:
        """The call of a layer of a library that a variable holds, as a function of one input; None where it is no such thing."""
        vm = self.vm
        if not is_layer(vm.record(model)) or vm.main is None:
            return None
        named = [node for node in ast.walk(self.source.tree) if isinstance(node, ast.Name) and node.id == name]
        first = min(named, key=lambda node: node.lineno, default=None)
        call = ast.parse("lambda self, input: self(input)", mode="eval").body
        if first is not None:
            for node in ast.walk(call):
                ast.copy_location(node, first)
        vm.return_to(vm.main)
        vm.state = vm.loaded
        function = vm.language.evaluate(vm, call)
        return Target(name, function, model, vm.loaded, name) if isinstance(function, Function) else None

    def _qualified(self, ref: Ref, function: Function) -> str:
        """`Class.method`, by the class that defines the method."""
        owner = None if function.owner is None else self.vm.at(function.owner)
        node = getattr(owner, "node", None)
        return f"{node.name}.{function.name}" if isinstance(node, ast.ClassDef) else function.name


def is_layer(record: object) -> bool:
    """Whether an object is a layer of a library, such as a `Sequential`, and of no class of the program."""
    cls = record.cls if isinstance(record, InstanceRecord) else None
    return isinstance(cls, Lib) and find_layer(cls.name) is not None


def _builds(node: ast.AST) -> bool:
    """Whether a function may return a model: it returns the result of a call or a name, and takes no tensor."""
    return any(isinstance(part, ast.Return) and isinstance(part.value, ast.Call | ast.Name) for part in ast.walk(node))
