"""What models of pydantic keep of what they are given: https://docs.pydantic.dev/latest/concepts/models/

A field keeps what its annotation asks for as it is, and a dict where it asks for another model becomes that model. What
else validation makes of a value is not known.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.calls import call_value, unknown_call
from distml.interp.imports import resolve_import
from distml.interp.library import PYDANTIC
from distml.values import NONE, Class, Const, DictRecord, Imported, InstanceRecord, Lib, ListRecord, Ref, Tup, Value

if TYPE_CHECKING:
    from distml.interp.class_record import ClassRecord
    from distml.interp.machine import Machine

VALIDATING = frozenset({"field_validator", "model_validator", "validator", "root_validator", "model_post_init"})
"""What may change what a model of pydantic is given: decorators, and a method."""
_PLAIN: dict[str, type] = {"int": int, "str": str, "bool": bool, "float": float}
_LISTS = frozenset({"list", "List"})
_TUPLES = frozenset({"tuple", "Tuple"})


def given_to_model(vm: Machine, record: ClassRecord, arguments: Arguments) -> dict[str, Value] | None:
    """What a model of pydantic keeps of its keywords, as far as that is known. None if code of its own may change any field."""
    classes = [vm.at(base.address) for base in record.mro if isinstance(base, Class)]
    if not _is_model(record):
        return {}
    texts = {
        each.attr if isinstance(each, ast.Attribute) else each.id if isinstance(each, ast.Name) else each.name
        for cls in classes
        for each in ast.walk(cls.node)
        if isinstance(each, ast.Attribute | ast.Name | ast.FunctionDef)
    }
    if not texts.isdisjoint(VALIDATING):
        return None
    found: dict[str, Value] = {}
    for cls in classes[::-1]:
        for statement in cls.node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                given = arguments.kwargs.get(statement.target.id)
                kept = None if given is None else _kept(vm, cls, statement.annotation, given)
                found.pop(statement.target.id, None)
                if kept is not None:
                    found[statement.target.id] = kept
    return found


def _is_model(record: ClassRecord) -> bool:
    first = next((base for base in record.mro if not isinstance(base, Class)), None)
    return isinstance(first, Lib) and first.name in PYDANTIC


def _kept(vm: Machine, cls: ClassRecord, asked: ast.expr, given: Value) -> Value | None:
    """What becomes of a value where an annotation asks for something; None where that is not known."""
    if isinstance(asked, ast.BinOp) and isinstance(asked.right, ast.Constant) and asked.right.value is None:
        return given if given == NONE else _kept(vm, cls, asked.left, given)
    if isinstance(asked, ast.Subscript) and isinstance(asked.value, ast.Name):
        return _within(vm, cls, asked.value.id, asked.slice, given)
    if not isinstance(asked, ast.Name):
        return None
    if asked.id in _PLAIN:
        return given if isinstance(given, Const) and type(given.value) is _PLAIN[asked.id] else None
    return _of_model(vm, cls, asked.id, given)


def _within(vm: Machine, cls: ClassRecord, whole: str, part: ast.expr, given: Value) -> Value | None:
    """`Optional[X]`, `list[X]`, `tuple[X, ...]`: a list may be given for a tuple, and a tuple for a list."""
    if whole == "Optional":
        return given if given == NONE else _kept(vm, cls, part, given)
    record = vm.record(given) if isinstance(given, Ref) else None
    items = given.items if isinstance(given, Tup) else record.items if isinstance(record, ListRecord) else None
    if whole in _TUPLES:
        endless = isinstance(part, ast.Tuple) and len(part.elts) == 2 and isinstance(part.elts[1], ast.Constant)
        part = part.elts[0] if endless and isinstance(part, ast.Tuple) else ast.Tuple([])
    if items is None or whole not in _LISTS | _TUPLES:
        return None
    kept = [_kept(vm, cls, part, item) for item in items]
    known = tuple(each for each in kept if each is not None)
    if len(known) < len(kept):
        return None
    return Tup(known) if whole in _TUPLES else vm.allocate(ListRecord(known))


def _of_model(vm: Machine, cls: ClassRecord, name: str, given: Value) -> Value | None:
    """An object of another model, or the one that a dict is made into."""
    info = vm.modules.get(cls.module) or vm.main
    model = None if info is None else vm.variable(info.frame.ident, name)
    model = resolve_import(vm, model) if isinstance(model, Imported) else model
    return _made_into(vm, model, given)


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
