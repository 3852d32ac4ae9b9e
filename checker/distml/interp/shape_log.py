"""What `distml shapes` shows: the values that parameters, targets, results and calls of layers had while a program was followed.

A machine has a `ShapeLog` only while somebody wants to see shapes. What is seen on a path keeps the facts of that path, and
gains those that hold when the functions around it return: a layer says how many axes its input has, after the input was seen.
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from distml.diagnostics.model import Span
from distml.ops import Call
from distml.ops.registry import find_op
from distml.values import (
    NONE,
    Const,
    DictRecord,
    Expr,
    InstanceRecord,
    ListRecord,
    Many,
    Num,
    Opaque,
    Prim,
    Ref,
    Tensor,
    Tup,
    Union,
    Value,
    alternatives,
    union,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from distml.diagnostics.tracked import Tracked
    from distml.interp.arguments import Arguments
    from distml.interp.flow_log import FlowLog
    from distml.interp.frames import Frame
    from distml.interp.machine import Machine
    from distml.interp.scope import Scope

Kind = Literal["parameter", "assignment", "return", "yield", "call", "size", "layer"]
MAX_DEPTH = 4
"""Containers in containers are looked into so deep."""
MAX_ITEMS = 64
"""Items of one container that are looked at, and different values that are kept of one place."""


MAX_LAYERS = 5000
"""Calls of layers that are kept."""
MAX_CALLS = 64
"""Calls of one function that are told apart; later ones count as the last of them."""


class Place(NamedTuple):
    """What was seen, and where: a `size` is an integer with a name, which names the symbol that it is.

    `call` tells the calls of a function apart: what was seen in one belongs together.
    """

    call: int
    kind: Kind
    name: str
    span: Span


class LayerCall(NamedTuple):
    """A call of a layer of a library: `attrs` are those that hold tensors. `certain` is False on a path that may not be taken,
    or is taken several times.

    `module` is None where a function was called; then `attrs` are its arguments by parameter.
    """

    module: Ref | None
    name: str
    attrs: dict[str, Value]
    inputs: tuple[Value | None, ...]
    output: Value | None
    certain: bool


@dataclass(slots=True, unsafe_hash=True)
class Other(Value):
    """Something that holds no tensor, beside tensors."""

    kind: str


class ShapeLog:
    """The different values of each place in the checked file, in the order in which they were seen.

    `functions` are those whose calls are kept as those of layers are; where there are any, every call is followed.
    """

    def __init__(self, vm: Machine, functions: Collection[str] = ()) -> None:
        self._vm = vm
        self.functions = functions
        self._calls: dict[Scope, list[int]] = {}
        self.layers: list[LayerCall] = []
        self.complete = False
        self.flow: FlowLog | None = None
        self._waiting: dict[int, dict[Place, dict[Value, None]]] = {}
        self._seen: dict[Place, dict[Value, None]] = {}

    @property
    def seen(self) -> dict[Place, tuple[Value, ...]]:
        """What was seen, by place."""
        for ident in list(self._waiting):
            self._keep(self._waiting.pop(ident), self._seen)
        return {place: tuple(values) for place, values in self._seen.items()}

    @property
    def tracked(self) -> tuple[Tracked, ...]:
        """How much of each function is known, where that was asked for."""
        return ()

    def note(self, kind: Kind, node: ast.expr | ast.arg, value: Value, name: str = "") -> None:
        """A value is seen; what certainly holds no tensor is passed over."""
        vm = self._vm
        if not vm.checking:
            return
        if isinstance(value, Num) and isinstance(node, ast.Name):
            kind = "size"
        with looking(vm):
            view = value if kind == "size" else view_of(vm, value)
        if view is not None:
            frame = vm.stack[-1]
            place = Place(self._call(frame), kind, name or vm.snippet(node), vm.span(node))
            _add(self._waiting.setdefault(frame.ident, {}), place, [view])

    def _call(self, frame: Frame) -> int:
        calls = self._calls.setdefault(frame.scope, [])
        if frame.ident not in calls and len(calls) < MAX_CALLS:
            calls.append(frame.ident)
        return frame.ident if frame.ident in calls else calls[-1]

    def take(self, other: ShapeLog) -> None:
        """Add what another log has seen."""
        for place, values in other.seen.items():
            _add(self._seen, place, values)

    def called(self, node: ast.Call, callee: Value, result: Value) -> None:
        """A call has given a result; only those of objects, such as layers, are kept."""
        for each in alternatives(callee):
            if isinstance(each, Ref) and isinstance(self._vm.record(each), InstanceRecord):
                self.note("call", node, result, self._vm.snippet(node.func))
                return

    def layer(self, module: Ref, name: str, attrs: dict[str, Value], inputs: Sequence[Value], output: Value) -> None:
        """A layer of a library was called; one that holds others is not kept."""
        if "__items__" not in attrs:
            self._keep_call(module, name, attrs, inputs, output)

    def function(self, name: str, arguments: Arguments, output: Value) -> None:
        """A function of a library was called."""
        rule: Any = find_op(name)
        code = getattr(rule, "__wrapped__", rule).__code__
        names = code.co_varnames[1 : code.co_argcount]
        more = map(str, range(len(names), len(arguments.args)))
        given = dict(zip((*names, *more), arguments.args, strict=False))
        self._keep_call(None, name, {**given, **arguments.kwargs}, (), output)

    def _keep_call(
        self, module: Ref | None, name: str, attrs: dict[str, Value], inputs: Sequence[Value], output: Value
    ) -> None:
        vm = self._vm
        if len(self.layers) > MAX_LAYERS:
            return
        certain = not (vm.state.guard or vm.repeating or any(handler.speculative for handler in vm.handlers))
        with looking(vm):
            views = tuple(view_of(vm, value) for value in inputs)
            self.layers.append(LayerCall(module, name, _views(vm, attrs), views, view_of(vm, output), certain))

    def settle(self) -> None:
        """A run is over: what the calls of layers saw gains what is known at its end."""
        vm = self._vm
        self.complete = not vm.lost and len(self.layers) <= MAX_LAYERS

        def again(view: Value | None) -> Value | None:
            return None if view is None else view_of(vm, view)

        self.layers = [
            call._replace(
                attrs=_views(vm, call.attrs),
                inputs=tuple(map(again, call.inputs)),
                output=again(call.output),
            )
            for call in self.layers
        ]

    def left(self, frame: Frame, returned: bool) -> None:
        """A function was left: what was seen in it gains what is known now, if it returned."""
        vm = self._vm
        waiting = self._waiting.pop(frame.ident, None)
        if waiting is None:
            return
        if returned:
            with looking(vm):
                waiting = {place: _again(vm, values) for place, values in waiting.items()}
        self._keep(waiting, self._waiting.setdefault(vm.stack[-1].ident, {}) if vm.stack else self._seen)

    def _keep(self, waiting: dict[Place, dict[Value, None]], into: dict[Place, dict[Value, None]]) -> None:
        for place, values in waiting.items():
            _add(into, place, values)


@contextmanager
def looking(vm: Machine) -> Iterator[None]:
    """What is only looked at is nothing that a call depends on."""
    saved, vm.recording = vm.recording, None
    try:
        yield
    finally:
        vm.recording = saved


def _add(table: dict[Place, dict[Value, None]], place: Place, values: Iterable[Value]) -> None:
    known = table.setdefault(place, {})
    for value in values:
        if len(known) < MAX_ITEMS:
            known.setdefault(value)


def _again(vm: Machine, values: Iterable[Value]) -> dict[Value, None]:
    return {again: None for value in values if (again := view_of(vm, value)) is not None}


def _views(vm: Machine, attrs: dict[str, Value]) -> dict[str, Value]:
    """Those that hold tensors, and texts as they are."""
    views = {key: value if isinstance(value, Const) else view_of(vm, value) for key, value in attrs.items()}
    return {key: view for key, view in views.items() if view is not None}


def view_of(vm: Machine, value: Value, depth: int = 0) -> Value | None:
    """A value with the shapes in it as they are known now; None where it holds no tensor.

    Lists and dicts become tuples of that kind, a list of unknown length a `Many`. What is unknown stays as it is.
    """
    if isinstance(value, Tensor):
        return Tensor(value.lib, vm.facts.shape(value.shape), value.dtype, ident=0)
    if isinstance(value, Num):
        return Num(vm.facts.dim(value.dim))
    if isinstance(value, Opaque | Expr):
        known = vm.state.get(("shape", value))
        return value if known is None else Tensor("array", Call(vm, "shapes", "array").shape(value), ident=0)
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, Union):
        return _group(vm, value.options, depth, lambda options: union(list(options)))
    if isinstance(value, Tup):
        return _group(vm, value.items, depth, lambda items: Tup(items, value.kind, value.fields))
    if isinstance(value, Many):
        item = view_of(vm, value.item, depth + 1)
        return None if item is None else Many(item)
    return _object(vm, value, depth) if isinstance(value, Ref) else None


def _object(vm: Machine, value: Ref, depth: int) -> Value | None:
    record = vm.state.get(value.address)
    if isinstance(record, ListRecord):
        if record.items is not None:
            return _group(vm, record.items, depth, lambda items: Tup(items, "list"))
        return None if record.item is None else view_of(vm, Many(record.item), depth)
    if isinstance(record, DictRecord) and record.exact:
        names = tuple(repr(key.value) if isinstance(key, Const) else "..." for key in record.items)
        return _group(vm, tuple(record.items.values()), depth, lambda items: Tup(items, "dict", names))
    return None


def _group(
    vm: Machine, parts: tuple[Value, ...], depth: int, build: Callable[[tuple[Value, ...]], Value]
) -> Value | None:
    """What is made of the views of the parts; None where none of them is a tensor."""
    if len(parts) > MAX_ITEMS:
        return None
    views = [view_of(vm, part, depth + 1) for part in parts]
    if not any(view is not None and holds_tensor(view) for view in views):
        return None
    return build(tuple(_other(part) if view is None else view for part, view in zip(parts, views, strict=True)))


def holds_tensor(view: Value) -> bool:
    """Whether there is a tensor in a view."""
    if isinstance(view, Union):
        return any(map(holds_tensor, view.options))
    if isinstance(view, Tup):
        return any(map(holds_tensor, view.items))
    return holds_tensor(view.item) if isinstance(view, Many) else isinstance(view, Tensor)


def _other(value: Value) -> Value:
    if value == NONE or isinstance(value, Other):
        return value
    if isinstance(value, Const):
        return Other(type(value.value).__name__)
    return Other(value.kind if isinstance(value, Prim) else "int" if isinstance(value, Num) else "...")
