"""Says what is wrong: what meets what, why the ranks part, and what to change."""

from __future__ import annotations

import ast
from typing import NamedTuple

from distml.diagnostics.model import Diagnostic, Related, Span
from distml.source.file import SourceFile
from distml.spmd.compare import Cause, Parting
from distml.spmd.library import DECIDES, MAKES
from distml.spmd.trace import Event, Note, Turn
from distml.spmd.values import Place

MAX_TEXT = 60


class Finding(NamedTuple):
    """A finding before it is written down. `anchor` is what it is said of once only."""

    code: str
    place: Place
    message: str
    anchor: ast.AST
    related: tuple[tuple[str, Place], ...] = ()
    hint: str | None = None
    name: str = ""
    lacking: int | None = None
    path: tuple[Place, ...] = ()
    """Where it may be shown instead, if `place` is in a file that is not asked about."""
    root: ast.AST | None = None
    owner: ast.AST | None = None


def noted(note: Note) -> Finding:
    """A finding on one place."""
    return Finding(note.code, note.place, note.message, note.place.node, note.related, note.hint)


def at_home(finding: Finding, home: SourceFile) -> Finding | None:
    """The finding at a place of the file that is checked; None where it is a matter of another file alone."""
    if finding.place.source is home:
        return finding
    place = next((place for place in finding.path if place.source is home), None)
    return finding._replace(place=place) if place is not None else None


def diagnostic(finding: Finding) -> Diagnostic:
    """A finding as it is reported."""
    span = finding.place.source.span(finding.place.node)
    related = tuple(Related(text, _head(place)) for text, place in finding.related)
    return Diagnostic(finding.code, finding.message, span, related, finding.hint)


def describe(parted: Parting, explained: tuple[Parting, Cause] | None, joins: bool) -> Finding | None:
    """The finding on two ranks that part; None where nothing explains it. `joins` where ranks wait for those with more
    turns.
    """
    if explained is not None and (parted.kind != "shape" or explained[0] is not parted):
        parted, why = explained
    else:
        why = None
    first, second = parted.events
    if parted.kind in ("root", "shape", "turns", "messages") and first is not None and second is not None:
        unlike = _unlike(parted.kind, first, second)
        return None if joins and parted.kind == "turns" else unlike._replace(path=_backward(first))
    if why is None or (joins and (why.turns[0].loop or parted.kind == "again")):
        return None
    found = _explained(parted, why)
    shown = [event for event in (first, second) if event is not None]
    ways = [way for event in shown if found and (way := _onward(event, found.place))]
    return found._replace(path=ways[0]) if found and ways else found


def _explained(parted: Parting, why: Cause) -> Finding | None:
    first, second = parted.events
    if why.left is not None:
        return _left(parted, why)
    if why.turns[0].local is not None or why.turns[1].local is not None:
        return _local(parted, why)
    if why.inside == (True, True) and first is not None and second is not None:
        return _crossed(first, second, why)
    return _alone(parted, why)


def _onward(event: Event, place: Place) -> tuple[Place, ...]:
    """The way from a place to an event."""
    path = (*event.chain, event.place)
    return path[next((n for n, each in enumerate(path) if each.node is place.node), len(path)) :]


def _backward(event: Event) -> tuple[Place, ...]:
    """The way from an event to where the program began."""
    return (event.place, *reversed(event.chain))


def _alone(parted: Parting, why: Cause) -> Finding | None:
    """A collective that depends on a condition on the rank."""
    rank = 0 if why.inside[0] else 1
    event, other = parted.events[rank], parted.events[1 - rank]
    if event is None:
        return None
    place = _shown(event, why.turns[rank])
    related = (*_condition(why), *_deeper(event, place), *_next(other, 1 - rank))
    name = f"`{_call(event)}`"
    if why.turns[rank].loop:
        message = f"{name} is called in each iteration of a loop that rank {rank} runs more often than rank {1 - rank}"
        hint = "run the same number of iterations on every rank"
        return Finding("SPM103", place, message, why.turns[0].place.node, related, hint, event.name, 1 - rank)
    if event.name in MAKES:
        message = f"{name} is reached by rank {rank} and not by rank {1 - rank}: creating a group is a collective of all ranks"
        hint = "call it on all ranks, including those that are not members of the group"
        return Finding("SPM104", place, message, why.turns[0].place.node, related, hint, event.name, 1 - rank)
    if event.name in DECIDES:
        message = (
            f"{name} is created on rank {rank} and not on rank {1 - rank}: it calls collectives, which need all ranks"
        )
        hint = "pass the callback on all ranks; only callbacks that write files belong on rank 0 alone"
        return Finding("SPM101", place, message, why.turns[0].place.node, related, hint, event.name, 1 - rank)
    message = f"{name} is reached by rank {rank} and not by rank {1 - rank}: rank {rank} blocks indefinitely"
    hint = "call it on all ranks: move it out of the code that depends on the rank"
    return Finding("SPM101", place, message, why.turns[0].place.node, related, hint, event.name, 1 - rank)


def _left(parted: Parting, why: Cause) -> Finding | None:
    """A collective that one rank does not reach, for it left before."""
    leap, rank = why.left, 1 - why.gone
    event = parted.events[rank]
    if event is None or leap is None:
        return None
    local = why.turns[0].local or why.turns[1].local
    place = _shown(event, why.turns[rank])
    word = {"exit": "ends", "assert": "fails"}.get(leap.word, f"leaves with `{leap.word}`")
    related = ((f"rank {1 - rank} {word} here", leap.place), *_condition(why), *_deeper(event, place))
    anchor = why.turns[0].place.node
    if local is not None:
        message = f"a rank that {word} in {_line(leap.place)} does not reach `{_call(event)}`; other ranks may"
        related = (related[0], (local.why, local.place), *related[1:])
        return Finding("SPM301", place, message, anchor, related, _AGREE)
    again = " again" if parted.kind == "again" else ""
    message = f"`{_call(event)}` is not reached{again} by rank {1 - rank}, which {word} in {_line(leap.place)}"
    hint = "let all ranks leave together, or none before this collective"
    return Finding("SPM102", place, message, anchor, related, hint, event.name, 1 - rank)


def _line(place: Place) -> str:
    cell = place.source.notebook and place.source.notebook.place(place.source.span(place.node))
    return f"line {cell.line} of cell {cell.cell}" if cell else f"line {place.node.lineno}"


_AGREE = "make the value the same on all ranks first: all-reduce it, or broadcast one rank's decision"


def _local(parted: Parting, why: Cause) -> Finding | None:
    """A collective under a condition on a value that every rank has its own of."""
    rank = 0 if why.inside[0] else 1
    event = parted.events[rank]
    local = why.turns[0].local or why.turns[1].local
    if event is None or local is None:
        return None
    turn = why.turns[rank]
    place = _shown(event, turn)
    related = ((local.why, local.place), *_condition(why), *_deeper(event, place))
    name = f"`{_call(event)}`"
    if turn.loop:
        message = f"{name} is called in every iteration, and ranks may run different numbers of iterations"
        hint = "give every rank the same number of iterations: pad or drop the remainder, or use `Join`"
        return Finding("SPM304", place, message, turn.place.node, related, hint)
    message = f"{name} depends on a rank-local value: some ranks may reach it, others not"
    return Finding("SPM301", place, message, turn.place.node, related, _AGREE)


def _crossed(first: Event, second: Event, why: Cause) -> Finding:
    place = _shown(first, why.turns[0])
    message = f"rank 0 reaches `{_call(first)}` where rank 1 reaches `{_call(second)}`: they wait for each other"
    related = (("rank 1 is here", _shown(second, why.turns[1])), *_condition(why))
    return Finding(
        "SPM201", place, message, why.turns[0].place.node, related, "call them in the same order on all ranks"
    )


def _unlike(kind: str, first: Event, second: Event) -> Finding:
    """Two that meet, but not as one."""
    name = f"`{_call(first)}`"
    if kind == "root":
        message = f"{name} has root {first.root} on rank 0 and root {second.root} on rank 1"
        return Finding("SPM202", first.place, message, first.place.node, (), "pass the same root rank on all ranks")
    if kind == "shape":
        mine, theirs = (_shape(each) for each in (first, second))
        if first.name in MAKES:
            mine, theirs = (f"[{', '.join((each.shape or ())[:-1])}]" for each in (first, second))
            message = f"{name} creates the group {mine} on rank 0 and {theirs} on rank 1"
            return Finding(
                "SPM201", first.place, message, first.place.node, (), "create groups in the same order on all ranks"
            )
        message = f"{name} gets a tensor of {mine} on rank 0 and of {theirs} on rank 1"
        related = (("rank 1 is here", second.place),) if second.place.node is not first.place.node else ()
        hint = "pass tensors of the same shape and dtype; pad them, or use the object collectives"
        return Finding("SPM203", first.place, message, first.place.node, related, hint)
    if kind == "turns":
        known = [str(each.turns) for each in (first, second) if each.turns != -1]
        counts = f"{known[0]} iterations on rank 0 and {known[1]} on rank 1" if len(known) == 2 else _UNEVEN
        message = f"the loop runs {counts}, and each calls a collective"
        hint = "run the same number of iterations on every rank"
        inner = first.first or first
        place = inner.chain[len(first.chain)] if len(inner.chain) > len(first.chain) else inner.place
        return Finding("SPM103", place, message, first.place.node, (("the loop", first.place),), hint)
    what = "sends before it receives" if first.name == "send" else "receives before it sends"
    message = f"rank 0 {what}, and so does rank 1: each waits for the other"
    related = (("rank 1 is here", second.place),) if second.place.node is not first.place.node else ()
    hint = "swap send and receive on one of the two ranks, or use `isend` or `batch_isend_irecv`"
    return Finding("SPM401", first.place, message, first.place.node, related, hint)


_UNEVEN = "different numbers of iterations on rank 0 and on rank 1"


def _shape(event: Event) -> str:
    *sizes, kind = event.shape or ("",)
    text = f"shape [{', '.join(sizes)}]"
    return f"{text} and type {kind.rpartition('.')[2]}" if kind else text


def _condition(why: Cause) -> tuple[tuple[str, Place], ...]:
    turns = why.turns
    text = _text(turns[0].place.node)
    if turns[0].loop:
        return (("this loop continues on one of them only", turns[0].place),)
    outcomes = ["true" if turn.outcome else "false" for turn in turns]
    if turns[0].local or turns[1].local:
        return ((f"`{text}` may be true on one rank and false on another", turns[0].place),)
    return ((f"`{text}` is {outcomes[0]} on rank 0 and {outcomes[1]} on rank 1", turns[0].place),)


def _deeper(event: Event, place: Place) -> tuple[tuple[str, Place], ...]:
    return () if place.node is event.place.node else ((f"`{event.name}` is called here", event.place),)


def _next(other: Event | None, rank: int) -> tuple[tuple[str, Place], ...]:
    if other is None or other.turns is not None:
        return ()
    return ((f"rank {rank} goes on to `{other.name}` here", other.place),)


def _shown(event: Event, turn: Turn) -> Place:
    """The place of an event as seen from where the condition stands: the call that leads to it."""
    path = (*event.chain, event.place)
    depth = 0
    while depth < len(turn.chain) and depth < len(path) - 1 and turn.chain[depth].node is path[depth].node:
        depth += 1
    return path[depth]


def _call(event: Event) -> str:
    node = event.place.node
    return _shorten(ast.unparse(node.func)) if isinstance(node, ast.Call) else event.name


def _text(node: ast.AST) -> str:
    test = getattr(node, "test", node)
    return _shorten(ast.unparse(test).partition("\n")[0])


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


def _head(place: Place) -> Span:
    span = place.source.span(place.node)
    if isinstance(place.node, ast.stmt) and hasattr(place.node, "body"):
        first = place.source.lines[span.line - 1]
        span = span._replace(end_line=span.line, end_column=len(first.rstrip()) + 1)
    return span
