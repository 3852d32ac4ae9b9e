"""Class statements: the body is run, the metaclass makes the class, and those who want to know are told."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.class_record import ClassRecord, Property
from distml.interp.classes import KINDS, linearize
from distml.interp.frames import Frame
from distml.interp.metaclasses import made_by_metaclass
from distml.interp.scope import NESTED, scope_of
from distml.values import Class, Const, DictRecord, Function, InstanceRecord, Lib, Opaque, Ref, Tup, Value

if TYPE_CHECKING:
    from distml.interp.arguments import Arguments
    from distml.interp.machine import Machine


def define_class(vm: Machine, node: ast.ClassDef) -> Value:
    """Run a class statement; the class it makes."""
    bases = _bases(vm, node)
    keywords = {k.arg: vm.language.evaluate(vm, k.value) for k in node.keywords}
    told = [keywords.pop(name) for name in ("metaclass", None) if name in keywords]
    inherited = [vm.at(base.address).metaclass for base in bases if isinstance(base, Class)]
    record = ClassRecord(
        node.name, node, vm.frame.module.name, bases=bases, metaclass=next(filter(None, told + inherited), None)
    )
    address = vm.allocate(record).address
    cls = Class(address, node.name)
    record.mro = (cls, *linearize(vm, bases))
    record.attrs, record.sometimes = _run_body(vm, node, address)
    _special_kind(vm, node, record, cls)
    made_by_metaclass(vm, cls, {str(name): value for name, value in keywords.items()}, node)
    return vm.language.decorate_class(vm, node, vm.at(address), cls)


def _bases(vm: Machine, node: ast.ClassDef) -> tuple[Value, ...]:
    """What a class statement says that it derives from; something unknown stands for bases that are not known one by one."""
    found: list[Value] = []
    for base in node.bases:
        value = vm.language.evaluate(vm, base.value if isinstance(base, ast.Starred) else base)
        items = vm.iterate(value) if isinstance(base, ast.Starred) else (value,)
        found += items if isinstance(items, tuple) else [vm.opaque("bases")]
    return tuple(found)


def made_by_type(vm: Machine, arguments: Arguments, node: ast.AST) -> Value | None:
    """`type(name, bases, namespace)`: a class without a statement; None where one of them is not known."""
    name, bases, namespace = arguments.args
    held = vm.record(namespace) if isinstance(namespace, Ref) else None
    if not isinstance(name, Const) or not isinstance(bases, Tup) or not isinstance(held, DictRecord):
        return None
    told = {key.value: value for key, value in held.items.items() if isinstance(key, Const)}
    if not held.exact or len(told) < len(held.items) or not all(isinstance(base, Class | Lib) for base in bases.items):
        return None
    statement = getattr(node, _STATEMENT, None)
    if statement is None:
        statement = ast.ClassDef(str(name.value), bases=[], keywords=[], body=[], decorator_list=[])
        setattr(node, _STATEMENT, ast.copy_location(statement, node))
    metaclass = next((m for b in bases.items if isinstance(b, Class) and (m := vm.at(b.address).metaclass)), None)
    record = ClassRecord(str(name.value), statement, vm.frame.module.name, (), bases.items, told, metaclass=metaclass)
    cls = Class(vm.allocate(record).address, record.name)
    record.mro = (cls, *linearize(vm, bases.items))
    _special_kind(vm, statement, record, cls)
    made_by_metaclass(vm, cls, {}, statement)
    return cls if record.kind == "class" else None


_STATEMENT = "distml_statement"


def _run_body(vm: Machine, node: ast.ClassDef, address: int) -> tuple[dict[str, Value], tuple[str, ...]]:
    """The attributes that a class body sets, and which of them some paths set only."""
    frame = Frame(vm.serial(), node.name, scope_of(node), vm.frame.module, vm.frame)
    frame.owner = address
    frame.captured = True
    vm.open_frame(frame)
    vm.frame.captured = True
    outer, vm.frame = vm.frame, frame
    # The frame stands on the stack of calls for messages only.
    try:
        vm.language.execute_block(vm, node.body)
    finally:
        vm.frame = outer
    found: dict[str, Value] = {}
    for name in _in_order(node, frame.scope.locals):
        value = vm.variable(frame.ident, name)
        if value is not None:
            found[name] = value
    return found, tuple(sorted(frame.sometimes & found.keys()))


def _in_order(node: ast.ClassDef, names: set[str]) -> list[str]:
    """The names a class body binds, as they are bound first."""
    first: dict[str, int] = {}
    parts = (part for each in node.body for part in ([each] if isinstance(each, NESTED) else ast.walk(each)))
    for position, part in enumerate(parts):
        name = part.id if isinstance(part, ast.Name) else getattr(part, "name", None)
        if isinstance(name, str):
            first.setdefault(name, position)
    return sorted(names, key=lambda name: (first.get(name, -1), name))


_NUMBERS = frozenset({"enum.IntEnum", "enum.IntFlag", "builtins.int"})
"""Members of enumerations that derive from one of these are numbers."""
_FLAGS = frozenset({"enum.Flag", "enum.IntFlag"})


def _special_kind(vm: Machine, node: ast.ClassDef, record: ClassRecord, cls: Class) -> None:
    for base in record.mro[1:]:
        if isinstance(base, Lib) and base.name in KINDS:
            record.kind = KINDS[base.name]
            break
        if isinstance(base, Class) and vm.at(base.address).kind == "enum":
            record.kind = "enum"
    if record.kind == "namedtuple":
        record.fields = vm.language.own_fields(node, record)
    elif record.kind == "enum":
        _make_members(vm, node, record, cls)


def _make_members(vm: Machine, node: ast.ClassDef, record: ClassRecord, cls: Class) -> None:
    members: list[Value] = []
    number: int | None = 0
    written: dict[Value, Value] = {}
    for name, value in record.attrs.items():
        if name.startswith("_") or isinstance(value, Function | Property):
            continue
        if not _assigned_in(node, name):
            continue
        if value in written:  # a second name
            record.attrs[name] = written[value]
            continue
        as_written, value = value, _automatic(record, name, value, number)
        number = value.value if isinstance(value, Const) and type(value.value) is int else None
        attrs = {"name": Const(name), "value": value, "_value_": value}
        member = vm.allocate(InstanceRecord(cls, attrs))
        record.attrs[name] = written[as_written] = written[value] = member
        members.append(member)
        if number is not None and not _NUMBERS.isdisjoint(base.name for base in record.mro if isinstance(base, Lib)):
            vm.numbered[member] = value
    record.members = tuple(members)


def _automatic(record: ClassRecord, name: str, value: Value, last: int | None) -> Value:
    """What `auto()` stands for behind the number `last`."""
    if not isinstance(value, Opaque) or value.name not in ("auto()", "enum.auto()"):
        return value
    bases = {base.name for base in record.mro if isinstance(base, Lib)}
    if "_generate_next_value_" in record.attrs or any(base is None for base in record.mro[:-1]):
        return value
    if "enum.StrEnum" in bases:
        return Const(name.lower())
    if last is None:
        return value
    return Const(1 << last.bit_length() if bases & _FLAGS else last + 1)


def _assigned_in(node: ast.ClassDef, name: str) -> bool:
    return any(
        isinstance(target, ast.Name) and target.id == name
        for statement in node.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    )
