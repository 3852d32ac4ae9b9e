"""Functions of the program that something unknown was given: it may call them, then and at any later time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.changes import changed_outside
from distml.interp.machine import Handler
from distml.interp.unsettled import is_placeholder, unsettle
from distml.values import Bound, Function, InstanceRecord, LibMethod, Partial, Ref, Value, alternatives

if TYPE_CHECKING:
    from distml.interp.machine import Machine

AT_LARGE = ("callbacks", 0)
"""The fact that names what such functions change: attributes of objects, and variables."""


def give_away(vm: Machine, value: Value) -> None:
    """Something unknown was given a value (an argument, an attribute, an item): it may change and call it, now and later."""
    for option in alternatives(value):
        unsettle(vm, option)
        if isinstance(option, Function | Bound):
            run_later(vm, option)
        elif isinstance(option, LibMethod):
            unsettle(vm, option.receiver)
        elif isinstance(option, Partial):
            for part in (option.function, *option.args, *(item for _, item in option.kwargs)):
                give_away(vm, part)


def run_later(vm: Machine, callback: Function | Bound) -> None:
    """A function was given away: it may run at once, any number of times, with anything. What fails in it proves nothing.

    One that changes nothing but its own variables need not be followed.
    """
    function = callback.function if isinstance(callback, Bound) else callback
    if not isinstance(function, Function) or vm.running_later:
        return
    names = changed_outside(function.node)
    if not names:
        return
    _note(vm, callback, function, names)
    spec = function.node.args
    free = [*spec.posonlyargs, *spec.args][1 if isinstance(callback, Bound) else 0 :]
    given = Arguments([vm.opaque(a.arg) for a in free], {a.arg: vm.opaque(a.arg) for a in spec.kwonlyargs}, True)
    vm.handlers.append(Handler(catches_shapes=True, speculative=True))
    vm.running_later = True
    try:
        vm.language.any_times(vm, lambda: vm.language.call_value(vm, callback, given))
    finally:
        vm.running_later = False
        vm.handlers.pop()


def _note(vm: Machine, callback: Function | Bound, function: Function, names: frozenset[str]) -> None:
    found = set(vm.get(AT_LARGE) or ())
    frame = vm.frame_of(function.frame)
    owner = callback.receiver if isinstance(callback, Bound) else None
    while True:
        if owner is None:
            owner = frame.receiver
        found.update((frame.ident, name) for name in names & frame.scope.locals)
        if frame.parent is None:
            break
        frame = frame.parent
    if isinstance(owner, Ref):
        found.update((owner, name) for name in names)
    vm.put(AT_LARGE, frozenset(found))


def callbacks_ran(vm: Machine) -> None:
    """Something ran that may have called them: what they fill is not empty for sure."""
    for holder, name in sorted(vm.get(AT_LARGE) or (), key=repr):
        record = vm.record(holder) if isinstance(holder, Ref) else None
        if isinstance(record, InstanceRecord):
            value: Value | None = record.attrs.get(name)
        elif isinstance(holder, int):
            value = vm.variable(holder, name)
        else:
            continue
        if value is None or not is_placeholder(vm, value):
            continue
        if isinstance(value, Ref):
            unsettle(vm, value)
        elif isinstance(record, InstanceRecord):
            vm.replace(holder, record.having({name: vm.opaque(name)}))
        else:
            vm.assign(holder, name, vm.opaque(name))
