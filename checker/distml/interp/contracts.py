"""The program's own contracts: an `assert` or a `raise` about sizes that certainly ends the program (SHP7xx).

A check that fires is a finding only for a call that the program certainly makes, with numbers that it fixes itself. So
nothing is said in code that nobody called, in what is imported, in what is consumed later or by others (generators,
coroutines, callbacks), under a condition that is not decided, nor where the exception may be caught: by a `try`, or by a
manager or a caller that is not known. What is not about sizes says nothing either: a check of modes, types, versions or
flags is the program's own affair. The finding stands where the numbers were written: at the call that passes them.
"""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING, NamedTuple

from distml.interp.arguments import Arguments
from distml.interp.calls import call_op
from distml.interp.comprehensions import for_each
from distml.interp.findings import fail
from distml.interp.installed import seen_from
from distml.interp.machine import Handler, PathEnd
from distml.interp.storage import holds_module
from distml.interp.truth import truth
from distml.ops import Note, ShapeError
from distml.ops.dialect import library_of
from distml.shapes import Origin
from distml.source.project import is_model
from distml.values import (
    NONE,
    Class,
    Const,
    InstanceRecord,
    Lib,
    ListRecord,
    Num,
    Prim,
    Ref,
    ShapeSeq,
    Tensor,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from distml.interp.frames import Frame
    from distml.interp.machine import Machine
    from distml.interp.reached import Test

_ERRORS = frozenset(
    f"builtins.{name}"
    for name in "ArithmeticError AssertionError BaseException Exception RuntimeError TypeError ValueError".split()
)
"""What a program raises for sizes that it does not take; others also end loops, tests and programs, or leave work to others."""
_LONGEST = 160


class Leaf(NamedTuple):
    """A number, or numbers, in a condition: as written, as it is, and where it was born."""

    text: str
    value: str
    origins: tuple[Origin, ...]


def check_fails(
    vm: Machine, node: ast.AST, test: ast.expr, message: ast.expr | None, only_of_callers: bool = False
) -> bool:
    """An assertion does not hold: a finding if it is about sizes and certainly stops the program; whether it is one."""
    if not _is_certain(vm):
        return False
    what = f"the assertion `{vm.snippet(test)}`{_inside(vm)} fails"
    if is_model(vm.frame.module.source):
        what = f"{_called(vm)} wants `{vm.snippet(test)}`"
    return _report(vm, "SHP701", node, _reasons(vm, test, False), what, message, only_of_callers)


def check_raises(vm: Machine, node: ast.Raise) -> None:
    """The program raises: a finding if it does so because of sizes, and certainly."""
    if not (vm.frame.tests and _is_certain(vm)):
        return
    test = vm.frame.tests[-1]
    made = node.exc if isinstance(node.exc, ast.Call) else None
    raised = node.exc if made is None else made.func
    if isinstance(raised, ast.Name | ast.Attribute) and _is_error(vm, raised):
        what = f"{vm.snippet(raised)} is raised{_inside(vm)} because {_outcome(vm, test)}"
        _report(vm, "SHP702", node, _reasons_of(vm, test), what, made.args[0] if made and made.args else None)


def _outcome(vm: Machine, test: Test) -> str:
    if test.pattern is None:
        return f"`{vm.snippet(test.node)}`" + ("" if test.holds else " does not hold")
    verb = "matches" if test.holds else "does not match"
    return f"`{vm.snippet(test.node)}` {verb} `{vm.snippet(test.pattern)}`"


def asserted(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    """`torch._assert(condition, message)`: an assertion that tracers see."""
    if vm.watcher is not None:
        return call_op(vm, "torch._assert", arguments, node, library_of("torch._assert"))
    values = arguments.values()
    if not values or truth(vm, values[0]) is not False:
        return NONE
    if isinstance(node, ast.Call) and node.args:
        check_fails(vm, node, node.args[0], node.args[1] if len(node.args) > 1 else None)
    raise vm.raised()


def _is_certain(vm: Machine) -> bool:
    """Whether what is run now is run for sure, by the program itself, and nothing unknown may catch what it raises."""
    if vm.symbolic or vm.import_depth or vm.sheltered or vm.running_later or vm.watcher is not None:
        return False
    return not any(frame.left_open or _runs_later(frame) for frame in vm.stack)


def _runs_later(frame: Frame) -> bool:
    """Generators and coroutines are run when somebody consumes them."""
    called = None if frame.function is None else frame.function.node
    return frame.scope.is_generator or isinstance(called, ast.AsyncFunctionDef)


def _is_error(vm: Machine, raised: ast.expr) -> bool:
    value = vm.language.evaluate(vm, raised)
    bases = vm.at(value.address).mro if isinstance(value, Class) else (value,)
    first = next((base for base in bases if isinstance(base, Lib)), None)
    return first is not None and first.name in _ERRORS and None not in bases


def _inside(vm: Machine) -> str:
    if len(vm.stack) < 2:
        return ""
    owner = None if vm.frame.owner is None else vm.at(vm.frame.owner)
    return f" in {vm.frame.name}" if owner is None else f" in {owner.name}.{vm.frame.name}"


def _called(vm: Machine) -> str:
    """What the program calls of a library that a model stands for, as it writes it."""
    call, frame = seen_from(vm, vm.node, vm.frame) or (None, None)
    return vm.snippet(call.func, frame=frame) if isinstance(call, ast.Call) else "the library"


# --- what a condition is about ---------------------------------------------------------


def _reasons_of(vm: Machine, test: Test) -> list[Leaf]:
    """Those of a condition; a pattern is about sizes unless it asks for a type, a key, or None, True or False."""
    if test.pattern is None:
        return _reasons(vm, test.node, test.holds)
    others = any(isinstance(part, _NO_SIZES) for part in ast.walk(test.pattern))
    return [] if others else _leaves(vm, [test.node])


_NO_SIZES = (ast.MatchClass, ast.MatchMapping, ast.MatchSingleton)


def _reasons(vm: Machine, test: ast.expr, outcome: bool) -> list[Leaf]:
    """The sizes that make a condition come out as it does; none where it is not about sizes, or not only about known ones."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _reasons(vm, test.operand, not outcome)
    if isinstance(test, ast.BoolOp):
        return _of_operands(vm, test, outcome)
    if isinstance(test, ast.Compare):
        return _leaves(vm, [test.left, *test.comparators])
    if isinstance(test, ast.BinOp):
        return _leaves(vm, [test])
    if isinstance(test, ast.Call):
        return _of_items(vm, test, outcome)
    return _of_caller(vm, test, outcome) if isinstance(test, ast.Name) else []


def _of_operands(vm: Machine, test: ast.BoolOp, outcome: bool) -> list[Leaf]:
    if isinstance(test.op, ast.Or) is not outcome:
        return [leaf for operand in test.values for leaf in _reasons(vm, operand, outcome)]
    for operand in test.values:
        if truth(vm, _peek(vm, operand)) is outcome:
            return _reasons(vm, operand, outcome)
    return []


_QUANTIFIERS = {"builtins.any": True, "builtins.all": False}
"""Each with the outcome for which one item is enough; for the other it takes all."""


def _of_items(vm: Machine, test: ast.Call, outcome: bool) -> list[Leaf]:
    """Those of `any(...)`, an `or` of the items of a comprehension or a display, and of `all(...)`, an `and` of them."""
    function = _peek(vm, test.func)
    decisive = _QUANTIFIERS.get(function.name) if isinstance(function, Lib) else None
    items = test.args[0] if decisive is not None and len(test.args) == 1 else None
    if isinstance(items, ast.List | ast.Tuple | ast.Set):
        return _of_operands(vm, ast.BoolOp(ast.Or() if decisive else ast.And(), items.elts), outcome)
    if not isinstance(items, ast.GeneratorExp | ast.ListComp | ast.SetComp):
        return []
    item = items.elt
    found: list[list[Leaf]] = []

    def ask() -> None:
        if outcome is not decisive or (not found and truth(vm, vm.language.evaluate(vm, item)) is outcome):
            found.append(_reasons(vm, item, outcome))

    known = _trial(vm, lambda: Const(for_each(vm, items, ask))) == Const(True)
    return _merged(found) if known and all(found) else []


def _merged(found: list[list[Leaf]]) -> list[Leaf]:
    """One leaf for what is written the same, with each of its values."""
    merged: dict[str, list[Leaf]] = {}
    for leaf in itertools.chain(*found):
        merged.setdefault(leaf.text, []).append(leaf)
    return [
        Leaf(
            text,
            ", ".join(dict.fromkeys(leaf.value for leaf in leaves)),
            tuple(dict.fromkeys(origin for leaf in leaves for origin in leaf.origins)),
        )
        for text, leaves in merged.items()
    ]


def _of_caller(vm: Machine, test: ast.Name, outcome: bool) -> list[Leaf]:
    """A condition that the caller made: `check(width % 8 == 0, "...")`."""
    frame = vm.frame
    function, call = frame.function, frame.caller
    if function is None or not isinstance(call, ast.Call) or len(vm.stack) < 2 or vm.stack[-1] is not frame:
        return []
    names = [a.arg for a in (*function.node.args.posonlyargs, *function.node.args.args)]
    given: dict[str | None, ast.expr] = dict(zip(names, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords}
    argument = given.get(test.id)
    if argument is None or any(isinstance(part, ast.Starred) for part in call.args) or frame.receiver is not None:
        return []
    stack = vm.stack
    vm.stack, vm.frame = stack[:-1], stack[-2]
    try:
        return _reasons(vm, argument, outcome)
    finally:
        vm.stack, vm.frame = stack, frame


def _leaves(vm: Machine, parts: Sequence[ast.expr]) -> list[Leaf]:
    """The named sizes in parts of a condition; none where one of them is no size, or is not known."""
    found: dict[str, Leaf] = {}
    for part in parts:
        for leaf in _split(part):
            if isinstance(leaf, ast.Constant):
                if type(leaf.value) is not int:
                    return []
                continue
            shown = _shown(vm, leaf)
            if shown is None:
                return []
            found[shown.text] = shown
    return list(found.values())


def _split(part: ast.expr) -> Iterator[ast.expr]:
    """The operands of arithmetic, one by one."""
    if isinstance(part, ast.BinOp):
        yield from _split(part.left)
        yield from _split(part.right)
    elif isinstance(part, ast.UnaryOp):
        yield from _split(part.operand)
    elif isinstance(part, ast.Tuple | ast.List):
        for item in part.elts:
            yield from _split(item)
    else:
        yield part


def _shown(vm: Machine, leaf: ast.expr) -> Leaf | None:
    """What a part of a condition is, if it is a size or sizes that the program fixes."""
    if isinstance(leaf, ast.Attribute) and isinstance(_peek(vm, leaf.value), Lib):
        return None  # what a library says of itself or of the machine
    if (isinstance(leaf, ast.Call) and not _is_measure(vm, leaf)) or reads_exposed(vm, leaf):
        return None
    value = _trial(vm, lambda: vm.language.evaluate(vm, leaf))
    origins: list[Origin] = []
    text = None if value is None else _text(vm, value, origins)
    if text is None or (not origins and _counts_truths(vm, leaf)):
        return None
    return Leaf(vm.snippet(leaf), text, tuple(origins))


def reads_exposed(vm: Machine, read: ast.expr) -> bool:
    """Whether an expression reads the attributes of a library's layer that is older than a call which was not followed.

    The constructor of a layer fixes its sizes, so that who asserts them thereafter asserts what other code made of them: what
    prunes a network, or puts adapters into it. Code that is not followed may be this code, whoever gave it the network.
    """
    held = [_peek(vm, part.value) for part in ast.walk(read) if isinstance(part, ast.Attribute)]
    older = [value for value in held if isinstance(value, Ref) and value.address <= vm.unfollowed]
    records = [vm.record(value) for value in older if holds_module(vm, value)]
    return any(isinstance(record, InstanceRecord) and isinstance(record.cls, Lib) for record in records)


def _counts_truths(vm: Machine, leaf: ast.expr) -> bool:
    """Whether a number says how many conditions hold: a sum of truth values, written here or kept in a variable."""
    if isinstance(leaf, ast.Name):
        frame = vm.frame
        body = frame.module.source.tree if frame.function is None else frame.function.node
        kept = [each for each in ast.walk(body) if isinstance(each, ast.Assign) and _is_target(each, leaf.id)]
        return any(_counts_truths(vm, each.value) for each in kept if not isinstance(each.value, ast.Name))
    if isinstance(leaf, ast.Call) and leaf.args:
        made = _peek(vm, leaf.func)
        return isinstance(made, Lib) and made.name == "builtins.sum" and _holds_truths(vm, leaf.args[0])
    return isinstance(leaf, ast.BinOp) and any(_is_truth(_peek(vm, part)) for part in _split(leaf))


def _is_target(node: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)


def _holds_truths(vm: Machine, node: ast.expr) -> bool:
    def first() -> Value:
        items = vm.iterate(vm.language.evaluate(vm, node))
        given = items if isinstance(items, tuple) else (items.item,)
        return next((item for item in given if _is_truth(item)), NONE)

    return _is_truth(_trial(vm, first) or NONE)


def _is_truth(value: Value) -> bool:
    return (isinstance(value, Const) and type(value.value) is bool) or (
        isinstance(value, Prim) and value.kind == "bool"
    )


_MEASURES = frozenset(f"builtins.{name}" for name in "len int min max abs sum round tuple list".split())


def _is_measure(vm: Machine, call: ast.Call) -> bool:
    """A call that only measures: of a built-in, or of a method of a tensor. Others may do anything a second time."""
    if isinstance(call.func, ast.Attribute):
        return isinstance(_peek(vm, call.func.value), Tensor)
    made = _peek(vm, call.func)
    if isinstance(made, Lib) and made.name == "builtins.len" and len(call.args) == 1:
        measured = _peek(vm, call.args[0])
        record = vm.record(measured) if isinstance(measured, Ref) else None
        # What is empty may be there to be filled.
        return isinstance(measured, Tensor | Tup) or (isinstance(record, ListRecord) and bool(record.items))
    return isinstance(made, Lib) and made.name in _MEASURES


def _peek(vm: Machine, node: ast.expr) -> Value:
    return _trial(vm, lambda: vm.language.evaluate(vm, node)) or NONE


def _trial(vm: Machine, run: Callable[[], Value]) -> Value | None:
    """A value that is looked at once more; what that does or breaks is forgotten."""
    start = vm.state
    vm.state = start.fork()
    vm.handlers.append(Handler(catches_shapes=True, speculative=True))
    try:
        return run()
    except PathEnd:
        return None
    finally:
        vm.handlers.pop()
        vm.state = start


def _text(vm: Machine, value: Value, origins: list[Origin]) -> str | None:
    """A size or sizes as a message shows them, their places added to `origins`; None for anything else."""
    if isinstance(value, Const) and type(value.value) is int:
        if value.origin is not None:
            origins.append(value.origin)
        return str(value.value)
    if isinstance(value, Num):
        dim = vm.facts.dim(value.dim)
        return None if dim.constant is None else _text(vm, Const(dim.constant, dim.origin), origins)
    if isinstance(value, ShapeSeq):
        dims = vm.facts.shape(value.shape).dims
        return None if dims is None else _text(vm, Tup(tuple(vm.number(dim) for dim in dims)), origins)
    record = vm.record(value) if isinstance(value, Ref) else None
    items = record.items if isinstance(record, ListRecord) else value.items if isinstance(value, Tup) else None
    if items is None:
        return None
    texts = [_text(vm, item, origins) for item in items]
    if None in texts:
        return None
    inside = ", ".join(text for text in texts if text is not None)
    return f"[{inside}]" if isinstance(value, Ref) else f"({inside},)" if len(texts) == 1 else f"({inside})"


# --- where it is told ------------------------------------------------------------------


def _report(
    vm: Machine,
    code: str,
    check: ast.AST,
    leaves: list[Leaf],
    what: str,
    message: ast.expr | None,
    only_of_callers: bool = False,
) -> bool:
    """Tell of a check that fires because of `leaves`, if there are any; whether that was done."""
    origins = list(dict.fromkeys(origin for leaf in leaves for origin in leaf.origins))
    frame, node = _place(vm, check, origins)
    if not leaves or (only_of_callers and node is check):
        return False
    said = _words(vm, message)
    sizes = ", ".join(f"{leaf.text} is {leaf.value}" for leaf in leaves)
    notes = [] if node is check or is_model(vm.frame.module.source) else [Note("the check", vm.origin(check))]
    notes += [Note(f"{origin.text or 'the size'} comes from here", origin) for origin in origins]
    saved, vm.frame = vm.frame, frame
    try:
        fail(vm, ShapeError(code, f"{what}: {sizes}" + (f'; it says "{said}"' if said else ""), notes), node)
    finally:
        vm.frame = saved
    return True


def _words(vm: Machine, message: ast.expr | None) -> str:
    """The program's own message, where it is text that is known."""
    value = NONE if message is None or not isinstance(message, ast.Constant | ast.JoinedStr) else _peek(vm, message)
    if not isinstance(value, Const) or not isinstance(value.value, str):
        return ""
    text = " ".join(value.value.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _place(vm: Machine, check: ast.AST, origins: list[Origin]) -> tuple[Frame, ast.AST]:
    """The innermost call on the way to the check in whose function one of the numbers was written.

    A number that was written in none of them, such as a default, tells nothing. Without any the check itself is the
    place if its function wrote them, else the outermost call that passes something. A check of an installed package is
    told at the program's call into it, as whatever fails there.
    """
    seen = seen_from(vm, check, vm.frame) if vm.frame.module.source.installed else None
    if seen is not None:
        return seen[1], seen[0]
    callers = list(zip(vm.stack, vm.stack[1:], strict=False))
    for caller, called in reversed(callers):
        if called.caller is not None and any(_wrote(caller, origin) for origin in origins):
            return caller, called.caller
    if not any(_wrote(vm.frame, origin) for origin in origins):
        for caller, called in callers:
            if called.caller is not None and any(value is not called.receiver for value in called.arguments.values()):
                return caller, called.caller
    return vm.frame, check


def _wrote(frame: Frame, origin: Origin) -> bool:
    """Whether a number was written in the body that runs in a frame, not in that of a function around it."""
    if frame.module.source.path != origin.path:
        return False
    if frame.function is None:
        return not _in_function(frame.module.source.tree, origin.line)
    body = frame.function.node.body
    first, last = (body[0], body[-1]) if isinstance(body, list) else (body, body)
    return first.lineno <= origin.line <= (last.end_lineno or last.lineno)


def _in_function(tree: ast.Module, line: int) -> bool:
    return any(
        isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and part.lineno <= line <= (part.end_lineno or part.lineno)
        for part in tree.body
    )


CHECKS = {"torch._assert": asserted}
"""Assertions that are calls."""
