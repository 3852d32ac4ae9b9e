"""What a program asks of its own functions and classes: their parameters, the fields of a class.

https://docs.python.org/3/library/inspect.html and https://docs.python.org/3/library/dataclasses.html
"""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING, NamedTuple

from distml.interp.classes import lookup
from distml.interp.expressions import evaluate
from distml.interp.fields import FIELDS, FieldDefault, asked
from distml.ops.call import FALSE, NONE, TRUE
from distml.ops.python.comparing import KINDS, NO_DEFAULT, NO_FIELD_DEFAULT
from distml.ops.registry import find_layer
from distml.values import (
    Bound,
    Class,
    Const,
    DictRecord,
    Function,
    InstanceRecord,
    Lib,
    ListRecord,
    Num,
    Prim,
    Ref,
    SetRecord,
    Tensor,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.arguments import Arguments
    from distml.interp.class_record import ClassRecord
    from distml.interp.machine import Machine

REST = "_takes_rest"
"""The attribute of a parameter that says whether it is `*args` or `**kwargs`."""
PARTS = "_annotated"
"""The attribute of a parameter that holds the parts of its annotation if that is `Annotated[...]`."""
SIGNATURE, PARAMETER, FIELD = Lib("inspect.Signature"), Lib("inspect.Parameter"), Lib("dataclasses.Field")
_ANNOTATED = frozenset({"typing.Annotated", "typing_extensions.Annotated"})
_SHARED = ("Reflection", "Replication", "Circular", "Zero", "AdaptiveAvg", "AvgPool1d", "Parameter", "Module")
"""How layers are called of which the rule is one for several, some of which take more."""
_KINDS: dict[str, Value] = {name: Lib(f"inspect.Parameter.{name}") for name in KINDS}


class Asked(NamedTuple):
    """A parameter as it was written."""

    name: str
    kind: str
    default: Value | None = None
    annotation: ast.expr | None = None


def signature(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`inspect.signature(f)`: of a method that was read from an object, and of a class, without what they get first."""
    function, found = _parameters(vm, arguments.args[0] if arguments.args else NONE)
    if found is None:
        return vm.opaque(vm.snippet(node), vm.origin(node))
    items: dict[Value, Value] = {}
    for each in found:
        annotation, annotated = _annotation(vm, function, each.annotation)
        told = NO_DEFAULT if each.default is None else each.default
        attrs: dict[str, Value] = {
            "name": Const(each.name),
            "default": told,
            "annotation": annotation,
            PARTS: annotated,
        }
        attrs |= {**_KINDS, "kind": _KINDS[each.kind], REST: TRUE if each.kind.startswith("VAR") else FALSE}
        items[Const(each.name)] = vm.allocate(InstanceRecord(PARAMETER, attrs, exact=False))
    return vm.allocate(InstanceRecord(SIGNATURE, {"parameters": vm.allocate(DictRecord(items))}, exact=False))


def _full(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`inspect.getfullargspec(f)`: what a method gets first is among its arguments."""
    given = arguments.args[0] if arguments.args else NONE
    if isinstance(given, Class):
        given = lookup(vm, vm.at(given.address).mro, "__init__")[0] or NONE
    _, found = _parameters(vm, given.function if isinstance(given, Bound) else given)
    if found is None:
        return vm.opaque(vm.snippet(node), vm.origin(node))

    def named(*kinds: str) -> list[Asked]:
        return [each for each in found if each.kind in kinds]

    places = named("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD")
    defaults = tuple(each.default for each in places if each.default is not None)
    attrs: dict[str, Value] = {
        "args": vm.allocate(ListRecord(tuple(Const(each.name) for each in places))),
        "kwonlyargs": vm.allocate(ListRecord(tuple(Const(each.name) for each in named("KEYWORD_ONLY")))),
        "varargs": next((Const(each.name) for each in named("VAR_POSITIONAL")), NONE),
        "varkw": next((Const(each.name) for each in named("VAR_KEYWORD")), NONE),
        "defaults": Tup(defaults) if defaults else NONE,
    }
    return vm.allocate(InstanceRecord(Lib("inspect.FullArgSpec"), attrs, exact=False))


def _parameters(vm: Machine, asked_of: Value) -> tuple[Function | None, list[Asked] | None]:
    """The parameters that a function or class of the program is called with, and the function that takes them."""
    if isinstance(asked_of, Class):
        return _of_class(vm, asked_of)
    if isinstance(asked_of, Lib):
        return None, _of_layer(asked_of.name)
    function = asked_of.function if isinstance(asked_of, Bound) else asked_of
    if not isinstance(function, Function) or isinstance(function.node, ast.Lambda) or _wraps(function.node):
        return None, None
    found = _written(function)
    return function, found[1:] if isinstance(asked_of, Bound) and found else found


def _of_layer(name: str) -> list[Asked] | None:
    """The parameters of a layer of torch, which its rule has under the same names."""
    known = name.startswith("torch.nn.") and not name.removeprefix("torch.nn.").startswith(_SHARED)
    init = getattr(find_layer(name), "init", None) if known else None
    asked = [] if init is None else list(inspect.signature(init).parameters.values())[1:]
    if not asked or any(each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in asked):
        return None
    return [Asked(each.name, each.kind.name, None if each.default is each.empty else each.default) for each in asked]


def _of_class(vm: Machine, cls: Class) -> tuple[Function | None, list[Asked] | None]:
    record: ClassRecord = vm.at(cls.address)
    if record.kind != "class" or (record.metaclass is not None and isinstance(record.metaclass, Class)):
        return None, None
    if isinstance(lookup(vm, record.mro, "__new__")[0], Function):
        return None, None
    init, _ = lookup(vm, record.mro, "__init__")
    own = record.attrs.get("__init__")
    if record.fields is not None and own is None:
        return None, _of_fields(record)
    function, found = _parameters(vm, NONE if init is None else init)
    return function, found[1:] if found else None


def _of_fields(record: ClassRecord) -> list[Asked]:
    """The parameters of a constructor that is written for the fields of a class."""
    fields = dict(record.fields or ())
    found = []
    for name, field in asked(record.fields or ()).items():
        told = fields[field]
        default = told.value if isinstance(told, FieldDefault) else told
        named = isinstance(told, FieldDefault) and told.named
        if isinstance(told, FieldDefault) and told.factory is not None:
            default = Lib("dataclasses._HAS_DEFAULT_FACTORY")
        found.append(Asked(name, "KEYWORD_ONLY" if named else "POSITIONAL_OR_KEYWORD", default))
    return found


def _wraps(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function may stand for another one, whose parameters are told instead."""
    return any("wraps" in ast.dump(each) for each in node.decorator_list)


def _written(function: Function) -> list[Asked] | None:
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    if len(spec.kwonlyargs) != len(function.kw_defaults):
        return None
    defaults: list[Value | None] = [None] * (len(positional) - len(function.defaults)) + list(function.defaults)
    found = [
        Asked(
            each.arg, "POSITIONAL_ONLY" if each in spec.posonlyargs else "POSITIONAL_OR_KEYWORD", told, each.annotation
        )
        for each, told in zip(positional, defaults, strict=True)
    ]
    if spec.vararg is not None:
        found.append(Asked(spec.vararg.arg, "VAR_POSITIONAL", None, spec.vararg.annotation))
    found += [
        Asked(each.arg, "KEYWORD_ONLY", told, each.annotation)
        for each, told in zip(spec.kwonlyargs, function.kw_defaults, strict=True)
    ]
    if spec.kwarg is not None:
        found.append(Asked(spec.kwarg.arg, "VAR_KEYWORD", None, spec.kwarg.annotation))
    return found


def _annotation(vm: Machine, function: Function | None, node: ast.expr | None) -> tuple[Value, Tup]:
    """An annotation as a value, and what it consists of if it is `Annotated[...]`."""
    if node is None or function is None:
        return NO_DEFAULT if function is not None else vm.opaque("annotation"), Tup(())
    saved, vm.frame = vm.frame, vm.frame_of(function.frame)
    try:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            base = evaluate(vm, node.value)
            if isinstance(base, Lib) and base.name in _ANNOTATED:
                return vm.opaque("annotation"), Tup(tuple(_kind(vm, part) for part in node.slice.elts))
        return _kind(vm, node), Tup(())
    finally:
        vm.frame = saved


def _kind(vm: Machine, node: ast.expr) -> Value:
    """What an annotation stands for; `X[Y]` and `X | Y` are no classes."""
    if isinstance(node, ast.Subscript | ast.BinOp):
        return vm.allocate(InstanceRecord(Lib("types.GenericAlias"), {}, exact=False))
    return vm.opaque("annotation") if isinstance(node, ast.Constant) else evaluate(vm, node)


def _fields(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`dataclasses.fields(x)`: of a class or of an object of it."""
    given = arguments.args[0] if len(arguments.args) == 1 else NONE
    record = vm.record(given) if isinstance(given, Ref) else None
    cls = record.cls if isinstance(record, InstanceRecord) else given
    fields = vm.at(cls.address).fields if isinstance(cls, Class) else None
    if fields is None or not isinstance(cls, Class):
        return vm.opaque(vm.snippet(node), vm.origin(node))
    stored = [(name, told) for name, told in fields if getattr(told, "stored", True)]
    return Tup(tuple(_field(vm, vm.at(cls.address), name, told) for name, told in stored))


def _is_dataclass(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`dataclasses.is_dataclass(x)`: of a class or of an object of it."""
    given = arguments.args[0] if len(arguments.args) == 1 else NONE
    record = vm.record(given) if isinstance(given, Ref) else None
    cls = record.cls if isinstance(record, InstanceRecord) else given
    if not isinstance(cls, Class):
        plain = isinstance(given, Const | Num | Tensor | Tup) or isinstance(record, ListRecord | DictRecord | SetRecord)
        return FALSE if plain else Prim("bool")
    known = [vm.at(base.address).attrs if isinstance(base, Class) else None for base in vm.at(cls.address).mro]
    if any(attrs is not None and FIELDS in attrs for attrs in known):
        return TRUE
    return Prim("bool") if None in known else FALSE


def _field(vm: Machine, owner: ClassRecord, name: str, told: Value | None) -> Value:
    told = told if isinstance(told, FieldDefault) else FieldDefault(told)
    attrs: dict[str, Value] = {
        "name": Const(name),
        "default": told.value if told.value is not None and told.factory is None else NO_FIELD_DEFAULT,
        "default_factory": NO_FIELD_DEFAULT if told.factory is None else told.factory,
        "init": TRUE if told.in_init else FALSE,
        "type": _type_of_field(vm, owner, name),
    }
    return vm.allocate(InstanceRecord(FIELD, attrs, exact=False))


def _type_of_field(vm: Machine, owner: ClassRecord, name: str) -> Value:
    """The annotation of a field of this file if it is a built-in class that the file does not turn into text."""
    source = vm.frame.module.source
    text = any(line.startswith("from __future__ import annotations") for line in source.lines)
    for statement in owner.node.body if owner.module == vm.frame.module.name and not text else ():
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            kind = statement.annotation.id if isinstance(statement.annotation, ast.Name) else ""
            if statement.target.id == name and kind in _BUILT_IN:
                return Lib(f"builtins.{kind}")
    return vm.opaque("type")


_BUILT_IN = frozenset({"int", "float", "str", "bool", "list", "tuple", "dict"})

INTROSPECTION: dict[str, Callable[[Machine, Arguments, ast.AST], Value]] = {
    "inspect.signature": signature,
    "inspect.getfullargspec": _full,
    "dataclasses.fields": _fields,
    "dataclasses.is_dataclass": _is_dataclass,
}
"""Questions about functions and classes of the program that are answered."""
