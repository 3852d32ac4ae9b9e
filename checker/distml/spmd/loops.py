"""Loops: a turn stands for all where nobody knows how many there are."""

from __future__ import annotations

import ast
from contextlib import suppress
from dataclasses import replace

from distml.spmd import names
from distml.spmd.expressions import truth_of, value
from distml.spmd.flow import Flow, LeftError
from distml.spmd.library import MAKES, RANKS
from distml.spmd.members import holds_objects
from distml.spmd.run import Run
from distml.spmd.trace import UNCOUNTED, Event, Note
from distml.spmd.values import (
    Function,
    Instance,
    Items,
    Known,
    Place,
    Scope,
    Table,
    Unknown,
    Value,
    derived,
    element,
    key,
    local_of,
    truth,
)

MAX_TURNS = 3
"""So many members of a list are taken one by one; of longer ones, and of unknown ones, one stands for all."""


def while_loop(run: Run, scope: Scope, node: ast.While) -> Flow | None:
    """`while`: turns as long as the condition is known to be true, one where it is not."""
    place = Place(scope.source, node)
    for turn in range(MAX_TURNS):
        test = truth_of(run, scope, node.test)
        known = truth(test)
        if known is None:
            if turn and not local_of(test):
                run.turn(place, False, tuple(node.body), loop=True)
                break
            known = run.sampling > 0 or not _matters(run, scope, node.body) or run.decide(test, place)
        run.turn(place, known, tuple(node.body), local_of(test), loop=True)
        if not known:
            return _after(run, scope, node)
        if not turn:
            with run.rehearsal():
                _forget(run, scope, node, None)
        with run.iteration():
            flow = _turn(run, scope, node.body)
        if flow is not None:
            return None if flow.word == "break" else flow
        if run.sampling:
            return None
    endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    return Flow("cut", place) if endless else _after(run, scope, node)


def for_loop(run: Run, scope: Scope, node: ast.For | ast.AsyncFor) -> Flow | None:
    """`for`: turn by turn where the members are known and few."""
    place = Place(scope.source, node)
    turns = _members(run, scope, node.iter)
    if isinstance(turns, list) and _few(turns):
        return _one_by_one(run, scope, node, turns)
    if not _speaks_or_returns(run, scope, node):
        if run.sampling:
            _sample(run, scope, node, _any(node, turns))
        else:
            _forget(run, scope, node, _any(node, turns))
        return None
    if isinstance(turns, list):
        return _for_all(run, scope, node, _representative(turns, node), turns)
    if turns.uneven and not run.sampling:
        another = run.decide(Unknown(f"another turn of {key(turns)}", turns.uneven), place)
        run.turn(place, another, tuple(node.body), turns.uneven, loop=True)
        if not another:
            return None
    return _for_all(run, scope, node, element(turns), turns)


def _one_by_one(run: Run, scope: Scope, node: ast.For | ast.AsyncFor, members: list[Value]) -> Flow | None:
    place = Place(scope.source, node)
    for member in members:
        run.turn(place, True, tuple(node.body), loop=True)
        run.language.assign(run, scope, node.target, member)
        flow = _turn(run, scope, node.body)
        if flow is not None:
            return None if flow.word == "break" else flow
    run.turn(place, False, tuple(node.body), loop=True)
    return _after(run, scope, node)


def _for_all(
    run: Run, scope: Scope, node: ast.For | ast.AsyncFor, member: Value, turns: list[Value] | Unknown
) -> Flow | None:
    """One turn for all."""
    place = Place(scope.source, node)
    with run.rehearsal():
        _forget(run, scope, node, _any(node, turns))
    run.turn(place, True, tuple(node.body), loop=True)
    before = len(run.trace.events)
    run.language.assign(run, scope, node.target, member)
    with run.iteration():
        flow = _turn(run, scope, node.body)
    _mind_order(run, node, member, before, place)
    if flow is None:
        _again(run, place, before, _number(turns))
    if flow is not None:
        return None if flow.word == "break" else flow
    return _after(run, scope, node)


def _number(turns: list[Value] | Unknown) -> int:
    """How often a loop goes round, as an event says it."""
    if isinstance(turns, list):
        return len(turns)
    return -1 if turns.key.startswith("builtins.range(") else UNCOUNTED


def _again(run: Run, place: Place, before: int, turns: int) -> None:
    """Further turns of a loop, if it communicates in them."""
    if len(run.trace.events) > before and not run.muted:
        first = run.trace.events[before]
        run.say(lambda chain: Event("turns", place, chain, turns=turns, first=first))


_EMPTY = MAKES | {"barrier", "monitored_barrier", "Barrier", "wait_for_everyone", "turns"}
"""Nothing of a member is in them: their order is all the same."""


def _mind_order(run: Run, node: ast.For | ast.AsyncFor, member: Value, before: int, place: Place) -> None:
    """A set of texts has another order in every process, and so have the collectives of its turns."""
    event = next((each for each in run.trace.events[before:] if each.name not in _EMPTY), None)
    if isinstance(member, Unknown) and member.type == "text of a set" and event is not None:
        related = ((f"`{event.name}` is called once for each of its items", event.place),)
        run.note(
            Note(
                "SPM303",
                Place(place.source, node.iter),
                "the iteration order of this set of strings differs between ranks, so they communicate for different items",
                related,
                "iterate over `sorted(...)` of it, or keep the names in a list",
            )
        )


def _after(run: Run, scope: Scope, node: ast.For | ast.AsyncFor | ast.While) -> Flow | None:
    return run.language.execute(run, scope, node.orelse)


def _turn(run: Run, scope: Scope, body: list[ast.stmt]) -> Flow | None:
    flow = run.language.execute(run, scope, body)
    return None if flow is not None and flow.word == "continue" else flow


def _matters(run: Run, scope: Scope, body: list[ast.stmt]) -> bool:
    facts = run.facts(scope.source)
    return any(facts.speaks(each) for each in body)


def _speaks_or_returns(run: Run, scope: Scope, node: ast.For | ast.AsyncFor) -> bool:
    """Whether a turn matters to more than what it changes."""
    facts = run.facts(scope.source)
    return any(facts.speaks(each) or facts.returns(each) for each in (*node.body, *node.orelse))


def _any(node: ast.For | ast.AsyncFor, turns: list[Value] | Unknown) -> Value:
    """A member of which nothing is known but whether it is one of this rank's own."""
    if isinstance(turns, list):
        return derived(f"turn of {node.lineno}", *turns)
    own = turns.each is not None or turns.local is not None
    return element(turns) if own else Unknown(f"turn of {node.lineno}")


def _forget(run: Run, scope: Scope, node: ast.For | ast.AsyncFor | ast.While, member: Value | None) -> None:
    """Forget what this rank may change in a turn: the turn that is followed may be any."""
    if run.sampling:
        return
    run.sampling += 1
    with run.silent(), run.tentative() as written:
        _sample(run, scope, node, member)
    run.sampling -= 1
    run.lose(written, f"@{node.lineno}")


def _sample(run: Run, scope: Scope, node: ast.For | ast.AsyncFor | ast.While, member: Value | None) -> None:
    """A turn of which nothing counts but what it writes."""
    if member is not None and not isinstance(node, ast.While):
        run.language.assign(run, scope, node.target, member)
    with suppress(LeftError), run.iteration():
        run.language.execute(run, scope, node.body)


def _members(run: Run, scope: Scope, node: ast.expr) -> list[Value] | Unknown:
    """What a loop goes through: known members, or something that stands for unknown ones."""
    found = value(run, scope, node)
    # An object stands for all that such a place of the program makes, so that meeting it once tells of the others.
    whole = isinstance(found, Items | Table) and (found.exact or (run.watch is not None and holds_objects(found)))
    if isinstance(found, Table) and whole:
        return [Known(each) for each in found.members]
    if isinstance(found, Items) and whole:
        if found.kind == "set" and len(found.members) > 1 and any(_is_text(each) for each in found.members):
            return Unknown("set", type="text of a set")
        return found.members
    if isinstance(found, Instance) and run.watch is not None:
        found = _iterated(run, found, Place(scope.source, node))
    return found if isinstance(found, Unknown) else derived(key(found), found)


def _iterated(run: Run, through: Instance, place: Place) -> Value:
    """What a loop goes through where it goes through an object of the program."""
    start, step = (names.class_member(run, through.cls, name) for name in ("__iter__", "__next__"))
    found: Value = through
    if isinstance(start, Function):
        found = run.language.invoke(run, replace(start, bound=through), [], {}, place)
    if isinstance(found, Instance) and isinstance(step, Function):
        found = Unknown(key(found), each=run.language.invoke(run, replace(step, bound=through), [], {}, place))
    return found


def _few(members: list[Value]) -> bool:
    """Whether the members of a list are taken one by one."""
    several = len(members) <= MAX_TURNS and not all(map(_plain, members))
    return len(members) <= 1 or _ranks(members) or several


def _ranks(members: list[Value]) -> bool:
    """Whether a loop goes through the ranks."""
    return [each.value if isinstance(each, Known) else each for each in members] == list(range(RANKS))


def _plain(each: Value) -> bool:
    return isinstance(each, Known | Unknown)


def _is_text(each: Value) -> bool:
    return isinstance(each, Known) and isinstance(each.value, str)


def _representative(members: list[Value], node: ast.For | ast.AsyncFor) -> Value:
    same = {key(each) for each in members}
    return members[0] if len(same) == 1 else derived(f"one of {node.lineno}", *members)


def comprehension(run: Run, scope: Scope, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
    """A list, a set, a dictionary or a generator in one expression."""
    inner = Scope(scope.source, parent=scope)
    if len(node.generators) == 1:
        members = _members(run, inner, node.generators[0].iter)
        if isinstance(members, list) and len(members) <= 16:
            return _each(run, inner, node, members)
    parts: list[Value] = []
    tests: list[Value] = []
    for generator in node.generators:
        turns = _members(run, inner, generator.iter)
        member = derived(f"one of {generator.iter.lineno}", *turns) if isinstance(turns, list) else element(turns)
        run.language.assign(run, inner, generator.target, member)
        tests += [value(run, inner, test) for test in generator.ifs]
        parts += [member, *tests]
    results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    parts += [value(run, inner, part) for part in results]
    if run.watch is not None and isinstance(parts[-1], Instance):  # it stands for all that are made here
        return Table({"…": parts[-1]}, False) if isinstance(node, ast.DictComp) else Items([parts[-1]], exact=False)
    return derived(f"{type(node).__name__}({', '.join(map(key, parts))})", *tests, parts[-1])


def _each(
    run: Run, scope: Scope, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, members: list[Value]
) -> Value:
    """Member by member, as far as their conditions are known."""
    generator = node.generators[0]
    results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    found: list[list[Value]] = []
    exact = True
    for member in members:
        run.language.assign(run, scope, generator.target, member)
        tests = [truth(value(run, scope, test)) for test in generator.ifs]
        exact = exact and None not in tests
        if tests:
            run.turn(Place(scope.source, generator.ifs[0]), False not in tests, tuple(results))
        if False not in tests:
            found.append([value(run, scope, part) for part in results])
    if isinstance(node, ast.DictComp):
        keys = [each[0].value if isinstance(each[0], Known) else f"…{key(each[0])}" for each in found]
        named = dict(zip(keys, (each[1] for each in found), strict=True))
        return Table(named, exact and all(isinstance(each[0], Known) for each in found))
    return Items([each[0] for each in found], "set" if isinstance(node, ast.SetComp) else "list", exact)
