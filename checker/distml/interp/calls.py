"""Calls: which code a call reaches, alternatives of the callee and its arguments, ops."""

from __future__ import annotations

import ast
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from distml.interp.arguments import Arguments
from distml.interp.branches import pass_on, raise_first
from distml.interp.callbacks import callbacks_ran, give_away
from distml.interp.class_record import SuperMethod
from distml.interp.crash import note_crash
from distml.interp.findings import fail
from distml.interp.generators import drawing_on
from distml.interp.in_place import forget_filled, is_in_place, perhaps_given
from distml.interp.join import generalize, join_many
from distml.interp.machine import Handler, OutOfSteps, OutOfTime, PathEnd
from distml.interp.no_tensors import is_theirs, require_tensor
from distml.interp.stamping import stamp
from distml.interp.state import join_states
from distml.interp.trace import RunOver
from distml.interp.unsettled import forget_around, forget_fields, unsettle
from distml.ops import Call, ShapeError
from distml.ops.dialect import dialect, library_of
from distml.ops.registry import MANY, find_layer, find_op
from distml.ops.rules.ranges import rearranged
from distml.ops.rules.wrong_kinds import followed
from distml.values import (
    Bound,
    ClaimedTup,
    Class,
    Const,
    Function,
    InstanceRecord,
    Lib,
    LibMethod,
    Num,
    Opaque,
    Partial,
    Ref,
    Tensor,
    Tup,
    Union,
    Value,
    alternatives,
    claimed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distml.interp.machine import Machine
    from distml.interp.state import State

MAX_COMBINATIONS = 8
CONTAINERS = frozenset(
    "collections.deque collections.defaultdict collections.OrderedDict collections.Counter builtins.frozenset".split()
)
"""What is kept as a list, dict or set and is of another class: `("class", ref)` names it."""

REMOVED = ("hooks", 1)
"""The fact that some hook of a module was removed, and nobody knows which."""


def call_value(vm: Machine, callee: Value, arguments: Arguments, node: ast.AST | None = None) -> Value:
    """Call any value."""
    where = vm.node if node is None else node
    if isinstance(callee, Union):
        return each_alternative(vm, (callee,), lambda c: call_value(vm, c, arguments, where))
    if isinstance(callee, Function):
        return vm.language.call_function(vm, callee, arguments, where)
    if isinstance(callee, Bound):
        return call_value(vm, callee.function, arguments.after(callee.receiver), where)
    if isinstance(callee, Partial):
        return _call_partial(vm, callee, arguments, where)
    if isinstance(callee, Class):
        return vm.language.instantiate(vm, callee, arguments, where)
    if isinstance(callee, Lib):
        return call_library(vm, callee.name, arguments, where)
    if isinstance(callee, LibMethod):
        return _call_method(vm, callee, arguments, where)
    if isinstance(callee, Ref):
        return vm.language.call_instance(vm, callee, arguments, where)
    if isinstance(callee, SuperMethod):
        return vm.language.call_super(vm, callee, arguments, where)
    if isinstance(callee, Opaque) and callee.name.endswith(".remove") and not arguments.args:
        vm.put(REMOVED, True)
    holder = vm.holders.get(callee) if isinstance(callee, Opaque) else None
    if holder is not None:
        # A method may set any attribute of its object.
        forget_around(vm, holder)
    return unknown_call(vm, arguments, where)


def _call_partial(vm: Machine, callee: Partial, arguments: Arguments, node: ast.AST) -> Value:
    merged = Arguments(
        [*callee.args, *arguments.args],
        {**dict(callee.kwargs), **arguments.kwargs},
        arguments.open,
    )
    return call_value(vm, callee.function, merged, node)


def call_library(vm: Machine, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Call a function or class of a library by its qualified name."""
    if vm.patches.has(name):
        return unknown_call(vm, arguments, node)
    special = vm.language.special(name)
    if special is not None:
        return _special(vm, name, special, arguments, node)
    if find_layer(name) is not None:
        return construct(vm, name, arguments, node)
    if find_op(name) is not None:
        return call_op(vm, name, arguments, node, library_of(name))
    return unknown_call(vm, arguments, node)


def _call_method(vm: Machine, callee: LibMethod, arguments: Arguments, node: ast.AST) -> Value:
    full = arguments.after(callee.receiver)
    if callee.name.startswith("?."):
        if callee.name == "?.remove" and not arguments.args:
            vm.put(REMOVED, True)
        if vm.flow is None:
            return vm.language.call_guessed(vm, callee, full, node)
        return vm.flow.alone(callee.name[2:], full, node, lambda: vm.language.call_guessed(vm, callee, full, node))
    special = vm.language.special(callee.name)
    if special is not None:
        return _special(vm, callee.name, special, full, node)
    lib = library_of(callee.name)
    if isinstance(callee.receiver, Tensor):
        lib = callee.receiver.lib
    return call_op(vm, callee.name, full, node, lib)


def _special(vm: Machine, name: str, special: Callable[..., Value], arguments: Arguments, node: ast.AST) -> Value:
    if vm.flow is None:
        return special(vm, arguments, node)
    return vm.flow.followed(name, arguments, node, lambda: special(vm, arguments, node))


def construct(vm: Machine, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """Make an instance of a library class that has rules."""
    attrs = layer_attributes(vm, name, arguments, node)
    made = vm.allocate(InstanceRecord(Lib(name), attrs or {}, attrs is not None))
    if vm.flow is not None:
        vm.flow.built(made, node)
    return made


def layer_attributes(vm: Machine, name: str, arguments: Arguments, node: ast.AST) -> dict[str, Value] | None:
    """The attributes the constructor of a library class sets; None when that is unknown."""
    rules: Any = find_layer(name)
    init = getattr(rules, "init", None)
    if init is None:
        return {}
    if arguments.open or not accepts(init, arguments):
        return None
    found: list[dict[str, Value]] = []

    def run(*values: Value) -> Value:
        attrs = _guarded(vm, name, node, init, _rebuilt(arguments, _numbers(vm, values)), library_of(name))
        if isinstance(attrs, dict):
            found.append(attrs)
        return Const(None)

    if getattr(rules, "as_given", False):
        run(*arguments.values())
    else:
        each_alternative(vm, arguments.values(), run)
    if not found:
        return None
    attrs = {key: join_many(vm, [f[key] for f in found if key in f]) for key in found[0]}
    # One object made where a loop is followed once for all iterations stands for many.
    return {**attrs, MANY: Const(True)} if vm.repeating else attrs


def _rebuilt(arguments: Arguments, values: Sequence[Value]) -> Arguments:
    count = len(arguments.args)
    return Arguments(list(values[:count]), dict(zip(arguments.kwargs, values[count:], strict=True)))


def call_op(
    vm: Machine,
    name: str,
    arguments: Arguments,
    node: ast.AST,
    lib: str,
    text: str | None = None,
) -> Value:
    """Call the op registered as `name`."""
    if vm.flow is None:
        result = _call_op(vm, name, arguments, node, lib, text)
    else:
        result = vm.flow.followed(name, arguments, node, lambda: _call_op(vm, name, arguments, node, lib, text))
    if vm.shape_log is not None and name in vm.shape_log.functions:
        vm.shape_log.function(name, arguments, result)
    return result


def _call_op(vm: Machine, name: str, arguments: Arguments, node: ast.AST, lib: str, text: str | None) -> Value:
    function = find_op(name)
    out = arguments.kwargs.get("out")
    if function is not None and dialect(lib).out_resizes and isinstance(out, Tensor | Tup):
        return _into(vm, name, function, arguments, node, lib)
    if function is None or arguments.open or vm.patches.has(name) or not accepts(function, arguments):
        return _not_followed(vm, name, arguments, node)

    def run(*values: Value) -> Value:
        given = _rebuilt(arguments, values if lib == "builtins" and name not in _OF_NUMBERS else _numbers(vm, values))
        result = _guarded(vm, name, node, function, given, lib, text)
        if isinstance(result, Tensor | Tup | Ref) and not is_in_place(name):
            result = rearranged(name, result, values) if isinstance(result, Tensor) else result
            result = drawing_on(vm, perhaps_given(vm, result, values), values)
        if name in CONTAINERS and isinstance(result, Ref):
            vm.put(("class", result), name)
        return result if isinstance(result, Value) else vm.opaque(vm.snippet(node), vm.origin(node))

    forget_filled(vm, name, arguments.values())
    result = stamp(vm, each_alternative(vm, arguments.values(), run), node)
    return vm.reshaped(out, out.shape) if isinstance(out, Tensor) and isinstance(result, Tensor) else result


_OF_NUMBERS = frozenset(f"builtins.{name}" for name in "int float complex range abs round divmod pow".split())
"""Built-ins for which a member of an `IntEnum` is its number; others hand on what they are given."""


def _numbers(vm: Machine, values: Sequence[Value]) -> Sequence[Value]:
    """What a library is given: the members of an `IntEnum` are its numbers, also in a tuple of sizes."""
    if not vm.numbered:
        return values
    return [
        replace(each, items=tuple(_numbers(vm, each.items))) if isinstance(each, Tup) else vm.numbered.get(each, each)
        for each in values
    ]


def _into(vm: Machine, name: str, function: Callable[..., Any], arguments: Arguments, node: ast.AST, lib: str) -> Value:
    """A call of torch with `out=`: what was given there is the result, and gets its shape."""
    given = Arguments(arguments.args, {**arguments.kwargs, "out": Const(None)}, arguments.open)
    if not accepts(function, given):
        del given.kwargs["out"]
    result = _call_op(vm, name, given, node, lib, None)
    out = arguments.kwargs["out"]
    pairs = (
        zip(out.items, result.items, strict=False)
        if isinstance(out, Tup) and isinstance(result, Tup)
        else [(out, result)]
    )
    filled: list[Value] = []
    for old, new in pairs:
        if isinstance(old, Tensor):
            shape = new.shape if isinstance(new, Tensor) else vm.facts.unknown_shape()
            filled.append(vm.reshaped(old, shape))
    if not isinstance(result, Tensor | Tup):
        return result
    return (
        Tup(tuple(filled), result.kind, result.fields) if isinstance(result, Tup) else filled[0] if filled else result
    )


def _not_followed(vm: Machine, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A call of a library that no rule tells about: what it changes in place may have any shape then."""
    forget_filled(vm, name, arguments.values())
    receiver = arguments.args[0] if arguments.args and is_in_place(name) else None
    for value in (receiver, arguments.kwargs.get("out")):
        for part in value.items if isinstance(value, Tup) else (value,):
            if isinstance(part, Tensor) and dialect(part.lib).out_resizes:
                vm.reshaped(part, vm.facts.unknown_shape())
    return unknown_call(vm, arguments, node)


def read_attribute(vm: Machine, name: str, attribute: Callable[..., Any], receiver: Value, lib: str) -> Value | None:
    """Run the rule of a library attribute; None when it gives nothing."""
    if vm.flow is None:
        return _read(vm, name, attribute, receiver, lib)
    return vm.flow.read(name, Arguments([receiver]), vm.node, lambda: _read(vm, name, attribute, receiver, lib))


def _read(vm: Machine, name: str, attribute: Callable[..., Any], receiver: Value, lib: str) -> Value | None:
    result = _guarded(vm, name, vm.node, attribute, Arguments([receiver]), lib)
    if isinstance(result, Tensor):
        result = perhaps_given(vm, rearranged(name, result, (receiver,)), (receiver,))
    return stamp(vm, result, vm.node) if isinstance(result, Value) else None


def run_rule(vm: Machine, name: str, rule: Callable[..., Any], arguments: Arguments, node: ast.AST, text: str) -> Value:
    """Run a layer's `forward` rule on the (alternatives of the) arguments."""

    def run(*values: Value) -> Value:
        given = _rebuilt(arguments, values)
        result = _guarded(vm, name, node, rule, given, library_of(name), text)
        if isinstance(result, Tensor):
            return perhaps_given(vm, result, values)
        return result if isinstance(result, Value) else vm.opaque(vm.snippet(node), vm.origin(node))

    return stamp(vm, each_alternative(vm, arguments.values(), run), node)


def _guarded(
    vm: Machine,
    name: str,
    node: ast.AST,
    function: Callable[..., Any],
    arguments: Arguments,
    lib: str,
    text: str | None = None,
) -> Any:
    """Run a rule: its failure becomes a finding, its crash stays its own."""
    vm.step()
    saved = vm.node
    vm.node = node
    if vm.watcher is not None:
        vm.watcher.called(name, arguments.args)
    call = Call(vm, name, lib, text or _subject(vm, node, name))
    try:
        require_tensor(vm, name, function, arguments.args, call.text)
        result = followed(call, arguments.args, arguments.kwargs, _ruled(call, function, arguments))
        return None if is_theirs(vm, call) else result
    except ShapeError as error:
        if not is_theirs(vm, call):
            fail(vm, error, node)
        return None
    except (PathEnd, RunOver, OutOfSteps, OutOfTime, RecursionError, MemoryError):
        raise
    except Exception as error:
        note_crash(vm, name, error, node)
        return None
    finally:
        vm.node = saved


def _ruled(call: Call, function: Callable[..., Any], arguments: Arguments) -> Any:
    """What a rule makes of its arguments. One that an annotation alone calls a number is an array where no number would do;
    so may be what is computed of it. One that it calls a tuple of so many items has others where so many would not do.
    """
    try:
        result = function(call, *arguments.args, **arguments.kwargs)
    except ShapeError:
        if not call.trusting:
            raise
        call.wary = True
        args = [_of_any_length(call, each) for each in arguments.args]
        return function(call, *args, **{name: _of_any_length(call, each) for name, each in arguments.kwargs.items()})
    scalar = call.trusting and isinstance(result, Tensor | Num) and call.shape(result).rank == 0
    return claimed(result) if scalar else result


def _of_any_length(call: Call, value: Any) -> Any:
    return call.unknown() if isinstance(value, ClaimedTup) else value


def _subject(vm: Machine, node: ast.AST, name: str) -> str:
    """What messages call the operation: `torch.cat`, `fc1`, `x @ w`."""
    if isinstance(node, ast.Call):
        return vm.snippet(node.func, 40).removeprefix("self.")
    return vm.snippet(node, 40) if isinstance(node, ast.expr) else name


def accepts(function: Callable[..., Any], arguments: Arguments, skip: int = 1) -> bool:
    """Whether Python would bind the arguments; `skip` leading parameters are ours."""
    function = getattr(function, "__wrapped__", function)  # a wrapper takes anything and passes it on
    code = function.__code__
    flags, count = code.co_flags, code.co_argcount
    names = code.co_varnames[skip:count]
    given = len(arguments.args)
    if given > len(names) and not flags & 0x04:
        return False
    positional_only = max(code.co_posonlyargcount - skip, 0)
    keyword_only = code.co_varnames[count : count + code.co_kwonlyargcount]
    allowed = {*names[positional_only:], *keyword_only}
    if not flags & 0x08 and any(key not in allowed for key in arguments.kwargs):
        return False
    if any(key in names[:given] or key in code.co_varnames[:skip] for key in arguments.kwargs):
        return False
    defaults = len(function.__defaults__ or ())
    required = names[given : len(names) - defaults]
    if any(key not in arguments.kwargs for key in required):
        return False
    preset = function.__kwdefaults__ or {}
    return all(key in arguments.kwargs or key in preset for key in keyword_only)


def each_alternative(vm: Machine, values: Sequence[Value], run: Callable[..., Value]) -> Value:
    """Run on every combination of alternatives; it fails only if all of them fail."""
    if not any(isinstance(v, Union) for v in values):
        return run(*values)
    choices = [alternatives(v) for v in values]
    total = 1
    for choice in choices:
        total *= len(choice)
    if total > MAX_COMBINATIONS:
        single = [generalize(vm, c) if len(c) > 1 else c[0] for c in choices]
        choices = [(v,) if isinstance(v, Union) else alternatives(v) for v in single]
        if any(isinstance(v, Union) for v in single):
            return vm.opaque("value of many kinds")
    combinations = list(product(*choices))
    return branch_values(vm, [_bind(run, combination) for combination in combinations])


def _bind(run: Callable[..., Value], values: tuple[Value, ...]) -> Callable[[], Value]:
    return lambda: run(*values)


def branch_values(vm: Machine, runs: Sequence[Callable[[], Value]]) -> Value:
    """Run several ways to get a value, each from this state, and join what succeeds."""
    start = vm.state
    outcomes: list[tuple[Value, State]] = []
    attempts: list[Handler] = []
    for run in runs:
        attempt = Handler(catches_shapes=True, speculative=True)
        vm.handlers.append(attempt)
        vm.state = start.fork()
        try:
            outcomes.append((run(), vm.state))
        except PathEnd:
            attempts.append(attempt)
        finally:
            vm.handlers.pop()
    pass_on(vm, attempts)
    if outcomes:
        vm.state = join_states(vm, [state for _, state in outcomes])
        if len(outcomes) > 1:
            # Which of them it is stays open, so none of their demands is certain.
            vm.state.log = start.log
        return join_many(vm, [value for value, _ in outcomes])
    vm.state = start
    return _all_failed(vm, attempts)


def _all_failed(vm: Machine, attempts: list[Handler]) -> Value:
    if not all(attempt.errors for attempt in attempts):
        raise vm.raised()
    raise_first(vm, attempts)
    return vm.opaque(vm.snippet(vm.node))


def hypothetical(vm: Machine, name: str, arguments: Arguments, node: ast.AST, lib: str) -> Value:
    """What an op would give if the receiver, of unknown type, is an array.

    Its failure proves nothing, so it gives an unknown value instead.
    """
    attempt = Handler(catches_shapes=True, speculative=True)
    start = vm.state.fork()
    vm.handlers.append(attempt)
    try:
        return call_op(vm, name, arguments, node, lib)
    except PathEnd:
        vm.state = start
        return vm.opaque(vm.snippet(node), vm.origin(node))
    finally:
        vm.handlers.pop()


def unknown_call(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """A call of something unknown: what is given to it may be changed, and what it is a method of may be filled."""
    for value in arguments.values():
        give_away(vm, value)
    callbacks_ran(vm)
    vm.unfollowed = vm.serial()
    for owner in _owner(vm, node):
        unsettle(vm, owner, in_sight=_is_method(vm, owner, node))
        if not isinstance(node, ast.Call) or _is_of(node.func):
            forget_fields(vm, owner)
    result = vm.opaque(vm.snippet(node), vm.origin(node))
    if vm.flow is not None:
        vm.flow.unknown(arguments, node, result)
    return result


def _owner(vm: Machine, node: ast.AST) -> tuple[Ref, ...]:
    """The object whose method a call is as written: `self` in `self.encoder.run(x)` and `getattr(self, name)(x)`."""
    part: ast.AST | None = node.func if isinstance(node, ast.Call) else None
    while not isinstance(part, ast.Name):
        if isinstance(part, ast.Attribute | ast.Subscript):
            part = part.value
        elif isinstance(part, ast.Call):
            part = part.args[0] if part.args else part.func
        else:
            return ()
    found = vm.frame.receiver if part.id == "super" else vm.variable(vm.frame.ident, part.id)
    return (found,) if isinstance(found, Ref) and isinstance(vm.record(found), InstanceRecord) else ()


def _is_method(vm: Machine, owner: Ref, node: ast.AST) -> bool:
    """Whether what is called is a method of the object itself, not something that the object holds."""
    function = node.func if isinstance(node, ast.Call) else None
    record = vm.record(owner)
    if not isinstance(function, ast.Attribute) or not isinstance(record, InstanceRecord):
        return True
    return _is_of(function) and function.attr not in record.attrs


def _is_of(function: ast.expr) -> bool:
    """Whether a call is written as one of an object itself, not of a part of it."""
    return not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Attribute))
