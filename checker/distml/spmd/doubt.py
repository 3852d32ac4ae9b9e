"""What speaks against a difference between two ranks that was found: what the program may know and the source does not say.

A function that communicates under a condition of its own (`if split == "train"`, `if self.wrapped is None`) may be called
by one rank alone with what makes the condition false. And what is handed to code of others, as a callback or an object, may
be called there.
"""

from __future__ import annotations

import ast
import re

from distml.source.bindings import last_name
from distml.spmd.compare import Cause, Parting, within
from distml.spmd.trace import Event, Exit, Trace, Turn
from distml.spmd.values import Place

_DISTRIBUTED = re.compile(
    r"is_initialized|is_available|world_?size|num_processes|distributed|n(?:um)?_?gpus?\b|\bddp\b|multi_?gpu"
)
"""Conditions that ask whether there are other ranks at all. There are."""


def exchanged(parted: Parting, traces: tuple[Trace, Trace]) -> bool:
    """Whether tensors that do not fit meet under a condition that nobody knows: sizes may have been compared there."""
    return parted.kind == "shape" and any(
        event is not None and turn.guess and within((*event.chain, event.place), turn)
        for event, trace in zip(parted.events, traces)
        for turn in trace.turns
    )


def sends_alone(parted: Parting, entry: ast.AST | None) -> bool:
    """Whether a rank names itself as the root in a function that nothing in sight calls, and hands that to another one.

    Then the sender alone may run the first, while the others call the second with the rank of the sender.
    """
    own = all(event is not None and event.root == rank for rank, event in enumerate(parted.events))
    return parted.kind == "root" and entry is not None and own and all(event and event.chain for event in parted.events)


def _is_served(event: Event, own: Trace, other: Trace) -> bool:
    """Whether ranks wait for a collective in a loop of the file whose turns are decided by what they get there, and others call
    it elsewhere: `while True: task = comm.bcast(); if task is None: break`. A loop that may end otherwise is one that only the
    rank without the event runs.
    """
    tree = event.place.source.tree
    everywhere = _calls_of(tree, event.name)
    run, met = ({each.place.node for each in trace.events} for trace in (own, other))
    for loop in ast.walk(tree):
        if isinstance(loop, ast.While | ast.For) and _takes_orders(loop, event.name):
            calls = {*_calls_of(loop, event.name)}
            others = met & calls and run.isdisjoint(calls)
            if len(calls) < len(everywhere) and (_is_endless(loop) or others):
                return True
    return False


def _takes_orders(loop: ast.While | ast.For, name: str) -> bool:
    """Whether a condition in a loop asks for what a collective of that name gave; one that ends by itself is left then."""
    parts = list(ast.walk(loop))
    calls = _calls_of(loop, name)
    targets = [
        target for part in parts if isinstance(part, ast.Assign) and part.value in calls for target in part.targets
    ]
    filled = [argument for call in calls for argument in call.args]
    given = {each.id for each in (*targets, *filled) if isinstance(each, ast.Name)}
    tests = (part.test for part in parts if isinstance(part, ast.If) and (_is_endless(loop) or _leaves(part)))
    return any(isinstance(each, ast.Name) and each.id in given for test in tests for each in ast.walk(test))


def _leaves(node: ast.If) -> bool:
    return any(isinstance(each, ast.Break | ast.Return) for each in ast.walk(node))


def _calls_of(tree: ast.AST, name: str) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and last_name(node.func) == name]


def _is_endless(loop: ast.While | ast.For) -> bool:
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and bool(loop.test.value)


def doubtful(parted: Parting, why: Cause, traces: tuple[Trace, Trace]) -> bool:
    """Whether the ranks may meet all the same."""
    sites = [{turn.site for turn in trace.turns} for trace in traces]
    own = [[turn for turn in trace.turns if turn.site not in other] for trace, other in zip(traces, reversed(sites))]
    for rank, (event, trace, turn) in enumerate(zip(parted.events, traces, why.turns)):
        met = parted.events[1 - rank]
        lacks = not why.inside[rank] and (why.left is None or rank == why.gone)
        if lacks and any(within(way, turn) for way in trace.handed):
            return True
        if lacks and any(_tries_again(leap, trace) for leap in trace.exits if within(_way(leap), turn)):
            return True
        if lacks and met is not None and any(_otherwise(met, each) for each in own[rank]):
            return True
        if event is not None and met is None and _is_served(event, trace, traces[1 - rank]):
            return True
        if event is not None and any(_guessed(event, trace, each, turn) for each in trace.turns):
            return True
    return why.left is not None and _tries_again(why.left, traces[why.gone])


def _otherwise(met: Event, guess: Turn) -> bool:
    """Whether a rank that lacks `met` may have it too, if a guess that it alone makes comes out otherwise."""
    if not guess.guess:
        return False
    return any(_calls_of(part, met.name) for part in guess.inside)


def _tries_again(leap: Exit, trace: Trace) -> bool:
    """Whether a rank that goes on with `continue` may come to the same place in a later turn, while the others wait."""
    if leap.word != "continue":
        return False
    around = [turn for turn in trace.turns if within(_way(leap), turn)]
    loops = [turn.place.node for turn in around if turn.loop]
    return bool(loops) and isinstance(loops[-1], ast.While) and any(turn.guess for turn in around)


def _way(leap: Exit) -> tuple[Place, ...]:
    return (*leap.chain, leap.place)


def _guessed(event: Event, trace: Trace, guess: Turn, cause: Turn) -> bool:
    """Whether `event` is reached if `guess` comes out as it was decided, in a function called from where the cause is."""
    path = (*event.chain, event.place)
    depth = len(guess.chain)
    if not guess.guess or depth <= len(cause.chain) or guess.at > _position(event, trace):
        return False
    if [place.node for place in path[:depth]] != [place.node for place in guess.chain]:
        return False
    return not _whether_distributed(guess.guess) and (within(path, guess) or _returns(guess))


def _position(event: Event, trace: Trace) -> int:
    return next((number for number, each in enumerate(trace.events) if each is event), len(trace.events))


def _whether_distributed(text: str) -> bool:
    return all(_DISTRIBUTED.search(part) for part in re.split(r" and | or ", text))


def _returns(turn: Turn) -> bool:
    """Whether the function is left on the side that was not taken."""
    return any(isinstance(node, ast.Return | ast.Raise) for part in turn.inside for node in ast.walk(part))
