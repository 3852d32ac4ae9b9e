"""What `--verbose` tells of a file: how many of a function's values have known shapes, and where the others were lost.

A machine is tracked only where somebody asks: then each rule for expressions is wrapped. An expression of unknown value whose
parts are known is where tracking was lost; whatever is made of its value has that cause too.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from distml.diagnostics.model import Span
from distml.diagnostics.tracked import Cause, Tracked
from distml.interp.installed import is_foreign
from distml.interp.shape_log import ShapeLog, looking, view_of
from distml.ops.registry import LIBRARIES, find_layer, find_op
from distml.values import Expr, Lib, LibMethod, Many, Opaque, Tensor, Tup, Union, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from distml.interp.arguments import Arguments
    from distml.interp.frames import Frame
    from distml.interp.machine import Machine
    from distml.interp.shape_log import Kind
    from distml.values import Ref

    Rule = Callable[[Machine, Any], Value]

EXACT, PARTIAL, UNRANKED, UNKNOWN = range(4)
"""A tensor of plain numbers, of some sizes or a known rank, of unknown rank; a value of which nothing is known."""
MAX_CAUSES = 5
"""Causes of one function that are told, those that hide most."""


class _Function:
    def __init__(self, name: str, span: Span) -> None:
        self.name = name
        self.span = span
        self.levels: dict[tuple[Kind, str], int] = {}
        self.hidden: dict[Cause, set[int]] = {}

    def told(self) -> Tracked:
        counts = [0, 0, 0, 0]
        for level in self.levels.values():
            counts[level] += 1
        hidden = sorted(
            ((cause, len(nodes)) for cause, nodes in self.hidden.items()), key=lambda each: (-each[1], each[0])
        )
        return Tracked(self.name, self.span, (counts[0], counts[1], counts[2], counts[3]), tuple(hidden[:MAX_CAUSES]))


class Tracker(ShapeLog):
    """Looks at what expressions come to; knows for each unknown value where it was lost."""

    def __init__(self, vm: Machine) -> None:
        super().__init__(vm)
        self._causes: dict[Value, Cause] = {}
        self._libraries: dict[int, Lib | LibMethod] = {}
        self._below: Cause | None = None
        self._line = 0
        self._functions: dict[ast.AST | None, _Function] = {}
        vm.rules = {kind: self._followed(rule) for kind, rule in vm.rules.items()}

    @property
    def tracked(self) -> tuple[Tracked, ...]:
        """All functions in which a tensor or an unknown value was seen, in the order of their lines."""
        told = [each.told() for each in self._functions.values() if each.levels]
        return tuple(sorted(told, key=lambda each: (each.span.line, each.span.column)))

    def _followed(self, rule: Rule) -> Rule:
        def follow(vm: Machine, node: Any) -> Value:
            before = self._begin()
            try:
                value = rule(vm, node)
            except BaseException:
                self._below = before
                raise
            if isinstance(value, Lib | LibMethod):
                self._libraries[id(node)] = value
            if level_of(vm, value) >= UNRANKED:
                self._below, self._line = self._lost(node, value, self._below) or before, node.lineno
            else:
                self._below = before
            return value

        return follow

    def _begin(self) -> Cause | None:
        """Nothing below an expression was lost yet; the cause of what was lost before it."""
        before, self._below = self._below, None
        return before

    def _lost(self, node: ast.AST, value: Value, below: Cause | None) -> Cause | None:
        """The cause of an unknown value; None where the program's own code is not being run."""
        known = self._known(value) or below
        if known is None:
            seen = self._vm.language.seen_from(self._vm, node, self._vm.frame)
            if seen is None:
                return None
            span = self._vm.span(*seen)
            told = self._vm.lost.get(span)
            known = Cause(span, self._reason(node) if told is None else told.reason)
        self._causes[value] = known
        if self._vm.checking:
            self._function().hidden.setdefault(known, set()).add(id(node))
        return known

    def _known(self, value: Value) -> Cause | None:
        found, holder = self._causes.get(value), value
        while found is None and isinstance(holder, Opaque) and holder in self._vm.holders:
            holder = self._vm.holders[holder]
            found = self._causes.get(holder)
        return found

    def _reason(self, node: ast.AST) -> str:
        vm = self._vm
        text = vm.snippet(node)
        if isinstance(node, ast.Call):
            callee = self._libraries.get(id(node.func))
            text = f"what {vm.snippet(node.func)}() returns is unknown"
            if callee is not None and not callee.name.startswith("?"):
                text = _of_library(callee.name)
        elif isinstance(node, ast.Attribute):
            text = f"the attribute {node.attr} of {vm.snippet(node.value)} is unknown"
        elif isinstance(node, ast.arg):
            text = f"no call says what the argument {node.arg} is"
        else:
            text = f"{text} is unknown"
        source = vm.frame.module.source
        return f"{text} (in {source.module})" if is_foreign(source) else text

    def _function(self) -> _Function:
        vm = self._vm
        inside = (frame for frame in reversed(vm.stack) if frame.function is not None or frame.scope.is_module)
        frame = next(inside, vm.frame)
        node = None if frame.function is None else frame.function.node
        if node not in self._functions:
            here = Span(frame.module.source.path, 1, 1, 1, 1) if node is None else vm.span(node, frame)
            self._functions[node] = _Function("the module" if node is None else getattr(node, "name", "lambda"), here)
        return self._functions[node]

    def note(self, kind: Kind, node: ast.expr | ast.arg, value: Value, name: str = "") -> None:
        """A parameter, a variable or a result has a value."""
        if not self._vm.checking:
            return
        level = level_of(self._vm, value)
        if level < 0:
            return
        place, levels = (kind, name or self._vm.snippet(node)), self._function().levels
        levels[place] = max(level, levels.get(place, EXACT))
        if level >= UNRANKED:
            # What is unpacked, or drawn from an iterator, comes of an expression of the same line.
            self._lost(node, value, self._below if self._line == node.lineno else None)

    def called(self, node: ast.Call, callee: Value, result: Value) -> None:
        """Calls are expressions."""

    def layer(self, module: Ref, name: str, attrs: dict[str, Value], inputs: Sequence[Value], output: Value) -> None:
        """Calls of layers are expressions."""

    def function(self, name: str, arguments: Arguments, output: Value) -> None:
        """Calls of functions are expressions."""

    def left(self, frame: Frame, returned: bool) -> None:
        """What was seen stays as it was."""


def _of_library(name: str) -> str:
    package = name.partition(".")[0]
    if package not in LIBRARIES:
        return f"{name} is unknown: {package} is not followed"
    if find_op(name) is None and find_layer(name) is None:
        return f"there is no rule for {name}"
    return f"the rule for {name} gives nothing here"


def level_of(vm: Machine, value: Value) -> int:
    """How much is known of a value; less than 0 where it holds no tensor."""
    with looking(vm):
        view = view_of(vm, value)
    return max(_levels(view), default=-1)


def _levels(view: Value | None) -> Iterator[int]:
    if isinstance(view, Tensor):
        shape = view.shape
        yield EXACT if shape.plain else PARTIAL if shape.rank is not None or shape.head or shape.tail else UNRANKED
    elif isinstance(view, Opaque | Expr):
        yield UNKNOWN
    elif isinstance(view, Union | Tup):
        for part in view.options if isinstance(view, Union) else view.items:
            yield from _levels(part)
    elif isinstance(view, Many):
        yield from _levels(view.item)
