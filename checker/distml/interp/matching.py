"""`match` statements."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.branches import either
from distml.interp.names import assign_name
from distml.interp.one_value import asked
from distml.interp.operators import compare
from distml.interp.reached import Test, run_arm
from distml.interp.state import State, join_states
from distml.interp.truth import truth
from distml.interp.typetests import is_instance
from distml.ops.python.keys import canonical, find_key
from distml.solver.formula import Flag, Formula, negate
from distml.values import (
    Class,
    Const,
    DictRecord,
    InstanceRecord,
    Lib,
    ListRecord,
    Opaque,
    Ref,
    SetRecord,
    Tensor,
    Tup,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.machine import Machine


def execute_match(vm: Machine, node: ast.Match) -> None:
    """Run the first case that matches; one that may match is the arm of an `if` whose other arm is the cases behind it."""
    _cases(vm, node, node.cases, vm.language.evaluate(vm, node.subject))


def _cases(vm: Machine, node: ast.Match, cases: list[ast.match_case], subject: Value) -> None:
    tests: list[Test] = []
    for index, case in enumerate(cases):
        before = vm.state.fork()
        matches = match_pattern(vm, case.pattern, subject)
        known = _guarded(vm, case, matches)
        tests += _tested(node, case, matches, known)
        if known is True:
            run_arm(vm, node, tests, case.body, [other.body for other in cases if other is not case])
            return
        if known is None:
            bound, vm.state, others = vm.state, before, cases[index + 1 :]
            _perhaps(vm, bound, case.body, lambda others=others: _cases(vm, node, others, subject))  # type: ignore[misc]
            return
        if not matches:  # what a pattern has bound stays bound where its guard does not hold
            vm.state = before
    run_arm(vm, node, tests, [], [case.body for case in cases])


def _tested(node: ast.Match, case: ast.match_case, matches: bool | None, known: bool | None) -> list[Test]:
    """What a case that is decided has tested; nothing if any subject matches."""
    if case.guard is not None and matches is not False:
        return [Test(case.guard, bool(known))]
    plain = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
    return [] if plain else [Test(node.subject, bool(known), case.pattern)]


def _perhaps(vm: Machine, bound: State, body: list[ast.stmt], others: Callable[[], None]) -> None:
    """Follow a case whose pattern may match, in the state in which its names are bound, and the cases behind it."""

    def case() -> None:
        bound.guard = vm.state.guard
        vm.state = bound
        vm.language.execute_block(vm, body)

    if vm.watcher is None:
        conditions: tuple[Formula, ...] = ()
    else:
        flag = Flag("the case matches", vm.serial())
        conditions = (flag, negate(flag))
    either(vm, [case, others], False, conditions)


def _guarded(vm: Machine, case: ast.match_case, known: bool | None) -> bool | None:
    """Whether the pattern of a case, which matches as `known` says, matches and its guard holds, None when unknown."""
    if known is False or case.guard is None:
        return known
    holds = asked(vm, vm.language.evaluate(vm, case.guard), case.guard)
    return False if holds is False else (known if holds else None)


def match_pattern(vm: Machine, pattern: ast.pattern, value: Value) -> bool | None:
    """Whether a pattern matches a value, None when unknown; captures are bound."""
    if isinstance(pattern, ast.MatchValue):
        return truth(vm, compare(vm, ast.Eq(), value, vm.language.evaluate(vm, pattern.value), pattern))
    if isinstance(pattern, ast.MatchSingleton):
        return truth(vm, compare(vm, ast.Is(), value, Const(pattern.value), pattern))
    if isinstance(pattern, ast.MatchAs):
        known = True if pattern.pattern is None else match_pattern(vm, pattern.pattern, value)
        if pattern.name is not None and known is not False:
            assign_name(vm, pattern.name, value)
        return known
    if isinstance(pattern, ast.MatchOr):
        return _alternatives(vm, pattern.patterns, value)
    if isinstance(pattern, ast.MatchSequence):
        return _sequence(vm, pattern, value)
    if isinstance(pattern, ast.MatchClass):
        return _class(vm, pattern, value)
    if isinstance(pattern, ast.MatchMapping):
        return _mapping(vm, pattern, value)
    return None


def _alternatives(vm: Machine, patterns: list[ast.pattern], value: Value) -> bool | None:
    """The first alternative that matches binds the names; one that does not binds nothing."""
    known: bool | None = False
    ends: list[State] = []
    for pattern in patterns:
        before = vm.state.fork()
        matches = match_pattern(vm, pattern, value)
        known = known if matches is False else matches
        if matches is not False:
            ends.append(vm.state)
        if matches:
            break
        vm.state = before
    if ends:
        vm.state = join_states(vm, ends)
    return known


def _all(answers: list[bool | None]) -> bool | None:
    return False if False in answers else (None if None in answers else True)


def _sequence(vm: Machine, pattern: ast.MatchSequence, value: Value) -> bool | None:
    record = vm.record(value) if isinstance(value, Ref) else None
    if isinstance(value, Const) or isinstance(record, DictRecord | InstanceRecord):
        return False
    known = isinstance(value, Tup) or isinstance(record, ListRecord)
    items = vm.iterate(value) if known else None
    stars = [i for i, p in enumerate(pattern.patterns) if isinstance(p, ast.MatchStar)]
    if not isinstance(items, tuple):
        for inner in pattern.patterns:
            _bind_unknown(vm, inner)
        return None
    count = len(pattern.patterns)
    if (not stars and len(items) != count) or len(items) < count - len(stars):
        return False
    if not stars:
        return _all([match_pattern(vm, p, i) for p, i in zip(pattern.patterns, items, strict=True)])
    star, after = stars[0], count - stars[0] - 1
    end = len(items) - after
    capture = pattern.patterns[star]
    if isinstance(capture, ast.MatchStar) and capture.name:
        assign_name(vm, capture.name, vm.allocate(ListRecord(items[star:end])))
    pairs = [
        *zip(pattern.patterns[:star], items[:star], strict=True),
        *zip(pattern.patterns[star + 1 :], items[end:], strict=True),
    ]
    return _all([match_pattern(vm, p, i) for p, i in pairs])


def _bind_unknown(vm: Machine, pattern: ast.pattern) -> None:
    for part in ast.walk(pattern):
        name = getattr(part, "name", None) or getattr(part, "rest", None)
        if isinstance(name, str):
            assign_name(vm, name, vm.opaque(name))


def _class(vm: Machine, pattern: ast.MatchClass, value: Value) -> bool | None:
    cls = vm.language.evaluate(vm, pattern.cls)
    known = is_instance(vm, value, cls)
    if known is False:
        return False
    answers: list[bool | None] = [known]
    for name, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        attribute = None if isinstance(value, Opaque) else vm.attribute(value, name)
        found = vm.opaque(name) if attribute is None else attribute
        answers.append(match_pattern(vm, inner, found))
    if pattern.patterns:
        answers.append(_positional(vm, pattern, cls, value))
    return _all(answers)


def _positional(vm: Machine, pattern: ast.MatchClass, cls: Value, value: Value) -> bool | None:
    if isinstance(cls, Lib) and cls.name.startswith("builtins.") and len(pattern.patterns) == 1:
        return match_pattern(vm, pattern.patterns[0], value)
    names = _match_args(vm, cls)
    if names is None or len(names) < len(pattern.patterns) or isinstance(value, Opaque):
        for inner in pattern.patterns:
            _bind_unknown(vm, inner)
        return None
    answers: list[bool | None] = []
    for name, inner in zip(names, pattern.patterns, strict=False):
        answers.append(match_pattern(vm, inner, vm.attribute(value, name) or vm.opaque(name)))
    return _all(answers)


def _match_args(vm: Machine, cls: Value) -> list[str] | None:
    """The attributes that positional patterns of a class stand for."""
    if not isinstance(cls, Class):
        return None
    record = vm.at(cls.address)
    if record.fields is not None:
        return [name for name, _ in record.fields]
    listed = record.attrs.get("__match_args__")
    items = listed.items if isinstance(listed, Tup) else ()
    return [item.value for item in items if isinstance(item, Const) and isinstance(item.value, str)]


def _plain(vm: Machine, cls: Class) -> bool:
    """Whether a class has no bases but those of the project."""
    return all(isinstance(base, Class) or base == Lib("builtins.object") for base in vm.at(cls.address).mro)


def _mapping(vm: Machine, pattern: ast.MatchMapping, value: Value) -> bool | None:
    record = vm.record(value) if isinstance(value, Ref) else None
    if not isinstance(record, DictRecord):
        if isinstance(value, Const | Tup | Tensor) or isinstance(record, ListRecord | SetRecord):
            return False
        if isinstance(record, InstanceRecord) and isinstance(record.cls, Class) and _plain(vm, record.cls):
            return False
        _bind_unknown(vm, pattern)
        return None
    answers: list[bool | None] = []
    taken: list[Value | None] = []
    for key_node, inner in zip(pattern.keys, pattern.patterns, strict=True):
        wanted = vm.language.evaluate(vm, key_node)
        key = find_key(vm, record, wanted)
        taken.append(key)
        found = None if key is None else record.items[key]
        if found is None:
            if record.exact and canonical(vm, wanted) is not None:
                return False
            _bind_unknown(vm, inner)
            answers.append(None)
        else:
            answers.append(match_pattern(vm, inner, found))
    if pattern.rest:
        rest = {key: item for key, item in record.items.items() if key not in taken}
        known = record.exact and None not in taken
        assign_name(vm, pattern.rest, vm.allocate(DictRecord(rest, known, None if known else record.rest)))
    return _all(answers)
