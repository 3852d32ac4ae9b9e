"""What `distml draw` shows: which call made a value, and which values went into a call, seen while a program is followed.

A machine has a `FlowLog` only while somebody wants to see this. A tensor is an object (`Tensor.ident`), an unknown value is
itself. What made it is an entry of the state: a path that is given up takes its entries with it, and where paths meet, a value
may be from either. What changes a tensor in place is the maker of what is read from then on.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from distml.interp.in_place import is_in_place
from distml.interp.made import Calls, Flow, Made
from distml.interp.shape_log import looking, view_of
from distml.interp.storage import ITEMS
from distml.shapes import Origin
from distml.values import (
    Const,
    DictRecord,
    Expr,
    InstanceRecord,
    IteratorRecord,
    ListRecord,
    Many,
    Opaque,
    Ref,
    Tensor,
    Tup,
    Union,
    Value,
    object_mark,
    union,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from distml.interp.arguments import Arguments
    from distml.interp.machine import Machine
    from distml.interp.state import State

MAX_CALLS = 20_000
"""Calls that are kept; a graph of more is not drawn whole."""
MAX_DEPTH = 4
"""Containers in containers are looked into so deep."""
MAX_ITEMS = 256
"""Tensors in one argument or result that are told apart."""


class Group(NamedTuple):
    """One call of a module, and where it is called: what happens in it is drawn inside."""

    serial: int
    module: Ref
    origin: Origin


class Fed(NamedTuple):
    """Something that went into a call: what made it, what it was then, and the parameter or place it was given for."""

    made: Calls
    view: Value | None
    role: str


@dataclass(slots=True)
class FlowCall:
    """A call that made values, or a value that came from outside (then `kind` says what it is).

    `module` is the layer that was called, `ident` the object that came from outside, `inside` the calls of modules around it.
    `repeats` says that it stands for any number of iterations of a loop, `certain` is False on a path that may not be taken,
    `known` is False where no rule told the result.
    """

    kind: str
    name: str
    origin: Origin
    module: Ref | None = None
    inside: tuple[Group, ...] = ()
    repeats: bool = False
    certain: bool = True
    known: bool = True
    fed: list[Fed] = field(default_factory=list)
    gives: dict[str, Value | None] = field(default_factory=dict)
    ident: int = 0


class FlowLog:
    """The calls of one run, in order; `ends` are what it gave."""

    def __init__(self, vm: Machine, places: dict[Ref, Origin] | None = None) -> None:
        self._vm = vm
        self._serial = vm.serial()
        self.calls: list[FlowCall] = []
        self.ends: list[Fed] = []
        self.places: dict[Ref, Origin] = {} if places is None else places
        self.complete = True
        self._inside: tuple[Group, ...] = ()
        self._same: dict[Hashable, int] = {}
        self._outside: dict[Hashable, int] = {}
        self._quiet = 0

    # --- what is seen ------------------------------------------------------------------------

    def begins(self, name: str, value: Value, origin: Origin) -> None:
        """An input of the run."""
        for role, part in self._parts(value, name):
            self._add(FlowCall("input", role, origin), [("", part)], ())

    def ending(self, value: Value) -> FlowLog:
        """The same calls, with another value at the end: what was built up to it, from the values that nothing was made of."""
        found = FlowLog(self._vm, self.places)
        found.calls, found.complete = self.calls, self.complete
        found.ends = self._fed(list(self._parts(value, "")))
        return found

    def finish(self, value: Value) -> None:
        """The run gave this."""
        self.ends = self._fed(list(self._parts(value, "")))

    def built(self, module: Value, node: ast.AST) -> None:
        """A module was made here."""
        if isinstance(module, Ref):
            self.places.setdefault(module, self._vm.origin(node))

    def within(self, module: Ref, node: ast.AST, run: Callable[[], Value]) -> Value:
        """What is called while a module runs is inside of it."""
        before = self._inside
        self._inside = (*before, Group(self._vm.serial(), module, self._vm.origin(node)))
        try:
            return run()
        finally:
            self._inside = before

    def alone(self, name: str, given: Arguments, node: ast.AST, run: Callable[[], Value]) -> Value:
        """A call in which nothing else is drawn."""
        marks = self._marks()
        self._quiet += 1
        try:
            result = run()
        finally:
            self._quiet -= 1
        self._note(name, given, node, result, marks, known=not isinstance(result, Opaque))
        return result

    def followed(
        self, name: str, given: Arguments, node: ast.AST, run: Callable[[], Value], module: Ref | None = None
    ) -> Value:
        """A call of a library: what it makes itself is its own, what calls inside of it made is theirs."""
        marks, first = self._marks(), len(self.calls)
        fed = self._fed(self._given(given))
        try:
            result = run()
        except BaseException:
            # It gives nothing: drawn where the whole run ends here.
            if not self._quiet:
                self._add(self._call(name, node, module, list(fed)), [], (id(node), name, module))
            raise
        if module is not None and given.args and isinstance(result, Tensor) and self._is_container(module):
            self.same(result, given.args[0])  # one without layers gives back what it is given
        self._write(name, given, node, fed, result)
        self._note(name, given, node, result, marks, module, fed=fed)
        if module is not None and len(self.calls) == first + 1 and not self.calls[first].known:
            call = self.calls[first]
            call.name, call.module, call.inside = name, module, self._inside[:-1]
        return result

    def read(self, name: str, receiver: Arguments, node: ast.AST, run: Callable[[], Value | None]) -> Value | None:
        """An attribute of a tensor is read: one that is a tensor is made of it."""
        marks = self._marks()
        result = run()
        if isinstance(result, Tensor):
            self._note(name, receiver, node, result, marks)
        return result

    def taken(self, tensor: Tensor, rows: Sequence[Value]) -> None:
        """A tensor is iterated or unpacked: each row is taken from it as by its number."""
        if self._quiet:
            return
        node = self._vm.node
        for place, row in enumerate(rows):
            call = self._call("Tensor.__getitem__", node, None, self._fed([("0", tensor)]))
            self._add(call, [("", row)], (id(node), "[]", place))

    def unknown(self, given: Arguments, node: ast.AST, result: Value) -> None:
        """Something was called of which nothing is known."""
        if self._quiet:
            return
        fed = self._fed(self._given(given))
        if fed:
            function = node.func if isinstance(node, ast.Call) else node
            call = self._call(self._vm.snippet(function, 40), node, None, fed)
            call.known = False
            self._add(call, [("", result)], (id(node), "?"))

    def met(self, head: State, after: State, values: tuple[Value, Value, Value], result: State) -> Value:
        """The last of three values, which is to be at the head of a loop, where the first was and an iteration brings the second.

        In the state `result` it is made by what made either.
        """
        old, new, value = values
        if isinstance(value, Tup) and isinstance(old, Tup) and isinstance(new, Tup):
            if not len(value.items) == len(old.items) == len(new.items):
                return value
            rows = zip(old.items, new.items, value.items, strict=True)
            items = tuple(self.met(head, after, row, result) for row in rows)
            changed = any(a is not b for a, b in zip(items, value.items, strict=True))
            return Tup(items, value.kind, value.fields, value.cls) if changed else value
        if not isinstance(value, Tensor) or not isinstance(old, Tensor) or not isinstance(new, Tensor):
            return value
        before, again = self._made(old, head), self._made(new, after)
        if again <= before:
            return value
        found = value.copied(old, new)
        result.set(self._key(found), Made(before | again))
        return found

    def same(self, value: Value, other: Value) -> None:
        """What nothing made yet is the same object as another value; of containers, each part as that in its place."""
        state = self._vm.state
        for (role, part), (place, source) in zip(self._parts(value, ""), self._parts(other, ""), strict=False):
            if role == place and self._entry(part, state) is None:
                made = self._made(source, state)
                if made:
                    state.set(self._key(part), Made(made))

    def outermost(self, module: Ref) -> None:
        """The run was a call of this module, which is not drawn around everything."""
        for call in self.calls:
            if call.inside and call.inside[0].module == module:
                call.inside = call.inside[1:]

    def settle(self) -> None:
        """The run is over: what was seen gains what is known at its end."""
        with looking(self._vm):
            for call in self.calls:
                call.fed = [each._replace(view=self._again(each.view)) for each in call.fed]
                call.gives = {role: self._again(view) for role, view in call.gives.items()}
            self.ends = [each._replace(view=self._again(each.view)) for each in self.ends]

    # --- how it is kept ----------------------------------------------------------------------

    def _note(
        self,
        name: str,
        given: Arguments,
        node: ast.AST,
        result: Value,
        marks: tuple[int, int],
        module: Ref | None = None,
        known: bool = True,
        fed: list[Fed] | None = None,
    ) -> None:
        if self._quiet:
            return
        fresh = [
            (role, part)
            for role, part in self._parts(result, "")
            if _is_new(part, marks) and self._entry(part, self._vm.state) is None
        ]
        if not fresh:
            return
        fed = self._fed(self._given(given)) if fed is None else fed
        if not fed and not any(isinstance(part, Tensor) for _, part in fresh):
            return  # an unknown number, a file, a device
        call = self._call(name, node, module, fed)
        call.known = known and not all(isinstance(part, Opaque) for _, part in fresh)
        if len(fresh) == 1:
            fresh = [("", fresh[0][1])]
        self._add(call, fresh, (id(node), name, module))

    def _write(self, name: str, given: Arguments, node: ast.AST, fed: list[Fed], result: Value) -> None:
        """What a call changed in place is its own from now on."""
        written = [] if self._quiet else _written(name, given)
        for part in written:
            if isinstance(part, Tensor | Opaque):
                self._add(self._call(name, node, None, list(fed)), [("", part)], (id(node), name, "w"))
                if isinstance(result, Tensor):
                    self.same(result, part)

    def _call(self, name: str, node: ast.AST, module: Ref | None, fed: list[Fed]) -> FlowCall:
        vm = self._vm
        inside = self._inside if module is None else self._inside[:-1]
        certain = not (vm.state.guard or any(handler.speculative for handler in vm.handlers))
        return FlowCall("call", name, vm.origin(node), module, inside, vm.repeating > 0, certain, True, fed)

    def _add(self, call: FlowCall, gives: Sequence[tuple[str, Value]], key: tuple[Hashable, ...]) -> None:
        """Keep a call; in a loop that is followed once for all iterations, what is called again is the same one."""
        vm, number = self._vm, len(self.calls)
        if number > MAX_CALLS:
            self.complete = False
            return
        if call.repeats and key:
            callers = tuple(id(frame.caller) for frame in vm.stack)
            whole = (key, callers, tuple(group.module for group in call.inside))
            number = self._same.setdefault(whole, number)
        if number < len(self.calls):
            first = self.calls[number]
            first.fed += [each for each in call.fed if each not in first.fed]
        else:
            self.calls.append(call)
        seen: dict[str, list[Value | None]] = {}
        for role, part in gives:
            vm.state.set(self._key(part), Made(frozenset({(number, role)})))
            seen.setdefault(role, []).append(self._view(part))
        for role, views in seen.items():
            known = [view for view in views if view is not None]
            self.calls[number].gives[role] = union(known) if known else None

    def _fed(self, parts: Sequence[tuple[str, Value]]) -> list[Fed]:
        if self._quiet:
            return []
        found = []
        for role, part in parts:
            made = self._made(part, self._vm.state)
            if made:
                found.append(Fed(made, self._view(part), role))
        return found

    def _made(self, value: Value, state: State) -> Calls:
        """What made a value; of a tensor that nothing made in this run, where it is from."""
        found = self._entry(value, state)
        if found is not None or not isinstance(value, Tensor):
            return found or frozenset()
        number = self._outside.get(value.ident)
        if number is None:
            number = self._outside[value.ident] = len(self.calls)
            kind = "parameter" if value.parameter else "tensor"
            outside = FlowCall(kind, "", self._vm.origin(self._vm.node), ident=value.ident)
            outside.gives[""] = self._view(value)
            self.calls.append(outside)
        return frozenset({(number, "")})

    def _entry(self, value: Value, state: State) -> Calls | None:
        found = state.get(self._key(value))
        if isinstance(found, Made):
            return found.calls
        if isinstance(value, Tensor):
            every = [state.get(Flow(self._serial, ident)) for ident in value.met]
            known = [each.calls for each in every if isinstance(each, Made)]
            return frozenset[tuple[int, str]]().union(*known) if known else None
        if isinstance(value, Opaque):
            holder = self._vm.holders.get(value)
            return None if holder is None else self._entry(holder, state)
        return None

    def _parts(self, value: Value, role: str, depth: int = 0) -> Iterator[tuple[str, Value]]:
        """The tensors and unknown values in a value, with their places."""
        if isinstance(value, Tensor | Opaque | Expr):
            yield role, value
        elif depth < MAX_DEPTH:
            for name, item in self._items(value):
                yield from self._parts(item, f"{role}.{name}" if role and name else role or name, depth + 1)

    def _given(self, given: Arguments) -> list[tuple[str, Value]]:
        """The data in arguments, each with the place or name it was given for."""
        named = [*((str(place), value) for place, value in enumerate(given.args)), *given.kwargs.items()]
        return [found for role, value in named for found in self._parts(value, role)]

    def _items(self, value: Value) -> list[tuple[str, Value]]:
        if isinstance(value, Union):
            return [("", option) for option in value.options]
        if isinstance(value, Many):
            return [("", value.item)]
        if isinstance(value, Tup):
            names = value.fields or tuple(map(str, range(len(value.items))))
            return list(zip(names, value.items, strict=False))[:MAX_ITEMS]
        record = self._vm.state.get(value.address) if isinstance(value, Ref) else None
        if isinstance(record, ListRecord | IteratorRecord):
            if record.items is not None:
                return [(str(place), item) for place, item in enumerate(record.items[:MAX_ITEMS])]
            return [] if record.item is None else [("", record.item)]
        if isinstance(record, DictRecord):
            pairs = list(record.items.items())[:MAX_ITEMS]
            return [(str(key.value) if isinstance(key, Const) else "", item) for key, item in pairs]
        return []

    def _view(self, value: Value) -> Value | None:
        with looking(self._vm):
            return view_of(self._vm, value)

    def _again(self, view: Value | None) -> Value | None:
        return None if view is None else view_of(self._vm, view)

    def _key(self, value: Value) -> Flow:
        return Flow(self._serial, value.ident if isinstance(value, Tensor) else value)

    def _is_container(self, module: Ref) -> bool:
        record = self._vm.state.get(module.address)
        return isinstance(record, InstanceRecord) and ITEMS in record.attrs

    def _marks(self) -> tuple[int, int]:
        return object_mark(), self._vm.serial()


def _written(name: str, given: Arguments) -> list[Value]:
    """The tensors that a call of this name changes in place."""
    in_place = is_in_place(name) or name.endswith(".__setitem__")
    receiver = [given.args[0]] if in_place and given.args else []
    return [*receiver, *([given.kwargs["out"]] if "out" in given.kwargs else [])]


def _is_new(value: Value, marks: tuple[int, int]) -> bool:
    """Whether a value was made after a time."""
    if isinstance(value, Tensor):
        return value.ident > marks[0]
    return not isinstance(value, Opaque) or value.serial > marks[1]
