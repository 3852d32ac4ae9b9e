"""Built-ins that need the interpreter itself, and names that stand for constants."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from distml.interp import signatures
from distml.interp.arguments import Arguments
from distml.interp.calls import call_op, call_value, each_alternative, unknown_call
from distml.interp.class_record import Property, Super, SuperMethod
from distml.interp.class_statements import made_by_type
from distml.interp.contracts import CHECKS
from distml.interp.data_files import DATA
from distml.interp.entries import ENTRIES
from distml.interp.enumerations import automatic
from distml.interp.exits import EXITS
from distml.interp.fields import as_dict, field_default, model_field
from distml.interp.gradients import GRADIENTS
from distml.interp.hooks import REGISTERING
from distml.interp.instances import call_layer, call_module, changed_copy, initialize, new_object
from distml.interp.introspection import INTROSPECTION
from distml.interp.join import join_values
from distml.interp.library import QUESTIONS, VALIDATE
from distml.interp.lightning import LIGHTNING
from distml.interp.machine import Revealed
from distml.interp.metaclasses import METACLASSES
from distml.interp.modes import MODES
from distml.interp.open_classes import type_of
from distml.interp.parametrized import PARAMETRIZED
from distml.interp.reveal import describe
from distml.interp.sending import SENDING
from distml.interp.storage import forget_attributes, view_of
from distml.interp.submodules import SETTERS, SUBMODULES, note_buffer
from distml.interp.typetests import has_attribute, is_callable, is_instance, real_class
from distml.interp.unsettled import unsettle_names
from distml.interp.validated import validate
from distml.interp.weights import WEIGHTS
from distml.ops.dialect import TENSOR_CLASSES, library_of
from distml.ops.python.enumerations import FLAGS
from distml.ops.registry import find_layer, find_op
from distml.values import (
    NONE,
    Bound,
    Class,
    Const,
    Function,
    InstanceRecord,
    IteratorRecord,
    Lib,
    LibMethod,
    Many,
    Opaque,
    Prim,
    Ref,
    Tensor,
    Tup,
    Value,
    alternatives,
    as_bool,
    union,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.machine import Machine


def call_super(vm: Machine, method: SuperMethod, arguments: Arguments, node: ast.AST) -> Value:
    """Run the next definition in the resolution order."""
    if method.name == "__init__" and isinstance(method.receiver, Ref):
        initialize(vm, method.receiver, method.rest, arguments, node)
        return NONE
    for base in method.rest:
        if isinstance(base, Class):
            member = vm.at(base.address).attrs.get(method.name)
            if member is not None:
                return call_value(vm, member, arguments.after(method.receiver), node)
        elif base is None:
            break
        elif method.name != "__setattr__" and isinstance(base, Lib) and isinstance(method.receiver, Ref):
            if method.name == "__call__":
                return call_module(vm, method.receiver, arguments, node)
            if method.name in ("forward", "call"):
                return call_layer(vm, method.receiver, base.name, arguments, node)
            return unknown_call(vm, arguments, node)
    else:
        if method.name == "__setattr__":
            return _set_plainly(vm, arguments.after(method.receiver), node)
    return unknown_call(vm, arguments.after(method.receiver), node)


def _called_plainly(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`nn.Module.__call__(module, ...)`."""
    if not arguments.args or not isinstance(arguments.args[0], Ref):
        return unknown_call(vm, arguments, node)
    return call_module(vm, arguments.args[0], arguments.without_first(), node)


def _forward_plainly(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`layer.forward(x)`: what its class of the library does, whatever hooks it has or took its place since."""
    layer = arguments.args[0] if arguments.args else NONE
    record = vm.record(layer) if isinstance(layer, Ref) else None
    cls = record.cls if isinstance(record, InstanceRecord) else None
    bases = vm.at(cls.address).mro if isinstance(cls, Class) else (cls,)
    base = next((each for each in bases if not isinstance(each, Class)), None)
    if not isinstance(layer, Ref) or not isinstance(base, Lib):
        return unknown_call(vm, arguments, node)
    return call_layer(vm, layer, base.name, arguments.without_first(), node)


def _setting(name: str) -> Callable[[Machine, Arguments, ast.AST], Value]:
    """`os.getenv(key, default)`: what a user sets is not known; a switch of an installed package stays as the package has it."""

    def given(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        if vm.frame.module.source.installed and len(arguments.args) == 2 and isinstance(arguments.args[1], Const):
            return arguments.args[1]
        return call_op(vm, name, arguments, node, library_of(name))

    return given


def _super(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.args) == 2 and isinstance(arguments.args[0], Class):
        return Super(arguments.args[0].address, arguments.args[1])
    frame = vm.frame
    while frame.parent is not None and frame.receiver is None:
        frame = frame.parent
    if frame.owner is None or frame.receiver is None:
        return vm.opaque("super()")
    return Super(frame.owner, frame.receiver)


def _isinstance(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.args) != 2:
        return Prim("bool")
    known = is_instance(vm, arguments.args[0], arguments.args[1])
    return as_bool(known)


def _getattr(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    args = arguments.args
    if len(args) < 2 or not isinstance(args[1], Const) or not isinstance(args[1].value, str):
        return vm.opaque(vm.snippet(node))
    name = args[1].value
    if len(args) == 2:
        return vm.language.get_attribute(vm, args[0], name, node)
    known = has_attribute(vm, args[0], name)
    if known is False:
        return args[2]
    found = vm.language.find_attribute_of(vm, args[0], name, node) if known or isinstance(args[0], Lib) else None
    certain = known or (isinstance(found, Lib) and _is_known(found.name))
    if certain and found is not None:
        return found
    return _set_sometimes(vm, args[0], name, args[2]) or vm.opaque(vm.snippet(node))


def _set_sometimes(vm: Machine, owner: Value, name: str, default: Value) -> Value | None:
    """What an attribute is that some paths have set and others have not; None where nothing is known of it."""
    record = vm.record(owner) if isinstance(owner, Ref) else None
    if not isinstance(record, InstanceRecord) or not isinstance(record.cls, Class) or name not in record.sometimes:
        return None
    found = vm.language.find_attribute_of(vm, owner, name, vm.node) if name in record.attrs else None
    return None if found is None or isinstance(found, Opaque) else join_values(vm, found, default)


def _is_known(name: str) -> bool:
    return name in SPECIAL or find_op(name) is not None or find_layer(name) is not None


def _setattr(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    set_by_name(vm, arguments.values()[:3], node)
    return NONE


def _set_plainly(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    set_by_name(vm, arguments.values()[:3], node, plain=True)
    return NONE


def _register_buffer(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`net.register_buffer("mean", tensor, persistent=True)`: an attribute of which the module knows that it is a buffer."""
    args, named = arguments.args, arguments.kwargs
    module = args[0] if args else NONE
    given = [*args[1:], *(named[key] for key in ("name", "tensor", "persistent")[len(args) - 1 :] if key in named)]
    set_by_name(vm, [module, *given[:2]], node, plain=True)
    note_buffer(vm, module, given[0] if given else NONE, given[2] if len(given) > 2 else Const(True))
    return NONE


def _delattr(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    args = arguments.args
    if len(args) == 2 and isinstance(args[1], Const) and isinstance(args[1].value, str):
        vm.language.delete_attribute(vm, args[0], args[1].value)
    elif args and isinstance(args[0], Ref):
        forget_attributes(vm, args[0])
    return NONE


def set_by_name(vm: Machine, args: list[Value], node: ast.AST, plain: bool = False) -> None:
    """`setattr(object, name, item)`: a name that is not known may be any attribute's."""
    if len(args) == 3 and isinstance(args[1], Const) and isinstance(args[1].value, str):
        vm.language.set_attribute(vm, args[0], args[1].value, args[2], node, plain)
    elif len(args) == 3 and isinstance(args[0], Lib):
        vm.language.set_attribute(vm, args[0], "*", args[2], node)
    elif args and isinstance(args[0], Ref):
        forget_attributes(vm, args[0])
    elif args and isinstance(args[0], Tensor):
        vm.reshaped(args[0], vm.facts.unknown_shape())  # the name may be "data" or "shape"


def _hasattr(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    args = arguments.args
    if len(args) != 2 or not isinstance(args[1], Const) or not isinstance(args[1].value, str):
        return Prim("bool")
    known = has_attribute(vm, args[0], args[1].value)
    return as_bool(known)


def _type(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    if len(arguments.args) == 1 and isinstance(arguments.args[0], Ref):
        record = vm.record(arguments.args[0])
        if isinstance(record, InstanceRecord):
            return type_of(vm, arguments.args[0], record)
    if arguments.args == [NONE]:
        return Lib("builtins.NoneType")
    made = made_by_type(vm, arguments, node) if len(arguments.args) == 3 and not arguments.open else None
    return vm.opaque("type") if made is None else made


def _property(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    given = dict(zip(("fget", "fset", "fdel"), arguments.args, strict=False)) | arguments.kwargs
    getter, setter, deleter = (None if given.get(n) == NONE else given.get(n) for n in ("fget", "fset", "fdel"))
    return vm.opaque("property") if getter is None else Property(getter, setter, deleter)


def _kept_property(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    made = _property(vm, arguments, node)
    return replace(made, kept=True) if isinstance(made, Property) else made


def _computed_field(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`pydantic.computed_field`: a property as it is, a property of a function; with options alone, what does the same."""
    if not arguments.args:
        return Lib(_COMPUTED[0])
    given = arguments.args[0]
    return _property(vm, Arguments([given]), node) if isinstance(given, Function) else given


_COMPUTED = ("pydantic.computed_field", "pydantic.fields.computed_field")


def _of_kind(kind: str) -> Callable[[Machine, Arguments, ast.AST], Value]:
    def make(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        function = arguments.args[0] if arguments.args else NONE
        if isinstance(function, Function):
            return replace(function, kind=kind)
        return function

    return make


def _identity(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    return arguments.args[0] if arguments.args else vm.opaque(vm.snippet(node))


def _decorator(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """What keeps the function it decorates, and may be called with options first."""
    return arguments.args[0] if arguments.args and not isinstance(arguments.args[0], Const) else _SAME


def _callable(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    known = is_callable(vm, arguments.args[0]) if arguments.args else None
    return as_bool(known)


def _asks(cls: Lib) -> Callable[[Machine, Arguments, ast.AST], Value]:
    def ask(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        known = is_instance(vm, arguments.args[0], cls) if len(arguments.args) == 1 else None
        return as_bool(known)

    return ask


def _namespace(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`globals()`, `locals()` and `vars()`: in a function the last two are a copy."""
    return _executed(vm, arguments, node) if vm.frame is vm.frame.module.frame else unknown_call(vm, arguments, node)


def _executed(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`exec(text)`: https://docs.python.org/3/library/functions.html#exec; with names of its own it changes no others."""
    if len(arguments.args) < 2 and not arguments.kwargs:
        unsettle_names(vm)
    return unknown_call(vm, arguments, node)


def _vars(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.args:
        return _namespace(vm, arguments, node)
    value = arguments.args[0]
    record = vm.record(value) if isinstance(value, Ref) else None
    if isinstance(value, Ref) and isinstance(record, InstanceRecord):
        return view_of(vm, value, record, "__dict__")
    return vm.opaque(vm.snippet(node))


def _reveal(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.args[0] if arguments.args else NONE
    span = vm.span(node)
    vm.revealed[span] = Revealed(span, describe(vm, value))
    return value


def _zip(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`zip(*rows)` for any number of rows of known length gives that many columns."""
    rows = arguments.rest
    kinds = alternatives(rows.item) if rows is not None and not arguments.args else ()
    tuples = [each.items for each in kinds if isinstance(each, Tup)]
    if rows is not None and tuples and len(tuples) == len(kinds) and len({*map(len, tuples)}) == 1:
        return Tup(tuple(Many(union(items), "tuple", rows.length) for items in zip(*tuples, strict=True)))
    return call_op(vm, "builtins.zip", arguments, node, "builtins")


def _len(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """The members of an enumeration, what `__len__` says; the rules know the other containers."""

    def one(value: Value) -> Value:
        if isinstance(value, Class) and vm.at(value.address).members:
            return Const(len(vm.at(value.address).members))
        record = vm.record(value) if isinstance(value, Ref) else None
        method = vm.attribute(value, "__len__") if isinstance(record, InstanceRecord) else None
        if isinstance(method, Bound) or (isinstance(method, LibMethod) and _counts(method.name)):
            found = call_value(vm, method, Arguments([]), node)
            if not isinstance(found, Prim):
                return found
        return call_op(vm, "builtins.len", Arguments([value]), node, "builtins")

    if len(arguments.args) != 1 or arguments.kwargs or arguments.open:
        return vm.opaque(vm.snippet(node))
    return each_alternative(vm, arguments.args, one)


def _counts(name: str) -> bool:
    """Whether a rule says how long the objects of a library are."""
    return name.startswith(FLAGS) or find_op(name) is not None


def _subclasses(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    args = arguments.args
    if len(args) != 2 or not isinstance(args[0], Class):
        names = [each.name for each in args if isinstance(each, Lib)]
        kinds = [kind for kind in map(real_class, names) if kind is not None]
        return Const(issubclass(*kinds)) if len(kinds) == 2 == len(args) else Prim("bool")
    # A class has what its objects are; one of these is made to ask.
    known = is_instance(vm, vm.allocate(InstanceRecord(args[0])), args[1])
    return as_bool(known)


_SAME = Lib("typing.final")
_OF_TENSORS = tuple(f"{cls}.__setattr__" for cls in TENSOR_CLASSES)
_KEEPING = (
    "jax.jit",
    "jax.checkpoint",
    "jax.remat",
    "jax.named_call",
    "jax.custom_jvp",
    "jax.custom_vjp",
    "jax.custom_batching.custom_vmap",
    "flax.linen.compact",
    "flax.linen.nowrap",
    "flax.linen.jit",
    "flax.linen.remat",
    "flax.linen.checkpoint",
    "flax.nnx.jit",
    "flax.nnx.remat",
    "flax.nnx.split_rngs",
    "tensorflow.autograph.experimental.do_not_convert",
    "keras.utils.register_keras_serializable",
    "keras.saving.register_keras_serializable",
)


def _looks(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """A question about a function or class, which runs and changes nothing."""
    return vm.opaque(vm.snippet(node), vm.origin(node))


_LOOKING = """getsource getsourcefile getsourcelines getdoc getcomments getfile getmodule getmembers
isabstract iscoroutinefunction isgeneratorfunction unwrap""".split()

SPECIAL: dict[str, Callable[[Machine, Arguments, ast.AST], Value]] = {
    "builtins.super": _super,
    **{name: _setting(name) for name in ("os.getenv", "os.environ.get")},
    "torch.nn.Module.__call__": _called_plainly,
    **dict.fromkeys(("torch.nn.Module.forward", "keras.layers.Layer.call"), _forward_plainly),
    "builtins.isinstance": _isinstance,
    "builtins.issubclass": _subclasses,
    "builtins.getattr": _getattr,
    "builtins.setattr": _setattr,
    "builtins.delattr": _delattr,
    **dict.fromkeys((*SETTERS, "builtins.object.__setattr__", *_OF_TENSORS), _set_plainly),
    "torch.nn.Module.register_buffer": _register_buffer,
    "builtins.hasattr": _hasattr,
    **dict.fromkeys((f"builtins.{name}.__new__" for name in ("object", "int", "str")), new_object),
    "enum.auto": automatic,
    "builtins.type": _type,
    "builtins.callable": _callable,
    "builtins.vars": _vars,
    "builtins.exec": _executed,
    "builtins.globals": _executed,
    "builtins.locals": _namespace,
    "builtins.property": _property,
    "functools.cached_property": _kept_property,
    "abc.abstractproperty": _property,
    **dict.fromkeys(_COMPUTED, _computed_field),
    **dict.fromkeys((f"inspect.{name}" for name in _LOOKING), _looks),
    **{name: _asks(Lib(cls)) for name, cls in QUESTIONS.items()},
    "builtins.staticmethod": _of_kind("static"),
    "builtins.classmethod": _of_kind("class"),
    "abc.abstractmethod": _identity,
    "typing.overload": _identity,
    "typing.final": _identity,
    "typing.cast": lambda vm, arguments, node: (
        arguments.args[1] if len(arguments.args) == 2 else vm.opaque(vm.snippet(node))
    ),
    "contextlib.contextmanager": _identity,
    **dict.fromkeys(("dataclasses.field", "attrs.field", "attr.field", "attr.ib", "attr.attrib"), field_default),
    **dict.fromkeys(("dataclasses.replace", "attrs.evolve", "attr.evolve"), changed_copy),
    **dict.fromkeys(("pydantic.Field", "pydantic.fields.Field"), model_field),
    **dict.fromkeys(VALIDATE, validate),
    **dict.fromkeys(("dataclasses.asdict", "attrs.asdict", "attr.asdict"), as_dict),
    "builtins.len": _len,
    "builtins.zip": _zip,
    "builtins.reveal_shape": _reveal,
    **dict.fromkeys(_KEEPING, _decorator),
    signatures.NAME: signatures.graph,
    "contextlib.nullcontext": lambda vm, arguments, node: vm.allocate(
        IteratorRecord((arguments.args[0] if arguments.args else NONE,))
    ),
}
"""What the interpreter itself does for a library name."""

SPECIAL.update(SUBMODULES)
SPECIAL.update(MODES)
SPECIAL.update(WEIGHTS)
SPECIAL.update(EXITS)
SPECIAL.update(CHECKS)
SPECIAL.update(REGISTERING)
SPECIAL.update(PARAMETRIZED)
SPECIAL.update(GRADIENTS)
SPECIAL.update(ENTRIES)
SPECIAL.update(INTROSPECTION)
SPECIAL.update(METACLASSES)
SPECIAL.update(DATA)
SPECIAL.update(LIGHTNING)
SPECIAL.update(SENDING)
