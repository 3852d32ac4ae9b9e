"""Whether two ranks that made the same decisions communicate alike; if not, where they part and why."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from distml.spmd.library import RANKS
from distml.spmd.trace import UNCOUNTED, Event, Exit, Trace, Turn
from distml.spmd.values import Place

MESSAGES = frozenset({"send", "receive"})
MAX_EVENTS = 512
"""So many events of a loop are compared one by one."""


class Parting(NamedTuple):
    """Two ranks that do not meet: `events` is what each comes to, None at its end."""

    kind: str
    events: tuple[Event | None, Event | None]
    at: tuple[int, int]
    leap: Exit | None = None
    """How one rank left a loop that the other went on with."""


class Cause(NamedTuple):
    """The condition that came out differently, and where one rank left because of it."""

    turns: tuple[Turn, Turn]
    inside: tuple[bool, bool]
    """Which of the events depend on the condition."""
    left: Exit | None = None
    gone: int = 0
    """The rank that left, if one did."""


def parting(one: Trace, other: Trace) -> Parting | None:
    """The first place where two ranks do not meet, None where they always do."""
    mine, theirs = _followable(one.events, other.events)
    if _as_often(mine, theirs):
        return None
    position = [0, 0]
    while position[0] < len(mine) or position[1] < len(theirs):
        first = mine[position[0]] if position[0] < len(mine) else None
        second = theirs[position[1]] if position[1] < len(theirs) else None
        further = [event is not None and event.turns is not None for event in (first, second)]
        if any(further) and not (all(further) and _same_loop(first, second)):
            for rank in (0, 1):
                found = _stopped(rank, (first, second), (one, other)) if further[rank] else None
                if found is not None:
                    return found
                position[rank] += further[rank]
            continue
        kind = _difference(first, second)
        if kind == "unclear" or (
            kind == "messages" and not _answered(first, mine[position[0] :], theirs[position[1] :])
        ):
            return None
        if kind:
            at = (_index(one.events, first), _index(other.events, second))
            return Parting(kind, (first, second), at)
        position = [position[0] + 1, position[1] + 1]
    return None


def _as_often(one: list[Event], other: list[Event]) -> bool:
    """Whether two ranks communicate alike, however they spread it over loops of so many iterations."""
    mine, theirs = _one_by_one(one), _one_by_one(other)
    known = mine is not None and theirs is not None and len(mine) == len(theirs)
    return known and not any(map(_difference, mine or (), theirs or ()))


def _one_by_one(events: list[Event]) -> list[Event] | None:
    """The events of all iterations; None where their number is not known, or large."""
    found: list[Event] = []
    for event in events:
        if event.turns is None:
            found.append(event)
            continue
        body = found[_index(found, event.first) :]
        if event.turns < 0 or len(body) * event.turns > MAX_EVENTS:
            return None
        found += body * (event.turns - 1)
    return found


def _answered(message: Event | None, *rest: list[Event]) -> bool:
    """Whether both ranks come to the other half of a message later: a function may hold one half alone."""
    return all(any(each.name in MESSAGES and message and each.name != message.name for each in one) for one in rest)


def _same_loop(first: Event | None, second: Event | None) -> bool:
    return first is not None and second is not None and _path(first) == _path(second)


def _path(event: Event) -> list[int]:
    return [id(place.node) for place in (*event.chain, event.place)]


def _stopped(rank: int, events: tuple[Event | None, Event | None], traces: tuple[Trace, Trace]) -> Parting | None:
    """A further turn of a loop that the other rank has left, None where it only counts its turns in another way."""
    further = events[rank]
    if further is None or traces[1 - rank].joins:
        return None
    for leap in traces[1 - rank].exits:
        there = [place.node for place in leap.chain] == [place.node for place in further.chain]
        if there and _ends(leap, further.place.node):
            at = (_index(traces[0].events, events[0]), _index(traces[1].events, events[1]))
            pair = (further.first, None) if rank == 0 else (None, further.first)
            return Parting("again", pair, at, leap)
    return None


def _ends(leap: Exit, loop: ast.AST) -> bool:
    """Whether an exit leaves a loop in whose function it stands."""
    if leap.word == "break":
        return any(node is leap.place.node for node in _own(loop))
    return leap.word != "continue" and any(node is leap.place.node for node in ast.walk(loop))


def _own(loop: ast.AST) -> Iterator[ast.AST]:
    """What stands in a loop and in no other loop in it."""
    for child in ast.iter_child_nodes(loop):
        yield child
        if not isinstance(child, ast.For | ast.AsyncFor | ast.While):
            yield from _own(child)


def _followable(one: list[Event], other: list[Event]) -> tuple[list[Event], list[Event]]:
    """The events, without messages if it is not known of each who its other side is."""
    sides = ((one, 1), (other, 0))
    clear = all(event.peer == peer for events, peer in sides for event in events if event.name in MESSAGES)
    if clear and len(sides) == RANKS:
        return one, other
    kept = [[event for event in events if event.name not in MESSAGES] for events, _ in sides]
    return kept[0], kept[1]


def _difference(first: Event | None, second: Event | None) -> str:
    """How two events differ; nothing where they meet."""
    names = {event.name for event in (first, second) if event is not None and event.name in MESSAGES}
    if names:
        if first is None or second is None or not {first.name, second.name} <= MESSAGES:
            return "unclear"
        return "messages" if first.name == second.name else ""
    if first is None or second is None:
        return "missing"
    if first.name != second.name:
        return "order"
    if first.turns != second.turns and UNCOUNTED not in (first.turns, second.turns):
        return "turns"
    if first.root != second.root and None not in (first.root, second.root):
        return "root"
    if first.shape and second.shape and _unlike(first.shape, second.shape):
        return "shape"
    return ""


def _unlike(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether sizes differ, or types where both are known."""
    return one[:-1] != other[:-1] or (bool(one[-1]) and bool(other[-1]) and one[-1] != other[-1])


def _index(events: list[Event], event: Event | None) -> int:
    return next((number for number, each in enumerate(events) if each is event), len(events))


def cause(found: Parting, one: Trace, other: Trace) -> tuple[Parting, Cause] | None:
    """Why two ranks part: the last condition before that came out differently and that one of the events, or a leap
    past it, or an earlier event without a partner, depends on. None where nothing explains it; then nothing is said.
    """
    outcomes = _outcomes(other.turns)
    seen: dict[tuple[int, ...], int] = {}
    pairs: list[tuple[Turn, Turn]] = []
    for turn in one.turns:
        visit = seen[turn.site] = seen.get(turn.site, -1) + 1
        theirs = outcomes.get(turn.site, [])
        if visit < len(theirs) and theirs[visit].outcome != turn.outcome:
            if turn.at <= found.at[0] and theirs[visit].at <= found.at[1]:
                pairs.append((turn, theirs[visit]))
    explained = _explaining(found, one, other, pairs)
    return (found, explained) if explained is not None else _earlier(found, one, other, pairs)


def _earlier(found: Parting, one: Trace, other: Trace, pairs: list[tuple[Turn, Turn]]) -> tuple[Parting, Cause] | None:
    """An event without a partner that met another of its name before."""
    for turns in reversed(pairs):
        sides = [
            [event for event in trace.events[: at + 1] if event.turns is None and _depends(event, turn)]
            for trace, turn, at in zip((one, other), turns, found.at)
        ]
        names = [[(event.name, event.shape) for event in side] for side in sides]
        if names[0] != names[1]:
            same = next((n for n, (mine, theirs) in enumerate(zip(*names)) if mine != theirs), min(map(len, names)))
            first, second = (side[same] if same < len(side) else None for side in sides)
            explained = (
                Parting("missing", (first, second), found.at),
                Cause(turns, (first is not None, second is not None)),
            )
            if _mends(explained, found, one, other):
                return explained
    return None


def _mends(explained: tuple[Parting, Cause], found: Parting, one: Trace, other: Trace) -> bool:
    """Whether the ranks would go on together for longer if they had not done what depends on the condition."""
    copies = Trace(list(one.events), exits=one.exits), Trace(list(other.events), exits=other.exits)
    if not without(explained, *copies):
        return False
    later = parting(*copies)
    kept = len(copies[0].events) + len(copies[1].events)
    removed = len(one.events) + len(other.events) - kept
    return later is None or sum(later.at) + removed > sum(found.at)


def without(explained: tuple[Parting, Cause], one: Trace, other: Trace) -> bool:
    """Take what depends on a condition, and met nothing, out of both traces; whether that left them comparable."""
    why = explained[1]
    if why.left is not None or why.turns[0].loop:
        return False
    before = len(one.events) + len(other.events)
    for trace, turn, event, at in zip((one, other), why.turns, explained[0].events, explained[0].at):
        met = at if event is None else _index(trace.events, event)
        trace.events[met:] = [each for each in trace.events[met:] if not _depends(each, turn)]
    return len(one.events) + len(other.events) < before


def _outcomes(turns: list[Turn]) -> dict[tuple[int, ...], list[Turn]]:
    found: dict[tuple[int, ...], list[Turn]] = {}
    for turn in turns:
        found.setdefault(turn.site, []).append(turn)
    return found


def _explaining(found: Parting, one: Trace, other: Trace, pairs: list[tuple[Turn, Turn]]) -> Cause | None:
    for turns in reversed(pairs) if found.leap is None else ():
        inside = tuple(_depends(event, turn) for event, turn in zip(found.events, turns))
        if any(inside):
            return Cause(turns, (inside[0], inside[1]))
    for turns in reversed(pairs):
        for rank, (trace, turn, at) in enumerate(zip((one, other), turns, found.at)):
            for leap in reversed(trace.exits):
                if found.leap is not None and leap is not found.leap:
                    continue
                leaves = len(leap.chain) == len(turn.chain) and _misses(leap, found.events[1 - rank])
                if (
                    (leaves or leap.word in ("raise", "exit"))
                    and turn.at <= leap.at <= at
                    and within((*leap.chain, leap.place), turn)
                ):
                    return Cause(turns, (False, False), leap, rank)
    return None


def _misses(leap: Exit, event: Event | None) -> bool:
    """Whether an event is in the very call that one rank has left, or in one that it makes."""
    return event is not None and _path(event)[: len(leap.chain)] == [id(place.node) for place in leap.chain]


def _depends(event: Event | None, turn: Turn) -> bool:
    return event is not None and within((*event.chain, event.place), turn)


def within(places: tuple[Place, ...], turn: Turn) -> bool:
    """Whether the last of `places`, which lead to each other by calls, depends on a condition in this very call of it."""
    depth = len(turn.chain)
    if [place.node for place in places[:depth]] != [place.node for place in turn.chain]:
        return False
    nodes = {id(node) for part in turn.inside for node in ast.walk(part)}
    return any(id(place.node) in nodes for place in places[depth:])
