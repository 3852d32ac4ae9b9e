"""What models of pydantic keep of what they are given: https://docs.pydantic.dev/latest/concepts/models/

A field keeps what its annotation asks for as it is, and a dict where it asks for another model becomes that model. Of a
union that is the member that takes just this value, or the only one that does not refuse it
(https://docs.pydantic.dev/latest/concepts/unions/). What else validation makes of a value is not known.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from distml.interp.arguments import Arguments
from distml.interp.calls import call_value, unknown_call
from distml.interp.imports import resolve_import
from distml.interp.library import PYDANTIC
from distml.source.bindings import last_name
from distml.values import (
    NONE,
    Class,
    Const,
    DictRecord,
    Imported,
    InstanceRecord,
    Lib,
    ListRecord,
    Record,
    Ref,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distml.interp.class_record import ClassRecord
    from distml.interp.machine import Machine

VALIDATING = frozenset({"field_validator", "model_validator", "validator", "root_validator", "model_post_init"})
"""What may change what a model of pydantic is given: decorators, and a method."""
_RENAMING = frozenset({"alias", "validation_alias", "model_config", "Config"})
"""Where one of these is mentioned a field may have another name in what is given."""
_PLAIN: dict[str, type] = {"int": int, "str": str, "bool": bool, "float": float}
_LISTS = frozenset({"list", "List"})
_TUPLES = frozenset({"tuple", "Tuple"})
_FIELD = frozenset({"pydantic.Field", "pydantic.fields.Field"})


class Asked(NamedTuple):
    """An annotation in a module, and the aliases that led to it."""

    vm: Machine
    module: str
    node: ast.expr
    through: frozenset[str] = frozenset()

    def part(self, node: ast.expr) -> Asked:
        """A part of it."""
        return self._replace(node=node)

    def named(self, name: str) -> Value | None:
        """What a name means in the module."""
        info = self.vm.modules.get(self.module) or self.vm.main
        found = None if info is None else self.vm.variable(info.frame.ident, name)
        return resolve_import(self.vm, found) if isinstance(found, Imported) else found

    def resolved(self) -> Asked:
        """What an alias stands for, and `X` of `Annotated[X, Field(...)]`."""
        node, within = self.node, None
        if isinstance(node, ast.Name) and node.id not in self.through:
            within = self._alias(node.id)
        if (
            isinstance(node, ast.Subscript)
            and last_name(node.value) == "Annotated"
            and isinstance(node.slice, ast.Tuple)
        ):
            first, *said = node.slice.elts
            plain = all(isinstance(each, ast.Call) and self._is_field(each.func) for each in said)
            within = self.part(first) if plain else None
        return self if within is None else within.resolved()

    def members(self) -> list[Asked]:
        """The members of a union, none of anything else."""
        node = self.node
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return [self.part(node.left), self.part(node.right)]
        whole = last_name(node.value) if isinstance(node, ast.Subscript) else ""
        if isinstance(node, ast.Subscript) and whole == "Optional":
            return [self.part(node.slice), self.part(ast.Constant(None))]
        if isinstance(node, ast.Subscript) and whole == "Union" and isinstance(node.slice, ast.Tuple):
            return [self.part(each) for each in node.slice.elts]
        return []

    def literals(self) -> list[object] | None:
        """The constants of `Literal[...]`, None for anything else."""
        node = self.node
        if not isinstance(node, ast.Subscript) or last_name(node.value) != "Literal":
            return None
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        known: list[object] = [each.value for each in parts if isinstance(each, ast.Constant)]
        return known if len(known) == len(parts) else None

    def _is_field(self, node: ast.expr) -> bool:
        found = self.named(node.id) if isinstance(node, ast.Name) else None
        return isinstance(found, Lib) and found.name in _FIELD

    def _alias(self, name: str) -> Asked | None:
        """The expression that a module gives a name, if it does so once."""
        info = self.vm.modules.get(self.module) or self.vm.main
        given = [] if info is None else [each for each in info.source.tree.body if name in _bound(each)]
        value = getattr(given[0], "value", None) if len(given) == 1 else None
        return None if value is None else self._replace(node=value, through=self.through | {name})


def _bound(statement: ast.stmt) -> list[str]:
    """The names that an assignment, or the definition of an alias, gives a value."""
    if isinstance(statement, ast.Assign):
        return [last_name(each) for each in statement.targets]
    if isinstance(statement, ast.AnnAssign):
        return [last_name(statement.target)]
    return [last_name(statement.name)] if type(statement).__name__ == "TypeAlias" else []  # type: ignore[attr-defined]


def given_to_model(vm: Machine, record: ClassRecord, arguments: Arguments) -> dict[str, Value] | None:
    """What a model of pydantic keeps of its keywords, as far as that is known. None if code of its own may change any field."""
    if not _is_model(record):
        return {}
    if not _texts(vm, record).isdisjoint(VALIDATING):
        return None
    found: dict[str, Value] = {}
    for name, asked, _ in _fields(vm, record):
        given = arguments.kwargs.get(name)
        kept = None if given is None else _kept(asked, given)
        found.pop(name, None)
        if kept is not None:
            found[name] = kept
    return found


def _classes(vm: Machine, record: ClassRecord) -> list[ClassRecord]:
    return [vm.at(base.address) for base in record.mro if isinstance(base, Class)]


def _texts(vm: Machine, record: ClassRecord) -> set[str]:
    """The names that a model mentions."""
    nodes = [each for cls in _classes(vm, record) for each in ast.walk(cls.node)]
    said = {each.name if isinstance(each, ast.FunctionDef | ast.ClassDef) else "" for each in nodes}
    said |= {each.arg or "" for each in nodes if isinstance(each, ast.keyword)}
    return said | {last_name(each) for each in nodes if isinstance(each, ast.expr)}


def _fields(vm: Machine, record: ClassRecord) -> Iterator[tuple[str, Asked, bool]]:
    """The fields of a model, those of its bases first: what they ask for, and whether they have a default."""
    for cls in _classes(vm, record)[::-1]:
        for statement in cls.node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                asked = Asked(vm, cls.module, statement.annotation)
                yield statement.target.id, asked, statement.value is not None


def _is_model(record: ClassRecord) -> bool:
    first = next((base for base in record.mro if not isinstance(base, Class)), None)
    return isinstance(first, Lib) and first.name in PYDANTIC


def _kept(asked: Asked, given: Value) -> Value | None:
    """What becomes of a value where an annotation asks for something; None where that is not known."""
    asked = asked.resolved()
    members = asked.members()
    if members:
        open_ones = [each for each in members if not _refuses(each, given)]
        if any(_takes(each, given) for each in members):
            return given
        return _kept(open_ones[0], given) if len(open_ones) == 1 else None
    if isinstance(asked.node, ast.Subscript) and asked.literals() is None:
        return _within(asked, last_name(asked.node.value), asked.node.slice, given)
    if isinstance(given, Const):
        return given if _takes(asked, given) else None
    return _made_into(asked.vm, asked.named(last_name(asked.node)), given)


def _takes(asked: Asked, given: Value) -> bool:
    """Whether an annotation asks for just this constant, so that it stays as it is."""
    asked = asked.resolved()
    if not isinstance(given, Const):
        return False
    if isinstance(asked.node, ast.Constant) and asked.node.value is None:
        return given == NONE
    literals = asked.literals()
    if literals is not None:
        return any(type(each) is type(given.value) and each == given.value for each in literals)
    named = last_name(asked.node)
    return type(given.value) is _PLAIN.get(named) or any(_takes(each, given) for each in asked.members())


def _refuses(asked: Asked, given: Value) -> bool:
    """Whether what an annotation asks for can certainly not be made of a value."""
    asked = asked.resolved()
    record = asked.vm.record(given) if isinstance(given, Ref) else None
    if not isinstance(given, Const | Tup) and not isinstance(record, ListRecord | DictRecord | InstanceRecord):
        return False
    members, named = asked.members(), last_name(asked.node)
    if members:
        return all(_refuses(each, given) for each in members)
    if asked.literals() is not None or isinstance(asked.node, ast.Constant):
        return not _takes(asked, given)
    if isinstance(asked.node, ast.Subscript):
        return last_name(asked.node.value) in _LISTS | _TUPLES and isinstance(given, Const)
    if named in _PLAIN:
        return given == NONE or not isinstance(given, Const)
    return _model_refuses(asked.vm, asked.named(named), given, record)


def _model_refuses(vm: Machine, model: Value | None, given: Value, record: Record | None) -> bool:
    """Whether a model can certainly not be made of a value: a field without default is missing, or refuses its item."""
    if not isinstance(model, Class) or not _is_model(vm.at(model.address)):
        return False
    cls = vm.at(model.address)
    texts = _texts(vm, cls)
    if not texts.isdisjoint(VALIDATING):
        return False
    if isinstance(record, InstanceRecord):
        return isinstance(record.cls, Class) and model not in vm.at(record.cls.address).mro
    if not isinstance(record, DictRecord):
        return True
    missing = record.exact and texts.isdisjoint(_RENAMING)
    for name, asked, has_default in _fields(vm, cls):
        item = record.items.get(Const(name))
        if (item is None and missing and not has_default) or (item is not None and _refuses(asked, item)):
            return True
    return False


def _within(asked: Asked, whole: str, part: ast.expr, given: Value) -> Value | None:
    """`list[X]`, `tuple[X, ...]`: a list may be given for a tuple, and a tuple for a list."""
    vm = asked.vm
    record = vm.record(given) if isinstance(given, Ref) else None
    items = given.items if isinstance(given, Tup) else record.items if isinstance(record, ListRecord) else None
    if whole in _TUPLES:
        endless = isinstance(part, ast.Tuple) and len(part.elts) == 2 and isinstance(part.elts[1], ast.Constant)
        part = part.elts[0] if endless and isinstance(part, ast.Tuple) else ast.Tuple([])
    if items is None or whole not in _LISTS | _TUPLES:
        return None
    inner = Asked(vm, asked.module, part)
    kept = [_kept(inner, item) for item in items]
    known = tuple(each for each in kept if each is not None)
    if len(known) < len(kept):
        return None
    return Tup(known) if whole in _TUPLES else vm.allocate(ListRecord(known))


def validate(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`Model.model_validate(value)`."""
    plain = len(arguments.args) == 2 and not arguments.kwargs and not arguments.open
    made = _made_into(vm, *arguments.args) if plain else None
    return unknown_call(vm, arguments, node) if made is None else made


def _made_into(vm: Machine, model: Value | None, given: Value) -> Value | None:
    if not isinstance(model, Class) or not _is_model(vm.at(model.address)):
        return None
    record = vm.record(given) if isinstance(given, Ref) else None
    if isinstance(record, InstanceRecord):
        return given if isinstance(record.cls, Class) and model in vm.at(record.cls.address).mro else None
    if not isinstance(record, DictRecord) or not record.exact or record.items is None:
        return None
    names = {
        key.value: value for key, value in record.items.items() if isinstance(key, Const) and isinstance(key.value, str)
    }
    return call_value(vm, model, Arguments([], names)) if len(names) == len(record.items) else None
