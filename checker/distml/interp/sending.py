"""`generator.send(value)`: what a generator that is told values hands out next.

Its body is followed again from the beginning, with what it was sent so far, up to the `yield` where it waits now. Of a
generator that was sent more than that, or nobody knows how much, what it gives is like all that it would give if each
value were like those it was sent; then nothing is said of its body.
https://docs.python.org/3/reference/expressions.html#generator.send
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distml.interp.calls import call_op
from distml.interp.functions import run_again
from distml.interp.join import join_many, join_values
from distml.interp.machine import PathEnd
from distml.values import NONE, Const, IteratorRecord, Num, Prim, Ref, Tensor, Tup, Value

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from distml.interp.arguments import Arguments
    from distml.interp.generators import Body, Later
    from distml.interp.machine import Machine

_SENT = "values sent"
_LIKE = "a value like those sent"
_TAKEN = "values taken"
_WAITS = "the mark of a generator that was only told values"
"""Variables that no program can name: paths join them like any other."""
MAX_SENT = 3
"""With how many values behind the first `yield` a body is followed one by one."""


def send(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`generator.send(value)`."""
    generator, value = (*arguments.args, NONE, NONE)[:2]
    made = _advance(vm, generator, value, node) if len(arguments.args) == 2 and not arguments.kwargs else None
    return call_op(vm, "builtins.iterator.send", arguments, node, "builtins") if made is None else made


def next_(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`next(generator)`, which sends it None."""
    given = arguments.args[0] if len(arguments.args) == 1 and not arguments.kwargs else NONE
    made = _advance(vm, given, NONE, node)
    return call_op(vm, "builtins.next", arguments, node, "builtins") if made is None else made


def _advance(vm: Machine, generator: Value, value: Value, node: ast.AST) -> Value | None:
    """What a generator hands out when it is sent a value; None if it is not one that was only told values so far."""
    later = vm.generated.get(generator.address) if isinstance(generator, Ref) else None
    if not isinstance(generator, Ref) or later is None or later.body is None or not later.is_as_before(vm):
        return None
    mark, before = _mark(vm, generator, later.body), vm.variable(generator.address, _SENT) or Tup(())
    if mark is None or (before == Tup(()) and value != NONE):
        return None
    vm.assign(generator.address, _WAITS, mark)
    vm.replace(generator, IteratorRecord(None, mark))
    sent, like = _told(vm, generator.address, before, value)
    return _exactly(vm, later, sent.items, node) if isinstance(sent, Tup) else _likely(vm, later, like, node)


def _mark(vm: Machine, generator: Ref, body: Body) -> Value | None:
    """What stands in the place of the items of a generator that was only told values so far; None of any other."""
    known, record = vm.variable(generator.address, _WAITS), vm.at(generator.address)
    if known is None:
        return vm.opaque("waiting") if record == body.record else None
    return known if isinstance(record, IteratorRecord) and record.item == known else None


def _told(vm: Machine, own: int, before: Value, value: Value) -> tuple[Value, Value]:
    """Note what a generator is sent: all values so far, unless they are too many, and one like those behind the first."""
    known = isinstance(before, Tup) and len(before.items) <= MAX_SENT
    sent = Tup((*before.items, value)) if known and isinstance(before, Tup) else vm.opaque("sent")
    vm.assign(own, _SENT, sent)
    like = vm.variable(own, _LIKE)
    like = value if like is None else join_values(vm, like, value)
    if before != Tup(()):
        vm.assign(own, _LIKE, like)
    return sent, like


def _exactly(vm: Machine, later: Later, sent: tuple[Value, ...], node: ast.AST) -> Value:
    """What a body hands out that was sent these values, the first to begin."""
    found: list[Value] = []
    lost = []

    def block(value: Value) -> Value:
        place = vm.variable(vm.frame.ident, _TAKEN) or Const(0)
        if not isinstance(place, Const) or not isinstance(place.value, int):
            lost.append(value)
            return vm.opaque("sent value")
        if place.value + 1 == len(sent):
            found.append(value)
            raise PathEnd
        vm.assign(vm.frame.ident, _TAKEN, Const(place.value + 1))
        return sent[place.value + 1]

    _again(vm, later, block, node)
    return _given(vm, [] if lost else found)


def _likely(vm: Machine, later: Later, like: Value, node: ast.AST) -> Value:
    """What a body hands out, behind the first value, that is sent values like this one again and again."""
    found: list[Value] = []

    def block(value: Value) -> Value:
        begun = vm.variable(vm.frame.ident, _TAKEN)
        vm.assign(vm.frame.ident, _TAKEN, Const(1))
        if begun is not None:
            found.append(value)
        return like

    said = dict(vm.findings)
    _again(vm, later, block, node)
    vm.findings.clear()
    vm.findings.update(said)
    return _given(vm, found)


def _again(vm: Machine, later: Later, block: Callable[[Value], Value], node: ast.AST) -> None:
    """Follow a body aside: what it changes was found when the generator was made."""
    assert later.body is not None
    body, state, exits = later.body, vm.state, vm.exits
    vm.follow(lambda: run_again(vm, body.function, body.bound, node, block), state.fork())
    vm.state, vm.exits = state, exits


def _given(vm: Machine, found: list[Value]) -> Value:
    """One value for those handed out; objects are of the state that was left."""
    plain = bool(found) and all(_is_plain(each) for each in found)
    return join_many(vm, list(dict.fromkeys(found))) if plain else vm.opaque("handed out")


def _is_plain(value: Value) -> bool:
    if isinstance(value, Tup):
        return all(map(_is_plain, value.items))
    return isinstance(value, Const | Num | Prim | Tensor)


SENDING: dict[str, Callable[[Machine, Arguments, ast.AST], Value]] = {
    "builtins.iterator.send": send,
    "builtins.next": next_,
}
