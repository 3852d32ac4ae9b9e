"""Classes of `enum`: what their bodies assign are members, made by `__new__` and filled by `__init__`.

https://docs.python.org/3/howto/enum.html#when-to-use-new-vs-init
"""

from __future__ import annotations

import ast
from itertools import takewhile
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.class_record import ClassRecord, Property
from distml.interp.classes import KINDS, lookup
from distml.interp.instances import initialize
from distml.interp.scope import own_parts
from distml.ops.python.enumerations import FLAGS
from distml.ops.python.keys import canonical
from distml.values import Class, Const, Function, InstanceRecord, Lib, ListRecord, Ref, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distml.interp.frames import Frame
    from distml.interp.machine import Machine

AUTOMATIC = Lib("enum.auto()")
"""What `auto()` gives: the body of the class puts a number in its place."""
_NUMBERS = frozenset({"enum.IntEnum", "enum.IntFlag", "builtins.int"})
"""Members of enumerations that derive from one of these are numbers."""
MAX_BITS = 6
"""Flags of more members than this are not told apart where several make one."""


def is_enumeration(vm: Machine, mro: Iterable[Value | None]) -> bool:
    """Whether a class of these bases has members."""
    return any(
        KINDS.get(base.name) == "enum"
        if isinstance(base, Lib)
        else isinstance(base, Class) and vm.at(base.address).kind == "enum"
        for base in mro
    )


def automatic(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`enum.auto()`."""
    return AUTOMATIC


# --- the body --------------------------------------------------------------------------


class Numbering:
    """Puts numbers in the place of `auto()` while the body of a class runs."""

    def __init__(self, vm: Machine, frame: Frame, record: ClassRecord) -> None:
        self.frame = frame
        self.record = record
        self.bases = frozenset(base.name for base in record.mro if isinstance(base, Lib))
        self.given: list[Value] = []

    def assigned(self, vm: Machine, statement: ast.stmt) -> None:
        """A statement of the body has run."""
        for name in _bound([statement]):
            value = vm.variable(self.frame.ident, name)
            if value is None or not _is_member(name, value):
                continue
            if value == AUTOMATIC:
                value = self._next(vm, name)
            elif isinstance(value, Tup) and AUTOMATIC in value.items:
                value = Tup(tuple(self._next(vm, name) if each == AUTOMATIC else each for each in value.items))
            vm.assign(self.frame.ident, name, value)
            self.given.append(value)

    def _next(self, vm: Machine, name: str) -> Value:
        own = vm.variable(self.frame.ident, "_generate_next_value_")
        own = own or lookup(vm, self.record.mro, "_generate_next_value_")[0]
        if isinstance(own, Function):
            last = vm.allocate(ListRecord(tuple(self.given)))
            return vm.language.call_value(
                vm, own, Arguments([Const(name), Const(1), Const(len(self.given)), last]), vm.node
            )
        numbers = [each.value for each in self.given if isinstance(each, Const) and type(each.value) is int]
        if own is not None or None in self.record.mro[:-1]:
            return vm.opaque("auto()")
        if "enum.StrEnum" in self.bases:
            return Const(name.lower())
        # Which one counts, the last or the largest, depends on the version of Python.
        if len(numbers) < len(self.given) or (numbers and numbers[-1] != max(numbers)):
            return vm.opaque("auto()")
        largest = max(numbers, default=0)
        return Const(1 << largest.bit_length() if not self.bases.isdisjoint(FLAGS) else largest + 1)


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    """The names that a body assigns, in no class or function of its own."""
    for part in own_parts(body):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


def _is_member(name: str, value: Value) -> bool:
    """Whether a name of the body becomes a member: not one that is reserved or private, nor a function."""
    return not (name.startswith("__") or (name.startswith("_") and name.endswith("_"))) and not isinstance(
        value, Function | Property | Class
    )


# --- the members -----------------------------------------------------------------------


def make_members(vm: Machine, node: ast.ClassDef, record: ClassRecord, cls: Class) -> None:
    """Make the members of a class whose body has run; what has the value of one before it is another name of that one."""
    assigned = set(_bound(node.body)) - {name for name, value in record.attrs.items() if not _is_member(name, value)}
    written = {name: value for name, value in record.attrs.items() if name in assigned}
    ignored = record.attrs.get("_ignore_", Const(""))
    left_out = ignored.value.split() if isinstance(ignored, Const) and isinstance(ignored.value, str) else assigned
    written = {name: value for name, value in written.items() if name not in left_out}
    members: dict[Value, Ref] = {}
    for name, value in written.items():
        member = _made(vm, record, cls, name, value, node)
        made = vm.record(member)
        assert isinstance(made, InstanceRecord)
        held = made.attrs["_value_"]
        record.attrs[name] = members.setdefault(canonical(vm, held) or held, member)
        _note_number(vm, record, member, held)
    record.members = tuple(members.values())
    if any(isinstance(base, Lib) and base.name in FLAGS for base in record.mro):
        _combine(vm, record, cls, members)


def _note_number(vm: Machine, record: ClassRecord, member: Ref, held: Value) -> None:
    number = isinstance(held, Const) and type(held.value) is int
    if number and not _NUMBERS.isdisjoint(base.name for base in record.mro if isinstance(base, Lib)):
        vm.numbered[member] = held


def _made(vm: Machine, record: ClassRecord, cls: Class, name: str, value: Value, node: ast.AST) -> Ref:
    """One member: its value is what is written, unless `__new__` or `__init__` sets another one."""
    given = Arguments(list(value.items) if isinstance(value, Tup) else [value])
    new, _ = lookup(vm, record.mro, "__new__")
    made = vm.language.call_value(vm, new, given.after(cls), node) if isinstance(new, Function) else None
    before = vm.record(made) if isinstance(made, Ref) else None
    own = isinstance(before, InstanceRecord) and before.cls == cls
    attrs = dict(before.attrs) if isinstance(before, InstanceRecord) and own else {}
    unseen = new is not None and not own
    data = any(vm.at(base.address).fields is not None for base in record.mro[1:] if isinstance(base, Class))
    held = attrs.get("_value_", vm.opaque("value") if unseen or data else value)
    attrs |= {"name": Const(name), "_name_": Const(name), "value": held, "_value_": held}
    member = vm.allocate(InstanceRecord(cls, attrs, not unseen))
    # What a library's class does with them changes nothing here.
    initialize(vm, member, takewhile(lambda base: isinstance(base, Class), record.mro), given, node)
    after = vm.record(member)
    if isinstance(after, InstanceRecord) and after.attrs.get("_value_", held) != held:
        vm.replace(member, after.having({"value": after.attrs["_value_"]}))
    return member


def _combine(vm: Machine, record: ClassRecord, cls: Class, members: dict[Value, Ref]) -> None:
    """The members of a flag are its single bits; numbers that several of them make are members without a name."""
    numbers = {
        key.value: member for key, member in members.items() if isinstance(key, Const) and type(key.value) is int
    }
    single = {number: member for number, member in numbers.items() if number > 0 and number & (number - 1) == 0}
    record.members = tuple(single.values())
    mask = 0
    for number in numbers:
        mask |= number
    if len(numbers) < len(members) or min(numbers, default=0) < 0 or mask.bit_count() > MAX_BITS:
        return
    if mask != sum(single):
        return
    number = mask
    while True:
        record.composites[number] = numbers.get(number) or _nameless(vm, record, cls, number)
        if number == 0:
            return
        number = (number - 1) & mask


def _nameless(vm: Machine, record: ClassRecord, cls: Class, number: int) -> Ref:
    held, name = Const(number), vm.opaque("name")
    member = vm.allocate(InstanceRecord(cls, {"name": name, "_name_": name, "value": held, "_value_": held}))
    _note_number(vm, record, member, held)
    return member
