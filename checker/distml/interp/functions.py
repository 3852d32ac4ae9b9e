"""Calling functions of the project: binding, running the body, summaries."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.budget import IMPORT_CALL_STEPS, briefly, hands_back, steps_of_import, too_heavy
from distml.interp.cached import call_kept
from distml.interp.calls import unknown_call
from distml.interp.exits import never_returns
from distml.interp.frames import Frame
from distml.interp.generators import Entry, coroutine, handed_out, reads_of
from distml.interp.giving_up import forget_changed, give_up_call
from distml.interp.hints import refine_parameter, refine_return
from distml.interp.installed import enters_installed, follow_installed
from distml.interp.join import join_many
from distml.interp.machine import MAX_CALL_DEPTH, PathEnd, ProcessEnd
from distml.interp.open_classes import may_be_another
from distml.interp.recording import start_recording, stop_recording
from distml.interp.scope import every_argument, scope_of
from distml.interp.state import State, join_states
from distml.interp.storage import record_held_by
from distml.interp.summaries import recall, remember
from distml.values import (
    NONE,
    Const,
    DictRecord,
    Function,
    InstanceRecord,
    ListRecord,
    Num,
    Range,
    Ref,
    Tensor,
    Tup,
    Union,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distml.interp.machine import Machine

MAX_RECURSION = 12
MAX_BLIND_RECURSION = 3
"""How often a function is entered again where no argument that is known gets any nearer to an end."""


def call_function(vm: Machine, function: Function, arguments: Arguments, node: ast.AST) -> Value:
    """Call a function of the project."""
    if function.kept is not None:
        return call_kept(vm, Ref(function.kept), arguments, lambda: _call(vm, function, arguments, node))
    if isinstance(function.node, ast.AsyncFunctionDef) and not scope_of(function.node).is_generator:
        return coroutine(vm, node, lambda: _call(vm, function, arguments, node))
    return _call(vm, function, arguments, node)


def _call(vm: Machine, function: Function, arguments: Arguments, node: ast.AST) -> Value:
    bound = bind(vm, function, arguments)
    if bound is None or (function.owner is not None and may_be_another(vm, function, bound)):
        return unknown_call(vm, arguments, node)
    if too_heavy(vm, function):
        first = hands_back(function.node)
        if first is None:
            return give_up_call(vm, function, arguments, node)
        forget_changed(vm, function)
        return bound[first]
    if _too_deep(vm, function, bound):
        vm.lose(f"the calls of {function.name} nest too deeply or too often to follow", node)
        return give_up_call(vm, function, arguments, node)
    if vm.watcher is not None or vm.flow is not None or (vm.shape_log is not None and vm.shape_log.functions):
        # What a call demands, and what it makes of what, is told only while it is followed.
        return _run(vm, function, bound, node)
    known = None if scope_of(function.node).is_told else recall(vm, function, bound)
    if known is not None:
        return known
    made: Value | None
    if enters_installed(vm, function):
        made = follow_installed(vm, function, bound, lambda: _follow(vm, function, bound, node), node)
    elif len(vm.stack) == 1 and vm.import_depth and not vm.brief:
        made = briefly(vm, steps_of_import(vm, IMPORT_CALL_STEPS), lambda: _follow(vm, function, bound, node))
    else:
        made = _follow(vm, function, bound, node)
    return give_up_call(vm, function, arguments, node) if made is None else made


def run_around(
    vm: Machine, function: Function, arguments: Arguments, node: ast.AST, block: Callable[[Value], Value]
) -> bool:
    """Run a generator function to its end, with `block` where it yields; False if that cannot be done."""
    bound = bind(vm, function, arguments)
    return bound is not None and run_again(vm, function, bound, node, block)


def run_again(
    vm: Machine, function: Function, bound: dict[str, Value], node: ast.AST, block: Callable[[Value], Value]
) -> bool:
    """The same for the arguments of a call that was made."""
    if too_heavy(vm, function) or _too_deep(vm, function, bound):
        return False
    _run(vm, function, bound, node, block)
    return True


def run_returning(
    vm: Machine, function: Function, arguments: Arguments, node: ast.AST, returning: Callable[[ast.expr, Value], None]
) -> None:
    """Run a function, and show each value that it returns to `returning`, where it is returned."""
    bound = bind(vm, function, arguments)
    if bound is not None and not too_heavy(vm, function) and not _too_deep(vm, function, bound):
        _run(vm, function, bound, node, returning=returning)


def _follow(vm: Machine, function: Function, bound: dict[str, Value], node: ast.AST) -> Value:
    token = start_recording(vm)
    try:
        result = _run(vm, function, bound, node)
    except PathEnd:
        stop_recording(vm, token)
        raise
    remember(vm, function, bound, token, result)
    return result


def _too_deep(vm: Machine, function: Function, bound: dict[str, Value]) -> bool:
    ident = id(function.node)
    vm.entered[ident] = vm.entered.get(ident, 0) + 1
    if vm.entered[ident] > vm.limits.entries or len(vm.stack) > MAX_CALL_DEPTH:
        return True
    scope = scope_of(function.node)
    entered = [frame for frame in vm.stack if frame.scope is scope]
    if len(entered) <= MAX_BLIND_RECURSION:
        return False
    before = entered[-1].arguments
    advancing = any(_advances(vm, value, entered) for name, value in bound.items() if value != before.get(name))
    return len(entered) > MAX_RECURSION or not advancing


def _advances(vm: Machine, value: Value, entered: Sequence[Frame]) -> bool:
    """Whether an argument that changed may get smaller from call to call until a recursion ends."""
    if isinstance(value, Union):
        return any(_advances(vm, option, entered) for option in value.options)
    # Where a test that nothing decides says whether the recursion goes on, no number does.
    counts = vm.undecided == entered[-1].undecided
    if isinstance(value, Const):
        known = entered[-1].arguments.values()
        return (counts and type(value.value) is int) or any(_holds(vm, each, value) for each in known)
    if isinstance(value, Ref) and isinstance(vm.record(value), InstanceRecord):
        # Of the objects that were there before the recursion there are only so many; one that it makes may be any of many.
        old = value.address < entered[0].ident
        return old and not any(value in frame.arguments.values() for frame in entered)
    # What is counted down without a number comes to no end behind a test that may have returned for all of them alike.
    counts = counts and not entered[-1].gated
    return isinstance(value, Tup | Ref) or (counts and isinstance(value, Num | Tensor | Range))


def _holds(vm: Machine, whole: Value, part: Value) -> bool:
    """Whether a list or dict holds a value: a recursion that goes from it to that value goes down known data."""
    record = record_held_by(vm, whole)
    items = record.items if isinstance(record, ListRecord | DictRecord) else None
    return part in (items.values() if isinstance(items, dict) else items or ())


def bind(vm: Machine, function: Function, arguments: Arguments) -> dict[str, Value] | None:
    """Parameter values by name, None when Python could not bind them."""
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    bound: dict[str, Value] = {}
    for parameter, value in zip(positional, arguments.args, strict=False):
        bound[parameter.arg] = value
    if spec.vararg is not None:
        rest = arguments.args[len(positional) :]
        bound[spec.vararg.arg] = vm.opaque(spec.vararg.arg) if arguments.open else Tup(tuple(rest))
    elif len(arguments.args) > len(positional):
        return None
    if not _bind_keywords(vm, spec, arguments, bound):
        return None
    _bind_defaults(vm, function, arguments.open, bound)
    complete = all(a.arg in bound for a in every_argument(spec))
    return bound if complete else None


def _bind_keywords(vm: Machine, spec: ast.arguments, arguments: Arguments, bound: dict[str, Value]) -> bool:
    names = {a.arg for a in (*spec.args, *spec.kwonlyargs)}
    extra: dict[Value, Value] = {}
    for key, value in arguments.kwargs.items():
        if key in names:
            if key in bound:
                return False
            bound[key] = value
        else:
            extra[Const(key)] = value
    if spec.kwarg is not None:
        bound[spec.kwarg.arg] = vm.allocate(DictRecord(extra, exact=not arguments.open))
        return True
    return not extra


def _bind_defaults(vm: Machine, function: Function, is_open: bool, bound: dict[str, Value]) -> None:
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    first = len(positional) - len(function.defaults)
    defaults: dict[str, Value] = {a.arg: d for a, d in zip(positional[first:], function.defaults, strict=False)}
    for argument, default in zip(spec.kwonlyargs, function.kw_defaults, strict=False):
        if default is not None:
            defaults[argument.arg] = default
    for argument in (*positional, *spec.kwonlyargs):
        if argument.arg in bound:
            continue
        if is_open:
            bound[argument.arg] = vm.opaque(argument.arg)
        elif argument.arg in defaults:
            bound[argument.arg] = defaults[argument.arg]


def _run(
    vm: Machine,
    function: Function,
    bound: dict[str, Value],
    node: ast.AST,
    block: Callable[[Value], Value] | None = None,
    returning: Callable[[ast.expr, Value], None] | None = None,
) -> Value:
    frame = enter(vm, function, node)
    frame.block, frame.returning = block, returning
    frame.arguments = bound
    returned = False
    saved_frame, saved_loops, saved_node = vm.frame, vm.loops, vm.node
    vm.stack.append(frame)
    vm.frame, vm.loops = frame, []
    positional = function.node.args.posonlyargs + function.node.args.args
    if function.owner is not None and positional and function.kind != "static":
        frame.receiver = bound[positional[0].arg]
    try:
        for argument in every_argument(function.node.args):
            value = refine_parameter(vm, argument, bound[argument.arg])
            vm.assign(frame.ident, argument.arg, value)
            if vm.shape_log is not None:
                vm.shape_log.note("parameter", argument, value, argument.arg)
        result = _finish(vm, frame, function)
        returned = True
        return result
    finally:
        vm.stack.pop()
        vm.frame, vm.loops, vm.node = saved_frame, saved_loops, saved_node
        if vm.shape_log is not None:
            vm.shape_log.left(frame, returned)


def enter(vm: Machine, function: Function, node: ast.AST) -> Frame:
    """A new frame for a call of `function` at `node`."""
    parent = vm.frame_of(function.frame)
    frame = Frame(vm.serial(), function.name, scope_of(function.node), parent.module, parent)
    frame.owner = function.owner
    frame.caller, frame.function, frame.undecided = node, function, vm.undecided
    vm.open_frame(frame)
    return frame


def _finish(vm: Machine, frame: Frame, function: Function) -> Value:
    """Run the body and join the ways it ends."""
    node = function.node
    if isinstance(node, ast.Lambda):
        result = vm.language.evaluate(vm, node.body)
        _leave(vm, frame, result)
        return result
    entry = Entry(vm, frame) if frame.scope.is_generator and frame.block is None else None
    after = vm.follow(lambda: vm.language.execute_block(vm, node.body))
    ends: list[tuple[Value, State]] = list(frame.returns)
    if after is not None:
        ends.append((NONE, after))
    if never_returns(vm, node):
        raise ProcessEnd
    if not ends:
        if entry is not None and frame.yields:
            vm.state = vm.state.fork()
            return entry.generator(vm, None, endless=True)
        raise PathEnd
    vm.state = join_states(vm, [state for _, state in ends])
    if entry is not None:
        result = entry.generator(vm, handed_out(vm, frame))
    else:
        result = join_many(vm, [value for value, _ in ends])
        result = refine_return(vm, function, result)
    _leave(vm, frame, result)
    return result


def _leave(vm: Machine, frame: Frame, result: Value) -> None:
    """Drop the variables of a finished call unless a closure, or a generator that it gives, still sees them."""
    frame.returns.clear()
    if frame.captured or reads_of(vm, result, frame.ident):
        return
    vm.close_frame(frame)
    for name in frame.scope.locals:
        vm.state.drop((frame.ident, name))
