"""Class statements: the body is run, the metaclass makes the class, and those who want to know are told."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.class_record import ClassRecord
from distml.interp.classes import KINDS, linearize
from distml.interp.enumerations import Numbering, is_enumeration, make_members
from distml.interp.frames import Frame
from distml.interp.metaclasses import handed_metaclass, made_by_metaclass
from distml.interp.scope import NESTED, scope_of
from distml.values import Class, Const, DictRecord, Lib, Opaque, Ref, Tup, Value

if TYPE_CHECKING:
    from distml.interp.arguments import Arguments
    from distml.interp.machine import Machine


def define_class(vm: Machine, node: ast.ClassDef) -> Value:
    """Run a class statement; the class it makes."""
    bases, given = _bases(vm, node)
    keywords = {k.arg: vm.language.evaluate(vm, k.value) for k in node.keywords}
    told = [*(keywords.pop(name) for name in ("metaclass", None) if name in keywords), *given]
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


def _bases(vm: Machine, node: ast.ClassDef) -> tuple[tuple[Value, ...], list[Value]]:
    """What a class statement says that it derives from, and metaclasses that are given to functions there
    (`with_metaclass(Meta, Base)`); something unknown stands for bases that are not known one by one.
    """
    found: list[Value] = []
    told: list[Value] = []
    for base in node.bases:
        value = vm.language.evaluate(vm, base.value if isinstance(base, ast.Starred) else base)
        items = vm.iterate(value) if isinstance(base, ast.Starred) else (value,)
        metaclass, others = handed_metaclass(vm, base) if isinstance(value, Opaque) else (None, ())
        if metaclass is not None:
            told.append(metaclass)
            found += others
        else:
            found += items if isinstance(items, tuple) else [vm.opaque("bases")]
    return tuple(found), told


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
    record: ClassRecord = vm.at(address)
    numbering = Numbering(vm, frame, record) if is_enumeration(vm, record.mro) else None
    try:
        for statement in node.body:
            vm.language.execute(vm, statement)
            if numbering is not None:
                numbering.assigned(vm, statement)
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


def _special_kind(vm: Machine, node: ast.ClassDef, record: ClassRecord, cls: Class) -> None:
    for base in record.mro[1:]:
        if isinstance(base, Lib) and base.name in KINDS:
            record.kind = KINDS[base.name]
            break
    if is_enumeration(vm, record.mro[1:]):
        record.kind = "enum"
    if record.kind == "namedtuple":
        record.fields = vm.language.own_fields(node, record)
    elif record.kind == "enum":
        make_members(vm, node, record, cls)
