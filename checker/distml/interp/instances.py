"""Making and calling objects."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from distml.interp.arguments import Arguments
from distml.interp.calls import accepts, call_op, call_value, layer_attributes, run_rule, unknown_call
from distml.interp.class_record import ClassRecord, Property
from distml.interp.classes import (
    CONTAINERS,
    container_of,
    entry,
    is_known_base,
    is_there_sometimes,
    library_trait,
    lookup,
)
from distml.interp.fields import AFTER, asked, bind_fields
from distml.interp.hooks import EVERYWHERE, call_hooked, hooks_of
from distml.interp.library import is_module, library_bases, library_member
from distml.interp.metaclasses import followed, own_method
from distml.interp.storage import APART, ITEMS
from distml.interp.validated import given_to_model
from distml.ops.call import TRUE
from distml.ops.dialect import library_of
from distml.ops.registry import BUILT, MADE, MANY, find_layer
from distml.ops.rules.widths import CHOSEN, weighed
from distml.values import (
    Class,
    Const,
    DictRecord,
    Function,
    InstanceRecord,
    Lib,
    ListRecord,
    Opaque,
    Ref,
    Tensor,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from distml.interp.machine import Machine
    from distml.ops.call import Call


def instantiate(vm: Machine, cls: Class, arguments: Arguments, node: ast.AST) -> Value:
    """Call a class of the project."""
    record: ClassRecord = vm.at(cls.address)
    if record.kind == "enum":
        return _enum_member(vm, record, arguments)
    if record.kind == "namedtuple" and record.fields is not None:
        return _named_tuple(vm, cls, record, arguments, node)
    if record.kind == "typeddict":
        return call_value(vm, Lib("builtins.dict"), arguments, node)
    call = own_method(vm, record.metaclass, "__call__")
    if call is not None:
        return call_value(vm, call, arguments.after(cls), node)
    if record.metaclass is not None and not _makes_plainly(vm, record.metaclass):
        return unknown_call(vm, arguments, node)
    return make(vm, cls, arguments, node)


def make(vm: Machine, cls: Class, arguments: Arguments, node: ast.AST) -> Value:
    """Make an object of a class, whatever its metaclass makes of a call, and initialize it."""
    record: ClassRecord = vm.at(cls.address)
    new, _ = lookup(vm, record.mro, "__new__")
    if isinstance(new, Function):
        return _by_own_means(vm, cls, new, arguments, node)
    ref = bare(vm, cls, node)
    if vm.flow is not None:
        vm.flow.built(ref, node)
    initialize(vm, ref, record.mro, arguments, node)
    return ref


def _makes_plainly(vm: Machine, metaclass: Value) -> bool:
    """Whether calling a class of a metaclass makes an object and initializes it, as `type` does."""
    if isinstance(metaclass, Class):
        return followed(vm, metaclass) is not None
    return isinstance(metaclass, Lib) and metaclass.name.partition(".")[0] in sys.stdlib_module_names


def bare(vm: Machine, cls: Class, node: ast.AST) -> Ref:
    """An object of a class whose constructor did not run yet."""
    record: ClassRecord = vm.at(cls.address)
    return vm.allocate(InstanceRecord(cls, _held(vm, record, node), not record.open))


def _by_own_means(vm: Machine, cls: Class, new: Function, arguments: Arguments, node: ast.AST) -> Value:
    """What the class's own `__new__` gives, initialized if it is an object of the class
    (https://docs.python.org/3/reference/datamodel.html#object.__new__)."""
    made = call_value(vm, new, arguments.after(cls), node)
    record = vm.record(made) if isinstance(made, Ref) else None
    if not isinstance(made, Ref) or not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class):
        return unknown_call(vm, arguments, node)
    owner: ClassRecord = vm.at(record.cls.address)
    if cls in owner.mro:
        initialize(vm, made, owner.mro, arguments, node)
    return made


def new_object(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`object.__new__(cls)`."""
    cls = arguments.args[0] if arguments.args else None
    kind = vm.at(cls.address).kind if isinstance(cls, Class) else None
    plain = kind == "enum" or (isinstance(cls, Class) and kind == "class" and None not in vm.at(cls.address).mro)
    return bare(vm, cls, node) if isinstance(cls, Class) and plain else unknown_call(vm, arguments, node)


def _held(vm: Machine, owner: ClassRecord, node: ast.AST) -> dict[str, Value]:
    """What an object derived from dict or list begins with."""
    base = container_of(owner.mro)
    return {} if base is None else {ITEMS: call_value(vm, Lib(base), Arguments([]), node), APART: TRUE}


def initialize(vm: Machine, ref: Ref, bases: Iterable[Value | None], arguments: Arguments, node: ast.AST) -> None:
    """Run the first constructor of an object that one of its bases has."""
    for base in bases:
        if isinstance(base, Class) and not vm.patches.redefines(base.name, "__init__"):
            owner: ClassRecord = vm.at(base.address)
            init = owner.attrs.get("__init__")
            if init is not None:
                call_value(vm, init, arguments.after(ref), node)
                return
            if owner.fields is not None:
                fill_fields(vm, ref, owner, arguments, node)
                return
        elif isinstance(base, Lib):
            initialize_library(vm, ref, base.name, arguments, node)
            return
        else:
            _made_out_of_sight(vm, ref, arguments, named=False)
            unknown_call(vm, arguments, node)
            return


def initialize_library(vm: Machine, ref: Ref, name: str, arguments: Arguments, node: ast.AST) -> None:
    """Run a library class's constructor on an object of a class derived from it."""
    if name in CONTAINERS:
        _fill(vm, ref, call_value(vm, Lib(name), arguments, node))
        return
    if find_layer(name) is None:
        if not is_known_base(name):
            _made_out_of_sight(vm, ref, arguments)
        return
    attrs = layer_attributes(vm, name, arguments, node)
    record = vm.record(ref)
    if not isinstance(record, InstanceRecord):
        return
    if attrs is None:
        _loosen(vm, ref)
    else:
        vm.replace(ref, record.having(attrs))


def _fill(vm: Machine, ref: Ref, made: Value) -> None:
    """The constructor of a built-in container: the object holds what such a container would."""
    record = vm.record(ref)
    items = record.attrs.get(ITEMS) if isinstance(record, InstanceRecord) else None
    held = vm.record(made) if isinstance(made, Ref) else None
    if isinstance(items, Ref) and held is not None:
        vm.replace(items, held)


def _made_out_of_sight(vm: Machine, ref: Ref, arguments: Arguments, named: bool = True) -> None:
    """A constructor that is not in sight may set what it is given: class data is only what an object begins with.

    Keywords of a library's class name the attributes that are set, as in classes of settings; what other arguments set
    nobody knows, nor what a class does that is not even `named`. Without arguments an object is held to be as its class says.
    """
    record = vm.record(ref)
    if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class):
        return
    given = given_to_model(vm, vm.at(record.cls.address), arguments)
    every = arguments.open or bool(arguments.args) or given is None or (not named and bool(arguments.kwargs))
    own = (vm.at(base.address).attrs for base in vm.at(record.cls.address).mro if isinstance(base, Class))
    data = {
        name for attrs in own for name, value in attrs.items() if not isinstance(value, Class | Function | Property)
    }
    unknown = {name: vm.opaque(name) for name in sorted(data) if every or name in arguments.kwargs}
    vm.replace(ref, InstanceRecord(record.cls, {**unknown, **(given or {}), **record.attrs}, False))


def _loosen(vm: Machine, ref: Ref) -> None:
    record = vm.record(ref)
    if isinstance(record, InstanceRecord):
        vm.replace(ref, replace(record, exact=False))


def fill_fields(vm: Machine, ref: Ref, owner: ClassRecord, arguments: Arguments, node: ast.AST) -> None:
    """The constructor that `@dataclass` writes, and `__post_init__`."""
    attrs = bind_fields(vm, owner.fields or (), arguments)
    if attrs is None:
        _loosen(vm, ref)
        return
    passing = [name for name, default in owner.fields or () if not getattr(default, "stored", True)]
    passed = [attrs.pop(name) for name in passing]
    record = vm.record(ref)
    if isinstance(record, InstanceRecord):
        vm.replace(ref, record.having(attrs))
    for name in AFTER:
        after = vm.attribute(ref, name)
        if after is not None and not isinstance(after, Opaque):
            call_value(vm, after, Arguments(passed), node)
    prepare, _ = lookup(vm, owner.mro, library_trait(owner.mro, "prepare") or "")
    if isinstance(prepare, Function):
        # The parts that a module of flax makes in `setup` are there whenever it runs.
        call_value(vm, prepare, Arguments([ref]), node)


def changed_copy(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`dataclasses.replace(instance, **changes)`: the constructor runs with the fields of the old one."""
    given = arguments.args[0] if len(arguments.args) == 1 else None
    record = vm.record(given) if isinstance(given, Ref) else None
    if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class) or arguments.open:
        return unknown_call(vm, arguments, node)
    fields = vm.at(record.cls.address).fields or ()
    kept = {key: record.attrs[name] for key, name in asked(fields).items() if name in record.attrs}
    return instantiate(vm, record.cls, Arguments([], {**kept, **arguments.kwargs}), node)


def _enum_member(vm: Machine, record: ClassRecord, arguments: Arguments) -> Value:
    """`Size(value)`: the member that has this value."""
    wanted = arguments.args[0] if len(arguments.args) == 1 else None
    for member in (*record.members, *record.composites.values(), *record.attrs.values()):
        entry = vm.record(member) if isinstance(member, Ref) else None
        if member == wanted or (
            isinstance(wanted, Const | Tup)
            and isinstance(entry, InstanceRecord)
            and entry.attrs.get("_value_") == wanted
        ):
            return member
    return vm.opaque(record.name)


def _named_tuple(vm: Machine, cls: Class, record: ClassRecord, arguments: Arguments, node: ast.AST) -> Value:
    bound = bind_fields(vm, record.fields or (), arguments)
    if bound is None:
        return unknown_call(vm, arguments, node)
    return Tup(tuple(bound.values()), record.name, tuple(bound), cls)


def call_instance(vm: Machine, ref: Ref, arguments: Arguments, node: ast.AST) -> Value:
    """Call an object: its `__call__`, or `forward` for an `nn.Module`."""
    record = vm.record(ref)
    if not isinstance(record, InstanceRecord) or vm.get(EVERYWHERE):
        return unknown_call(vm, arguments, node)
    if vm.flow is not None:
        return vm.flow.within(ref, node, lambda: _call_own(vm, ref, record, arguments, node))
    return _call_own(vm, ref, record, arguments, node)


def _call_own(vm: Machine, ref: Ref, record: InstanceRecord, arguments: Arguments, node: ast.AST) -> Value:
    """Run the `__call__` of an object's class, where it has one of its own."""
    mro = vm.at(record.cls.address).mro if isinstance(record.cls, Class) else ()
    method, _ = lookup(vm, mro, "__call__")
    if method is None or isinstance(method, Lib):
        return call_module(vm, ref, arguments, node)
    if not isinstance(method, Function) or is_there_sometimes(vm, mro, "__call__"):
        return unknown_call(vm, arguments.after(ref), node)
    return call_value(vm, method, arguments.after(ref), node)


def call_module(vm: Machine, ref: Ref, arguments: Arguments, node: ast.AST) -> Value:
    """Run a layer as the `__call__` of its library does: the hooks, and its `forward`."""
    record = vm.record(ref)
    if not isinstance(record, InstanceRecord):
        return unknown_call(vm, arguments, node)
    lists = hooks_of(record)
    if lists is None:
        return unknown_call(vm, arguments, node)
    if lists == [()]:
        return _call_bare(vm, ref, record, arguments, node)
    return call_hooked(vm, ref, lists, arguments, lambda given: _call_bare(vm, ref, record, given, node))


def _call_bare(vm: Machine, ref: Ref, record: InstanceRecord, arguments: Arguments, node: ast.AST) -> Value:
    """Call an object as if it had no hooks."""
    own = record.attrs.get("forward")
    if own is not None and "forward" in record.sometimes:
        return unknown_call(vm, arguments, node)
    if isinstance(record.cls, Lib):
        if own is not None:
            return call_value(vm, own, arguments, node)
        return call_layer(vm, ref, record.cls.name, arguments, node)
    if not isinstance(record.cls, Class):
        return unknown_call(vm, arguments, node)
    owner: ClassRecord = vm.at(record.cls.address)
    if not is_module(owner.mro):
        return unknown_call(vm, arguments, node)
    if own is not None:
        return call_value(vm, own, arguments, node)
    name = entry(owner.mro)
    if name == "call":
        arguments = _cast(vm, arguments)
        _build(vm, ref, owner, arguments, node)
    for base in owner.mro:
        if isinstance(base, Class) and not vm.patches.redefines(base.name, name):
            held: ClassRecord = vm.at(base.address)
            forward = held.attrs.get(name)
            if forward is not None and name in held.sometimes:
                break
            if forward is not None:
                optional = library_trait(owner.mro, "optional") or ()
                result = call_value(vm, forward, _wanted(forward, arguments, optional).after(ref), node)
                return _made_anew(vm, ref, arguments, result) if name == "call" else result
        elif isinstance(base, Lib):
            return call_layer(vm, ref, base.name, arguments, node)
        else:
            break
    return unknown_call(vm, arguments, node)


def _made_anew(vm: Machine, ref: Ref, arguments: Arguments, result: Value) -> Value:
    """What a layer of the program made in a graph: another tensor than it was given, and its own, not that of a layer in it."""
    if not isinstance(result, Tensor) or not arguments.args or not _is_in_graph(vm, arguments.args[0]):
        return result
    made = result.copied()
    _note_made(vm, ref, arguments.args[0], made)
    return made


def _cast(vm: Machine, arguments: Arguments) -> Arguments:
    """What a layer of Keras is called on: floats are converted to what its policy says, also those in lists."""

    def converted(value: Value) -> Value:
        return replace(value, width=None) if isinstance(value, Tensor) else value

    if any(isinstance(each, Ref | Tup) for each in arguments.values()):
        vm.put(CHOSEN, True)
    named = {name: converted(each) for name, each in arguments.kwargs.items()}
    return Arguments([converted(each) for each in arguments.args], named, arguments.open, arguments.rest)


def _wanted(function: Value, arguments: Arguments, optional: Collection[str]) -> Arguments:
    """The arguments without those that the library hands on only to methods that have parameters of their names."""
    if not isinstance(function, Function) or function.node.args.kwarg is not None:
        return arguments
    named = {each.arg for each in (*function.node.args.args, *function.node.args.kwonlyargs)}
    kept = {key: value for key, value in arguments.kwargs.items() if key in named or key not in optional}
    return Arguments(arguments.args, kept, arguments.open, arguments.rest)


def _build(vm: Machine, ref: Ref, owner: ClassRecord, arguments: Arguments, node: ast.AST) -> None:
    """Run the `build` of a layer of Keras on the shape of the first input it gets, or on those of all that are in it."""
    build, _ = lookup(vm, owner.mro, "build")
    record = vm.record(ref)
    if not isinstance(build, Function) or not isinstance(record, InstanceRecord) or BUILT in record.attrs:
        return
    vm.replace(ref, record.having({BUILT: Const(True)}))
    shape = _shape_of(vm, arguments.args[0]) if arguments.args else None
    call_value(vm, build, Arguments([ref, vm.opaque("input_shape") if shape is None else shape]), node)


def _shape_of(vm: Machine, inputs: Value) -> Value | None:
    """The shape of a tensor, the shapes of those in a list, a tuple or a dict; None where one of them is not known."""
    if isinstance(inputs, Tensor):
        return vm.attribute(inputs, "shape")
    record = vm.record(inputs) if isinstance(inputs, Ref) else None
    if isinstance(record, DictRecord):
        named = {key: shape for key, value in record.items.items() if (shape := _shape_of(vm, value)) is not None}
        return vm.allocate(DictRecord(named)) if record.exact and len(named) == len(record.items) else None
    items = inputs.items if isinstance(inputs, Tup) else record.items if isinstance(record, ListRecord) else None
    shapes = [shape for each in items or () if (shape := _shape_of(vm, each)) is not None]
    if not items or len(shapes) < len(items):
        return None
    return Tup(tuple(shapes)) if isinstance(inputs, Tup) else vm.allocate(ListRecord(tuple(shapes)))


def call_layer(vm: Machine, ref: Ref, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Run the `forward` rule of a library layer on an object."""
    if vm.flow is None:
        result = _forward(vm, ref, name, arguments, node)
    else:
        result = vm.flow.followed(name, arguments, node, lambda: _forward(vm, ref, name, arguments, node), ref)
    if isinstance(result, Tensor) and arguments.args and name.startswith("keras."):
        _note_built(vm, ref)
        if _is_in_graph(vm, arguments.args[0]):
            _note_made(vm, ref, arguments.args[0], result)
    if vm.shape_log is not None:
        record = vm.record(ref)
        attrs = record.attrs if isinstance(record, InstanceRecord) else {}
        vm.shape_log.layer(ref, name, attrs, arguments.args, result)
    return result


def _note_built(vm: Machine, ref: Ref) -> None:
    """The first input of a layer of Keras makes its weights."""
    record = vm.record(ref)
    if isinstance(record, InstanceRecord) and BUILT not in record.attrs and MANY not in record.attrs:
        vm.replace(ref, record.having({BUILT: Const(True)}))


def _is_in_graph(vm: Machine, given: Value) -> bool:
    """Whether what a layer of Keras is called on is a tensor of a graph, or a list that holds one."""
    held = vm.record(given) if isinstance(given, Ref) else None
    inputs = held.items or () if isinstance(held, ListRecord) else (given,)
    return any(isinstance(each, Tensor) and vm.get((MADE, each.ident)) is not None for each in inputs)


def _note_made(vm: Machine, ref: Ref, given: Value, result: Tensor) -> None:
    """A layer of Keras knows what it made of the first input of a graph (`layer.output`), a graph what made its tensors."""
    record = vm.record(ref)
    if isinstance(record, InstanceRecord) and MANY not in record.attrs:
        vm.put((MADE, result.ident), Tup((ref, given)))
        if MADE not in record.attrs:
            vm.replace(ref, record.having({MADE: result}))


def _forward(vm: Machine, ref: Ref, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if vm.patches.changes_layers() or any(vm.patches.has(f"{base}.forward") for base in library_bases(name)):
        return unknown_call(vm, arguments, node)
    record = vm.record(ref)
    member = library_member(name, "__call__")
    if member is not None:
        return call_op(vm, member, arguments.after(ref), node, library_of(name))
    rules: Any = next((r for r in map(find_layer, library_bases(name)) if hasattr(r, "forward")), None)
    if rules is None or not isinstance(record, InstanceRecord) or not record.exact:
        return unknown_call(vm, arguments, node)
    attrs = record.attrs
    label = attrs.get("__name__")
    text = label.value if isinstance(label, Const) else name.rpartition(".")[2]

    def forward(call: Call, *args: Value, **kwargs: Value) -> object:
        return weighed(call, attrs, args, rules.forward(call, attrs, *args, **kwargs))

    if arguments.open or not _accepts(rules.forward, arguments):
        return unknown_call(vm, arguments, node)
    result = run_rule(vm, name, forward, arguments, node, text)
    first = arguments.args[0] if arguments.args else None
    if isinstance(first, Opaque) and name.startswith("torch."):
        vm.put(("kind", first), "torch")
    return result


def _accepts(forward: Any, arguments: Arguments) -> bool:
    return accepts(forward, arguments.after(Const(None)), skip=1)
