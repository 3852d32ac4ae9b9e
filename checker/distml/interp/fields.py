"""The fields of classes whose constructor is written for them: dataclasses and attrs.

https://docs.python.org/3/library/dataclasses.html and https://www.attrs.org/en/stable/api.html; what models of pydantic
keep is `interp/validated`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.calls import call_value, unknown_call
from distml.ops.call import FALSE, TRUE
from distml.values import (
    NONE,
    Class,
    Const,
    DictRecord,
    InstanceRecord,
    ListRecord,
    Record,
    Ref,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from distml.interp.class_record import ClassRecord
    from distml.interp.machine import Machine

Fields = tuple[tuple[str, "Value | None"], ...]

ATTRS = frozenset(
    {
        *("attr.s", "attr.attrs", "attr.dataclass"),
        *(f"{module}.{name}" for module in ("attr", "attrs") for name in ("define", "mutable", "frozen")),
    }
)
FIELDS = "__dataclass_fields__"
"""What a dataclass has, by which it is known for one."""
DATACLASSES = frozenset({"dataclasses.dataclass", "flax.struct.dataclass"}) | ATTRS
MADE = frozenset({"attr.s", "attr.attrs"})
"""Of these, unless `auto_attribs` says so, only what a function makes is a field, whatever is annotated."""
AFTER = ("__post_init__", "__attrs_post_init__")
"""Methods that the constructor calls last."""
MAX_NESTED = 8
"""How deep objects within objects are turned into dicts."""


@dataclass(slots=True, unsafe_hash=True)
class FieldDefault(Value):
    """`dataclasses.field(...)`: a default, or a factory of one, or neither.

    Unless `in_init` the constructor does not take it; unless `stored` it only goes to `__post_init__`. It takes it as `alias`,
    if that is set, and never by its position if `named`. What is `converted` is not what was given.
    """

    value: Value | None = None
    factory: Value | None = None
    in_init: bool = True
    stored: bool = True
    named: bool = False
    alias: str = ""
    converted: bool = False
    compared: bool = True


def field_default(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`dataclasses.field(...)`, `attrs.field(...)`, `attr.ib(...)`."""
    given = arguments.kwargs
    default = given.get("default", arguments.args[0] if arguments.args else None)
    factory = given.get("default_factory", given.get("factory"))
    if factory == NONE:
        factory = None
    if default is None and factory is None:
        default = vm.opaque("field")
    alias = given.get("alias")
    return FieldDefault(
        default,
        factory,
        given.get("init") != FALSE,
        named=given.get("kw_only", FALSE) == TRUE,
        alias=alias.value if isinstance(alias, Const) and isinstance(alias.value, str) else "",
        converted=given.get("converter", NONE) != NONE,
        compared=given.get("compare", given.get("eq", TRUE)) == TRUE,
    )


def declare(vm: Machine, node: ast.ClassDef, record: ClassRecord, name: str, options: dict[str, Value]) -> None:
    """Set the fields of a class that has the decorator `name`, those of its bases first."""
    found: dict[str, Value | None] = {}
    for base in record.mro[:0:-1]:
        if isinstance(base, Class):
            found.update(vm.at(base.address).fields or ())
    own = own_fields(node, record)
    if name in ATTRS:
        annotated = {each for each, _ in own}
        made = _made(node, record)
        only = name in MADE and options.get("auto_attribs", FALSE) != TRUE
        if only or any(each not in annotated for each, _ in made):
            own = made
        own = tuple((each, _without_underscore(each, default)) for each, default in own)
    if options.get("kw_only", FALSE) != FALSE:
        own = tuple((each, replace(_field(default), named=True)) for each, default in own)
    found.update(own)
    for each, default in found.items():
        if isinstance(default, FieldDefault):
            if default.value is not None:
                record.attrs[each] = default.value
            else:
                record.attrs.pop(each, None)
    record.fields = tuple(found.items())
    if name not in ATTRS:
        record.attrs[FIELDS] = vm.opaque(FIELDS)


def own_fields(node: ast.ClassDef, record: ClassRecord) -> Fields:
    """The annotated fields of a class body with their defaults, in order."""
    found: list[tuple[str, Value | None]] = []
    named = False
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            annotation = ast.dump(statement.annotation)
            named = named or "KW_ONLY" in annotation
            if "ClassVar" in annotation or "KW_ONLY" in annotation:
                continue
            name = statement.target.id
            default = record.attrs.get(name) if statement.value is not None else None
            if "InitVar" in annotation:
                default = FieldDefault(default, stored=False)
            found.append((name, replace(_field(default), named=True) if named else default))
    return tuple(found)


def _made(node: ast.ClassDef, record: ClassRecord) -> Fields:
    """What a function such as `attr.ib` makes a field of, annotated or not."""
    names = [
        target.id
        for statement in node.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name)
    ]
    return tuple((name, record.attrs[name]) for name in names if isinstance(record.attrs.get(name), FieldDefault))


def _field(default: Value | None) -> FieldDefault:
    """A default as a field. One without is one that must be given, which the constructor asks for."""
    return default if isinstance(default, FieldDefault) else FieldDefault(default)


def _without_underscore(name: str, default: Value | None) -> Value | None:
    """attrs takes `_size` as `size`."""
    if not name.startswith("_") or (isinstance(default, FieldDefault) and default.alias):
        return default
    return replace(_field(default), alias=name.lstrip("_"))


def asked(fields: Fields, required_only: bool = False) -> dict[str, str]:
    """The names of the fields that the constructor takes (or must be given), by what it calls them."""
    found: dict[str, str] = {}
    for name, default in fields:
        told = default if isinstance(default, FieldDefault) else FieldDefault(default)
        if told.in_init and not (required_only and (told.value is not None or told.factory is not None)):
            found[told.alias or name] = name
    return found


def bind_fields(vm: Machine, fields: Fields, arguments: Arguments) -> dict[str, Value] | None:
    """The values of all fields; None where Python could not bind them."""
    taken = asked(fields)
    by_name = {name for name, default in fields if isinstance(default, FieldDefault) and default.named}
    places = [name for name in taken.values() if name not in by_name]
    if len(arguments.args) > len(places):
        return None
    bound = dict(zip(places, arguments.args, strict=False))
    for key, value in arguments.kwargs.items():
        if key not in taken or taken[key] in bound:
            return None
        bound[taken[key]] = value
    for name, default in fields:
        if name in bound:
            if isinstance(default, FieldDefault) and default.converted:
                bound[name] = vm.opaque(name)
        elif arguments.open and name in taken.values():
            bound[name] = vm.opaque(name)
        elif default is None or (isinstance(default, FieldDefault) and default.value is default.factory is None):
            return None
        else:
            bound[name] = _default(vm, name, default)
    return {name: bound[name] for name, _ in fields}


def _default(vm: Machine, name: str, default: Value) -> Value:
    if not isinstance(default, FieldDefault):
        return default
    if default.converted:
        return vm.opaque(name)
    if default.factory is not None:
        return call_value(vm, default.factory, Arguments([]))
    assert default.value is not None
    return default.value


def model_field(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`pydantic.Field(...)`: its default, which is not validated."""
    factory = arguments.kwargs.get("default_factory")
    if factory is not None:
        return call_value(vm, factory, Arguments([]), node)
    default = arguments.kwargs.get("default", arguments.args[0] if arguments.args else None)
    return vm.opaque("field") if default is None or default == Const(...) else default


def as_dict(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`dataclasses.asdict(x)`, `attrs.asdict(x)`: the fields by name, those of objects within it too."""
    given = arguments.args[0] if len(arguments.args) == 1 and not arguments.kwargs else None
    made = None if given is None else _plain(vm, given, MAX_NESTED)
    return made if isinstance(made, Ref) and made != given else unknown_call(vm, arguments, node)


def _plain(vm: Machine, value: Value, depth: int) -> Value:
    record: Record | None = vm.record(value) if isinstance(value, Ref) and depth else None
    if isinstance(value, Tup):
        return replace(value, items=tuple(_plain(vm, item, depth - 1) for item in value.items)) if depth else value
    if isinstance(record, ListRecord) and record.items is not None:
        return vm.allocate(ListRecord(tuple(_plain(vm, item, depth - 1) for item in record.items)))
    if isinstance(record, DictRecord) and record.items is not None:
        return vm.allocate(replace(record, items={k: _plain(vm, v, depth - 1) for k, v in record.items.items()}))
    if isinstance(record, InstanceRecord) and isinstance(record.cls, Class):
        fields = vm.at(record.cls.address).fields
        if fields is not None:
            stored = [n for n, default in fields if getattr(default, "stored", True)]
            items: dict[Value, Value] = {
                Const(n): _plain(vm, record.attrs.get(n) or vm.opaque(n), depth - 1) for n in stored
            }
            return vm.allocate(DictRecord(items))
    return value
