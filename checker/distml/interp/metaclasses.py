"""What a metaclass does when a class is made and when it is called.

https://docs.python.org/3/reference/datamodel.html#customizing-class-creation
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.class_record import ClassRecord, Property
from distml.interp.classes import linearize, lookup
from distml.ops.call import NONE
from distml.values import Bound, Class, Const, DictRecord, Function, InstanceRecord, Lib, Ref, Tup, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.machine import Machine

_PLAIN = frozenset({"builtins.type", "abc.ABCMeta"})
"""Metaclasses that add nothing that shapes depend on."""
_UNSEEN = (
    *("__bool__", "__contains__", "__eq__", "__getattr__", "__getattribute__", "__hash__", "__instancecheck__"),
    *("__iter__", "__len__", "__prepare__", "__setattr__", "__subclasscheck__"),
)
"""Methods of metaclasses that Python calls where nothing here looks for them."""
_MAKING = ("making",)
"""Under this key the store has the class whose statement is run."""


def followed(vm: Machine, metaclass: Value | None) -> tuple[Value | None, ...] | None:
    """The classes a metaclass consists of, its own first; None where they are not all in sight."""
    if metaclass is None or (isinstance(metaclass, Lib) and metaclass.name in _PLAIN):
        return ()
    if not isinstance(metaclass, Class):
        return None
    record: ClassRecord = vm.at(metaclass.address)
    known = all(isinstance(base, Class) or (isinstance(base, Lib) and base.name in _PLAIN) for base in _classes(record))
    return record.mro if known and not any(lookup(vm, record.mro, name)[0] for name in _UNSEEN) else None


def _classes(record: ClassRecord) -> list[Value | None]:
    """A resolution order without the end that says that something may follow, where the class before it is `type` itself."""
    order = list(record.mro)
    return order[:-1] if order[-1] is None and isinstance(order[-2], Lib) and order[-2].name in _PLAIN else order


def handed_metaclass(vm: Machine, node: ast.expr) -> tuple[Value | None, tuple[Value, ...]]:
    """The metaclass that a call is given, and what else it is given: what makes a class of them makes it by the metaclass.

    A function that is not followed has no other use for one: `with_metaclass(Meta, Base)` among the bases of a class,
    `@add_metaclass(Meta)` above it.
    """
    if not isinstance(node, ast.Call) or node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
        return None, ()
    given = [vm.language.evaluate(vm, each) for each in node.args]
    metaclass = next((each for each in given if _is_metaclass(vm, each)), None)
    return metaclass, tuple(each for each in given if each is not metaclass)


def _is_metaclass(vm: Machine, value: Value) -> bool:
    """Whether a value is a class of classes: it derives from `type`, or makes its objects of a name, bases and a namespace."""
    bases = vm.at(value.address).mro if isinstance(value, Class) else (value,)
    if any(isinstance(base, Lib) and base.name in _PLAIN for base in bases):
        return value != Lib("builtins.type")
    new = vm.at(value.address).attrs.get("__new__") if isinstance(value, Class) else None
    return isinstance(new, Function) and len(new.node.args.args) == _OF_NEW


_OF_NEW = len(("cls", "name", "bases", "namespace"))


def own_method(vm: Machine, metaclass: Value | None, name: str) -> Function | None:
    """A method that a metaclass of the program defines."""
    found = lookup(vm, followed(vm, metaclass) or (), name)[0]
    return found if isinstance(found, Function) else None


def of_class(vm: Machine, cls: Class, name: str) -> Value | None:
    """An attribute that a class has of its metaclass."""
    member = lookup(vm, followed(vm, vm.at(cls.address).metaclass) or (), name)[0]
    if isinstance(member, Property):
        return vm.language.call_value(vm, member.getter, Arguments([cls]))
    return Bound(member, cls) if isinstance(member, Function) else member


def of_super(vm: Machine, owner: int, receiver: Value, name: str) -> Value | None:
    """What `super()` gives in a method of a metaclass, which has got itself or a class that it makes; None elsewhere."""
    record = vm.at(receiver.address) if isinstance(receiver, Class) else None
    if record is None:
        return None
    for order in (_classes(record), followed(vm, record.metaclass) or ()):
        place = next((i for i, each in enumerate(order) if isinstance(each, Class) and each.address == owner), None)
        if place is None or not any(isinstance(each, Lib) and each.name in _PLAIN for each in order):
            continue
        for base in order[place + 1 :]:
            full = Lib(f"{base.name}.{name}") if isinstance(base, Lib) else None
            member = vm.at(base.address).attrs.get(name) if isinstance(base, Class) else full
            if isinstance(member, Function) or (isinstance(member, Lib) and member.name in METACLASSES):
                return member if name == "__new__" else Bound(member, receiver)
    return None


def made_by_metaclass(vm: Machine, cls: Class, keywords: dict[str, Value], node: ast.ClassDef) -> None:
    """Run what makes a class of what its statement says."""
    record: ClassRecord = vm.at(cls.address)
    new, init = (own_method(vm, record.metaclass, name) for name in ("__new__", "__init__"))
    if followed(vm, record.metaclass) is None:
        # Unless it is a base's, whose order says so already, nobody knows what it adds.
        record.mro = (*record.mro, *((None,) if None not in record.mro else ()))
        if _makes(vm, record.metaclass):
            record.attrs = {
                name: vm.opaque(name) if isinstance(member, Function) else member
                for name, member in record.attrs.items()
            }
    if new is None:
        _tell(vm, cls, keywords, node)
        made: Value = cls
    else:
        outer = vm.get(_MAKING)
        vm.put(_MAKING, cls)
        given = [record.metaclass or NONE, *_said(vm, record)]
        made = vm.language.call_value(vm, new, Arguments(given, keywords), node)
        vm.put(_MAKING, outer or NONE)
    if made != cls:
        vm.at(cls.address).mro = (*vm.at(cls.address).mro, None)
    elif init is not None:
        vm.language.call_value(vm, init, Arguments([cls, *_said(vm, vm.at(cls.address))], keywords), node)


def _makes(vm: Machine, metaclass: Value | None) -> bool:
    """Whether a metaclass, of which a part is not in sight, has code of its own that makes classes: it may wrap their methods."""
    own = vm.at(metaclass.address).mro if isinstance(metaclass, Class) else ()
    return any(isinstance(lookup(vm, own, name)[0], Function) for name in ("__new__", "__init__"))


def _said(vm: Machine, record: ClassRecord) -> list[Value]:
    """The name, the bases and the namespace of a class."""
    own: dict[Value, Value] = {Const(name): value for name, value in record.attrs.items()}
    return [Const(record.name), Tup(record.bases), vm.allocate(DictRecord(own))]


def _tell(vm: Machine, cls: Class, keywords: dict[str, Value], node: ast.AST) -> None:
    """Run what Python runs when a class is made: `__set_name__` of its attributes, `__init_subclass__` of a base."""
    record: ClassRecord = vm.at(cls.address)
    for name, member in list(record.attrs.items()):
        made = vm.record(member) if isinstance(member, Ref) else None
        if isinstance(made, InstanceRecord) and isinstance(made.cls, Class):
            hook, _ = lookup(vm, vm.at(made.cls.address).mro, "__set_name__")
            if isinstance(hook, Function):
                vm.language.call_value(vm, hook, Arguments([member, cls, Const(name)]), node)
    hook, _ = lookup(vm, record.mro[1:], "__init_subclass__")
    if isinstance(hook, Function):
        vm.language.call_value(vm, hook, Arguments([cls], keywords), node)


def _new_class(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`type.__new__(metaclass, name, bases, namespace)`: the class whose statement is run, of what it is now made of."""
    _, name, bases, namespace = (*arguments.args, *(NONE,) * 4)[:4]
    cls = vm.get(_MAKING)
    held = vm.record(namespace) if isinstance(namespace, Ref) else None
    if (
        not isinstance(cls, Class)
        or name != Const(cls.name)
        or not isinstance(bases, Tup)
        or not isinstance(held, DictRecord)
    ):
        return vm.opaque(vm.snippet(node))
    record: ClassRecord = vm.at(cls.address)
    record.attrs = {key.value: value for key, value in held.items.items() if isinstance(key, Const)}
    if bases.items != record.bases:
        record.bases = bases.items
        record.mro = (cls, *linearize(vm, bases.items))
    if not held.exact:
        record.mro = (*record.mro, None)
    _tell(vm, cls, arguments.kwargs, node)
    return cls


def _call(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`type.__call__(cls, ...)`: make an object of a class whose metaclass made something else of the call."""
    cls = arguments.args[0] if arguments.args else NONE
    rest = arguments.without_first()
    return vm.language.make(vm, cls, rest, node) if isinstance(cls, Class) else vm.opaque(vm.snippet(node))


METACLASSES: dict[str, Callable[[Machine, Arguments, ast.AST], Value]] = {
    **dict.fromkeys((f"{name}.__new__" for name in _PLAIN), _new_class),
    **dict.fromkeys((f"{name}.__init__" for name in _PLAIN), lambda vm, arguments, node: NONE),
    **dict.fromkeys((f"{name}.__call__" for name in _PLAIN), _call),
}
"""The methods of `type`, which the methods of metaclasses call."""
