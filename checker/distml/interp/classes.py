"""Classes of the project: their records, method resolution order and definition."""

from __future__ import annotations

import ast
from collections import OrderedDict, defaultdict
from typing import TYPE_CHECKING, Any

from distml.interp.arguments import Arguments
from distml.interp.class_record import ClassRecord, Property
from distml.interp.library import MODULE_BASES, entry_of, is_module, library_bases, library_member
from distml.interp.machine import Frame
from distml.interp.scope import NESTED, scope_of
from distml.ops.python.lightning import HOLDERS
from distml.ops.registry import find_layer
from distml.values import Class, Const, Function, Lib, Opaque, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distml.interp.machine import Machine

HARMLESS_BASES = frozenset(
    {
        "builtins.object",
        "abc.ABC",
        "typing.Generic",
        "typing.Protocol",
        "torch.utils.data.Dataset",
        "torch.utils.data.IterableDataset",
        "torch.utils.data.Sampler",
        *HOLDERS,
        *MODULE_BASES,
    }
)
"""Library classes of which an instance has no shape-carrying attributes of its own."""

CONTAINERS: dict[str, type] = {
    "builtins.dict": dict,
    "collections.OrderedDict": OrderedDict,
    "collections.defaultdict": defaultdict,
    "builtins.list": list,
}
"""Built-in classes whose objects hold items; an object of a class derived from one has them in `__items__`."""

_ABSTRACT = Lib("abc.ABCMeta")
COPY = Lib("dataclasses.replace")
"""The function that some classes have as the method `replace`."""


def define_class(vm: Machine, node: ast.ClassDef) -> Value:
    """Run a class statement; the class it makes."""
    bases = tuple(vm.language.evaluate(vm, base) for base in node.bases if not isinstance(base, ast.Starred))
    metaclass = [vm.language.evaluate(vm, k.value) for k in node.keywords if k.arg in ("metaclass", None)]
    inherited = [vm.at(base.address).metaclass for base in bases if isinstance(base, Class)]
    module = vm.frame.module
    record = ClassRecord(
        node.name, node, module.name, bases=bases, metaclass=next(filter(None, metaclass + inherited), None)
    )
    address = vm.allocate(record).address
    cls = Class(address, node.name)
    record.mro = (cls, *_linearize(vm, bases), *((None,) if metaclass not in ([], [_ABSTRACT]) else ()))
    record.attrs = _run_body(vm, node, address)
    _special_kind(vm, node, record, cls)
    _tell(vm, node, record, cls)
    return vm.language.decorate_class(vm, node, record, cls)


def _linearize(vm: Machine, bases: Sequence[Value]) -> list[Value | None]:
    """The resolution order behind the class itself (C3)."""
    orders: list[list[Value | None]] = []
    for base in bases:
        if isinstance(base, Class):
            orders.append(list(vm.at(base.address).mro))
        elif isinstance(base, Lib):
            orders.append(_library_order(base))
        else:
            orders.append([None])
    heads: list[Value | None] = [order[0] for order in orders]
    return _merge([*orders, heads])


def is_known_base(name: str) -> bool:
    """Whether nothing of a library class that shapes depend on is out of sight."""
    return name in HARMLESS_BASES or name in KINDS or name in CONTAINERS or find_layer(name) is not None


def _library_order(base: Lib) -> list[Value | None]:
    return [base] if is_known_base(base.name) else [base, None]


def _merge(orders: list[list[Value | None]]) -> list[Value | None]:
    result: list[Value | None] = []
    orders = [list(order) for order in orders if order]
    while orders:
        for order in orders:
            head = order[0]
            if head is None or not any(head in other[1:] for other in orders):
                break
        else:
            return [*result, None]
        result.append(head)
        orders = [o for o in ([x for x in order if x != head] for order in orders) if o]
    return result


def _run_body(vm: Machine, node: ast.ClassDef, address: int) -> dict[str, Value]:
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
    return found


def _in_order(node: ast.ClassDef, names: set[str]) -> list[str]:
    """The names a class body binds, as they are bound first."""
    first: dict[str, int] = {}
    parts = (part for each in node.body for part in ([each] if isinstance(each, NESTED) else ast.walk(each)))
    for position, part in enumerate(parts):
        name = part.id if isinstance(part, ast.Name) else getattr(part, "name", None)
        if isinstance(name, str):
            first.setdefault(name, position)
    return sorted(names, key=lambda name: (first.get(name, -1), name))


def _tell(vm: Machine, node: ast.ClassDef, record: ClassRecord, cls: Class) -> None:
    """Run what Python runs when a class is made: `__set_name__` of its attributes, `__init_subclass__` of a base."""
    from distml.values import InstanceRecord, Ref

    for name, member in list(record.attrs.items()):
        made = vm.record(member) if isinstance(member, Ref) else None
        if isinstance(made, InstanceRecord) and isinstance(made.cls, Class):
            hook, _ = lookup(vm, vm.at(made.cls.address).mro, "__set_name__")
            if isinstance(hook, Function):
                vm.language.call_value(vm, hook, Arguments([member, cls, Const(name)]), node)
    hook, _ = lookup(vm, record.mro[1:], "__init_subclass__")
    if isinstance(hook, Function):
        keywords = {k.arg: vm.language.evaluate(vm, k.value) for k in node.keywords if k.arg not in (None, "metaclass")}
        vm.language.call_value(vm, hook, Arguments([cls], {key: value for key, value in keywords.items() if key}), node)


_NUMBERS = frozenset({"enum.IntEnum", "enum.IntFlag", "builtins.int"})
"""Members of enumerations that derive from one of these are numbers."""
_FLAGS = frozenset({"enum.Flag", "enum.IntFlag"})
KINDS = {
    "enum.Enum": "enum",
    "enum.IntEnum": "enum",
    "enum.StrEnum": "enum",
    "enum.Flag": "enum",
    "enum.IntFlag": "enum",
    "typing.NamedTuple": "namedtuple",
    "typing.TypedDict": "typeddict",
    "typing_extensions.TypedDict": "typeddict",
}


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
    from distml.values import InstanceRecord

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


def lookup(vm: Machine, mro: tuple[Value | None, ...], name: str) -> tuple[Value | None, bool]:
    """The class attribute `name` along an order, and whether an unknown base came first."""
    for base in mro:
        if base is None:
            return None, True
        if isinstance(base, Class):
            if vm.patches.redefines(base.name, name):
                return None, True
            found = vm.at(base.address).attrs.get(name)
            if found is not None:
                return found, False
        elif isinstance(base, Lib):
            member = library_member(base.name, name)
            container = CONTAINERS.get(base.name)
            if container is not None and hasattr(container, name):
                return (None, True) if member is None else (Lib(member), False)
            if member is not None:
                known = (is_module((base,)) or base.name in HOLDERS) and not vm.patches.has(member)
                return (Lib(member), False) if known else (None, True)
    return None, False


def container_of(mro: tuple[Value | None, ...]) -> str | None:
    """The built-in container that a class is derived from, None where there is none."""
    return next((base.name for base in mro if isinstance(base, Lib) and base.name in CONTAINERS), None)


def entry(mro: tuple[Value | None, ...]) -> str:
    """The method that calling an instance runs: "call" for Keras, else "forward"."""
    return next((found for base in mro if isinstance(base, Lib) and (found := entry_of(base.name))), "forward")


def library_trait(mro: tuple[Value | None, ...], name: str) -> Any:
    """What the rules of the first library base that says so have under a name: `fields`, `prepare`; None where none does."""
    rules = (find_layer(name) for base in mro if isinstance(base, Lib) for name in library_bases(base.name))
    return next((found for rule in rules if (found := getattr(rule, name, None)) is not None), None)
