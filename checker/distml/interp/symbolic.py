"""Code that nobody calls: functions and classes analyzed with unknown arguments.

What then fails, fails for every argument. A method is analyzed on an object
whose constructor ran with unknown arguments, and which then was through any
methods, in sight or not (`interp/unsettled`).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.calls import call_value
from distml.interp.class_record import ClassRecord
from distml.interp.classes import is_known_base
from distml.interp.expressions import evaluate
from distml.interp.fields import asked
from distml.interp.giving_up import REASON
from distml.interp.instances import instantiate
from distml.interp.machine import ALLOWANCES, LEAST_STEPS, OutOfSteps
from distml.interp.open_classes import is_open
from distml.interp.scope import every_argument
from distml.interp.signatures import stated
from distml.interp.state import State
from distml.interp.unsettled import unsettle_module, unsettle_object
from distml.values import Class, Function, InstanceRecord, Lib, Ref, Value

MAX_CONFIGURATIONS = 3
"""How deep objects that constructors ask for are made for one another."""

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.machine import Machine


def analyze_rest(vm: Machine, settled: Callable[[], None], charged: int = 0) -> None:
    """Analyze what running the module did not reach; `settled` is called before each class and function.

    `charged` of the steps for it were taken already.
    """
    vm.symbolic = True
    vm.symbolic_start = vm.steps - charged
    vm.memo.clear()
    unsettle_module(vm)
    vm.loaded = vm.state
    for code, start in list(vm.entries.items()):
        settled()
        if isinstance(code, Class):
            analyze_class(vm, code, plain=True)
        elif not isinstance(code, Function) or is_unvisited(vm, code.node):
            _in_fresh_state(vm, lambda f=start: _start(vm, f))  # type: ignore[misc]
    for cls in list(vm.classes):
        settled()
        analyze_class(vm, cls)
    for function in list(vm.functions):
        settled()
        if function.owner is None and is_unvisited(vm, function.node):
            _in_fresh_state(vm, lambda f=function: _call(vm, f, ()))  # type: ignore[misc]


def _in_fresh_state(vm: Machine, run: Callable[[], object]) -> None:
    vm.state = vm.loaded.fork()
    vm.stack = [vm.frame]
    vm.handlers, vm.loops, vm.recording = [], [], None
    vm.entered.clear()
    vm.exits = 0
    vm.check_time()
    vm.step_limit = vm.steps + _allowance(vm)
    start = vm.node
    try:
        vm.follow(run)
    except OutOfSteps:
        vm.abandon("it takes too much work to follow from here", start)
    except RecursionError:
        vm.abandon(REASON, start)


def _allowance(vm: Machine) -> int:
    """The steps for the next function: fewer when the file has used up many already.

    Counting steps instead of seconds keeps the findings the same on every machine.
    """
    spent = vm.steps - vm.symbolic_start
    return next((allowed for most, allowed in ALLOWANCES if spent < most), LEAST_STEPS)


def is_unvisited(vm: Machine, node: ast.AST) -> bool:
    """Whether some statement of a function was not run yet; one that is meant to fail is left alone."""
    if isinstance(node, ast.Lambda) or _meant_to_fail(node):
        return False
    return any(
        id(part) not in vm.visited
        for part in _own_statements(node)
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )


def _meant_to_fail(node: ast.AST) -> bool:
    """A test marked as one, or that may be left out: `@pytest.mark.xfail`, `@raises(ValueError)`, `@unittest.skipIf(...)`."""
    texts = [ast.unparse(decorator).lower() for decorator in getattr(node, "decorator_list", ())]
    return any(word in text for text in texts for word in ("xfail", "expectedfailure", "raises", "skip"))


def _own_statements(node: ast.AST) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    waiting: list[ast.AST] = list(getattr(node, "body", []))
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.stmt):
            found.append(part)
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        waiting.extend(
            child
            for child in ast.iter_child_nodes(part)
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
        )
    return found


def _start(vm: Machine, entry: Value) -> None:
    """Run what the user may choose, as one does who gives it no more than it asks for."""
    if isinstance(entry, Function):
        _call(vm, entry, (), plain=True)
    else:
        call_value(vm, entry, Arguments([]))


def _call(vm: Machine, function: Function, first: tuple[Value, ...], plain: bool = False) -> None:
    """Call with every remaining parameter unknown; with those alone that must be given if `plain`."""
    if plain:
        given = _for_function(vm, function.node.args, len(first), required_only=True)
        call_value(vm, function, given.after(*first), function.node)
        return
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args][len(first) :]
    args = [*first, *stated(vm, function, positional)]
    kwargs: dict[str, Value] = {a.arg: vm.opaque(a.arg) for a in spec.kwonlyargs}
    names = {a.arg for a in every_argument(spec)}
    is_open = bool((spec.vararg or spec.kwarg) and names)
    call_value(vm, function, Arguments(args, kwargs, is_open), function.node)


def analyze_class(vm: Machine, cls: Class, plain: bool = False) -> None:
    """Run the methods of a class that nothing has reached, with unknown arguments. If `plain`, those that the user may choose,
    and the constructor, get only the arguments that they ask for."""
    record: ClassRecord | None = vm.at(cls.address)
    if record is None:
        # It was made on a path that no state remembers.
        return
    methods = [
        member for member in record.attrs.values() if isinstance(member, Function) and member.owner == cls.address
    ]
    methods += [
        member.getter  # type: ignore[attr-defined]
        for member in record.attrs.values()
        if type(member).__name__ == "Property" and isinstance(member.getter, Function)  # type: ignore[attr-defined]
    ]
    todo = [m for m in methods if is_unvisited(vm, m.node)]
    if not todo:
        return
    made: list[tuple[Ref, State]] = []

    def make() -> None:
        ref = any_object(vm, cls, plain)
        if ref is not None:
            made.append((ref, vm.state))

    _in_fresh_state(vm, make)
    for method in todo:
        if method.name != "__init__":
            asked = plain and not method.name.startswith("_")
            _in_fresh_state(vm, lambda m=method, p=asked: _call_method(vm, m, cls, made, p))  # type: ignore[misc]


def _call_method(vm: Machine, method: Function, cls: Class, made: list[tuple[Ref, State]], plain: bool) -> None:
    if method.kind == "static":
        _call(vm, method, (), plain)
        return
    if method.kind == "class":
        _call(vm, method, (vm.opaque("cls") if is_open(vm, cls) else cls,), plain)
        return
    if made:
        ref, state = made[0]
        vm.state = state.fork()
        _call(vm, method, (ref,), plain)
    else:
        _call(vm, method, (vm.opaque("self"),), plain)


def any_object(vm: Machine, cls: Class, plain: bool = False) -> Ref | None:
    """An object made with unknown arguments (if `plain`, with those that it asks for) that was through any methods since."""
    record: ClassRecord = vm.at(cls.address)
    value = instantiate(vm, cls, _unknown_arguments(vm, record, required_only=plain), record.node)
    if not isinstance(value, Ref) or not isinstance(vm.record(value), InstanceRecord):
        return None
    unsettle_object(vm, value)
    return value


def constructed(vm: Machine, cls: Class, depth: int = 0) -> Ref | None:
    """An object made as with no more arguments than its constructor asks for.

    One that is annotated with a class of the project (`config: Config`) is such an object in turn;
    the others are unknown.
    """
    record: ClassRecord = vm.at(cls.address)
    given = _unknown_arguments(vm, record, required_only=True)
    init = _constructor(vm, record)
    if init is not None and depth < MAX_CONFIGURATIONS:
        given.args = [_configuration(vm, init, i, value, depth) for i, value in enumerate(given.args)]
    value = instantiate(vm, cls, given, record.node)
    return value if isinstance(value, Ref) and isinstance(vm.record(value), InstanceRecord) else None


def _constructor(vm: Machine, record: ClassRecord) -> Function | None:
    for base in record.mro:
        if isinstance(base, Class):
            init = vm.at(base.address).attrs.get("__init__")
            if isinstance(init, Function):
                return init
            if vm.at(base.address).fields is not None:
                return None
    return None


def _configuration(vm: Machine, init: Function, index: int, value: Value, depth: int) -> Value:
    """An argument as its annotation says, where that is a class whose constructor can do without arguments."""
    spec = init.node.args
    annotation = [*spec.posonlyargs, *spec.args][index + 1].annotation
    if not isinstance(annotation, ast.Name | ast.Attribute):
        return value
    saved, vm.frame = vm.frame, vm.frame_of(init.frame)
    try:
        cls = evaluate(vm, annotation)
    finally:
        vm.frame = saved
    made = constructed(vm, cls, depth + 1) if isinstance(cls, Class) else None
    return value if made is None else made


def _unknown_arguments(vm: Machine, record: ClassRecord, required_only: bool = False) -> Arguments:
    init = _constructor(vm, record)
    if init is not None:
        return _for_function(vm, init.node.args, 1, required_only)
    for base in record.mro:
        if isinstance(base, Class):
            fields = vm.at(base.address).fields
            if fields is not None:
                return Arguments([], {name: vm.opaque(name) for name in asked(fields, required_only)})
        else:  # of a constructor out of sight: the object is as the class says
            return Arguments([], {}, isinstance(base, Lib) and is_known_base(base.name))
    return Arguments([], {}, True)


def _for_function(vm: Machine, spec: ast.arguments, given: int, required_only: bool) -> Arguments:
    """Unknown arguments behind the first `given`: all, or those without a default."""
    names = [*spec.posonlyargs, *spec.args]
    kwargs: dict[str, Value] = {a.arg: vm.opaque(a.arg) for a in spec.kwonlyargs}
    if required_only:
        names = names[: len(names) - len(spec.defaults)]
        for keyword, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
            if default is not None:
                del kwargs[keyword.arg]
    is_open = not required_only and (spec.vararg is not None or spec.kwarg is not None)
    return Arguments([vm.opaque(a.arg) for a in names[given:]], kwargs, is_open)
