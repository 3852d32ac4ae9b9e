"""The state of one rank on one path."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from distml.source.file import SourceFile
from distml.source.project import Project
from distml.spmd.files import FileFacts, facts_of
from distml.spmd.told import Watch
from distml.spmd.touched import path_of
from distml.spmd.trace import Choices, Event, Exit, Note, Site, Touch, Trace, Turn
from distml.spmd.values import NOTHING_TOLD, Class, Local, Place, Scope, Unknown, Value, key, local_of, trained

if TYPE_CHECKING:
    from distml.spmd.language import Language

MAX_STEPS = 40_000
MAX_CALLS = 24
_MISSING: Any = object()
Write = tuple[dict[Any, Any], Any, Any]


class OutOfBudgetError(Exception):
    """The path is too long to be followed."""


class Run:
    """Follows a program as rank `rank`."""

    def __init__(
        self,
        language: Language,
        rank: int,
        choices: Choices,
        project: Project,
        deadline: float,
        watch: Watch | None = None,
    ) -> None:
        self.language = language
        self._rank = rank
        self.asked_rank = False
        self.choices = choices
        self.project = project
        self.watch = watch
        self.trace = Trace()
        self.chain: tuple[Place, ...] = ()
        self.active: list[ast.AST] = []
        self.entered: set[int] = set()
        self.fields: dict[tuple[str, str], Value] = {}
        self.bases: dict[tuple[int, int], tuple[Class, list[Value]]] = {}
        self.ranked: set[str] = set()
        self.files: dict[str, Scope] = {}
        self.settled: dict[int, tuple[Unknown, Unknown]] = {}
        self.muted = 0
        self.unsynced = 0
        self.checked = 0
        self.resume: list[Callable[[Value], None]] = []
        self.sampling = 0
        self.rehearsed = 0
        self.unused: ast.expr | None = None
        """The expression of the statement at hand, where that is nothing else."""
        self.steps = 0
        self._deadline = deadline
        self._visits: dict[Site, int] = {}
        self._logs: list[list[Write]] = []
        self._facts: dict[SourceFile, FileFacts] = {}

    @property
    def rank(self) -> int:
        """The rank; what never asks for it does the same on all ranks."""
        self.asked_rank = True
        return self._rank

    def step(self) -> None:
        """Count a statement or an expression. Raises `OutOfBudgetError`."""
        self.steps += 1
        if self.steps > MAX_STEPS or (self.steps % 256 == 0 and time.process_time() > self._deadline):
            raise OutOfBudgetError

    def facts(self, source: SourceFile) -> FileFacts:
        """What is known of a file."""
        if source not in self._facts:
            self._facts[source] = facts_of(source, self.project)
        return self._facts[source]

    def file(self, source: SourceFile) -> Scope:
        """The names of a file."""
        return self.files.setdefault(source.location, Scope(source))

    def write(self, store: dict[Any, Any], name: Any, value: Any) -> None:
        """Set `store[name]`, so that it can be taken back."""
        for log in self._logs[-1:]:
            log.append((store, name, store.get(name, _MISSING)))
        store[name] = value

    @contextmanager
    def tentative(self) -> Iterator[dict[tuple[int, Any], tuple[dict[Any, Any], Any, Any]]]:
        """Take back all that is written inside; what was written is in the result afterwards, with its last value."""
        log: list[Write] = []
        written: dict[tuple[int, Any], tuple[dict[Any, Any], Any, Any]] = {}
        self._logs.append(log)
        try:
            yield written
        finally:
            self._logs.pop()
            for store, name, _ in log:
                written[id(store), name] = (store, name, store.get(name))
            for store, name, before in reversed(log):
                if before is _MISSING:
                    store.pop(name, None)
                else:
                    store[name] = before

    def lose(self, written: dict[tuple[int, Any], tuple[dict[Any, Any], Any, Any]], where: str) -> None:
        """Forget what may have been written."""
        for store, name, value in written.values():
            self.write(store, name, self.blurred(name, value, where))

    def blurred(self, name: Any, value: Any, where: str) -> Any:
        """A value after an unknown number of changes."""
        if isinstance(value, bool) and name == "exact":
            return False
        if isinstance(value, list | dict | tuple):
            return value
        text = name if isinstance(name, str) else ".".join(map(str, name)) if isinstance(name, tuple) else str(name)
        kind = value.type if isinstance(value, Unknown) else ""
        each = value.each if isinstance(value, Unknown) else None
        return Unknown(f"{text}{where}", local_of(value), kind, trained(value), each=each)

    def settle(self, old: Unknown, text: str) -> None:
        """What `old` is, under whatever name, is the same on all ranks from here on."""
        self.write(self.settled, id(old), (old, Unknown(text, shape=old.shape)))

    def averaged(self, values: Iterable[Value]) -> None:
        """Variables of objects that keep numbers are averaged: what the objects say is the same on all ranks from here on."""
        keys = [each.key for each in values if isinstance(each, Unknown) and self.watch is not None]
        for old, new in list(self.settled.values()) if keys else ():
            if new.local is not None and any(key.startswith(f"{new.key}.variables") for key in keys):
                latest = self.current(old)
                if isinstance(latest, Unknown) and latest.local is not None:
                    self.write(self.settled, id(latest), (latest, replace(latest, local=None)))

    def current(self, value: Value) -> Value:
        """A value as it is now."""
        while isinstance(value, Unknown) and id(value) in self.settled:
            value = self.settled[id(value)][1]
        return value

    def decide(self, value: Value, place: Place) -> bool:
        """How a condition comes out that nobody knows."""
        if isinstance(value, Unknown) and value.either:
            decisive, first, second = value.either
            return decisive if self.decide(first, place) is decisive else self.decide(second, place)
        local = local_of(value)
        told = value.told if isinstance(value, Unknown) else NOTHING_TOLD
        site = self.site(place)
        visit = self._visits[site] = self._visits.get(site, 0) + 1
        rank = self.rank if local is not None else None
        return self.choices.decide(key(value), site, visit, rank, told)

    def site(self, place: Place) -> Site:
        """What tells one place on one way to it from all others."""
        return (*(id(call.node) for call in self.chain), id(place.node))

    def turn(
        self,
        place: Place,
        outcome: bool,
        inside: tuple[ast.AST, ...],
        local: Local | None = None,
        loop: bool = False,
        guess: str = "",
    ) -> None:
        """A condition came out."""
        if not self.muted:
            at = len(self.trace.events)
            self.trace.turns.append(Turn(self.site(place), place, self.chain, outcome, inside, at, local, loop, guess))

    def hand(self, place: Place) -> None:
        """A call that is not followed was given what communicates."""
        if not self.muted:
            self.trace.handed.append((*self.chain, place))

    def join(self) -> None:
        """Ranks with less to do wait for the others from here on."""
        self.trace.joins = True

    def say(self, event: Callable[[tuple[Place, ...]], Event]) -> None:
        """Something is communicated."""
        if not self.muted:
            self.trace.events.append(event(self.chain))

    def tell(self, place: Place, values: Iterable[Value]) -> None:
        """A watched call is made; what a loop would tell in further iterations counts too."""
        local = local_of(*map(self.current, values))
        if local is not None and local.data:
            self.trace.told.append(place)

    def record_files(self, place: Place, paths: list[tuple[str, bool]]) -> None:
        """Files are written or looked for: an iteration that is followed once more counts then.

        What stands for further iterations comes behind all that one iteration does, and has nobody wait.
        """
        if paths and not self.rehearsed:
            site, at = self.site(place), self._communicated()
            self.trace.touched += [Touch(place, site, path, writes, at, self.chain) for path, writes in paths]

    def record_given(self, place: Place, values: Iterable[Value]) -> None:
        """A call of a library whose result is used reads what it is told of, if that was written since the ranks have met."""
        if place.node is self.unused or self.rehearsed:
            return
        at = self._communicated()
        self.trace.given.add(self.site(place))
        written = {each.path for each in self.trace.touched if each.writes and each.at == at}
        self.record_files(place, [(path, False) for path in map(path_of, values) if path in written] if written else [])

    def _communicated(self) -> int:
        """How often the ranks have met so far."""
        return sum(each.name != "turns" for each in self.trace.events)

    @contextmanager
    def iteration(self) -> Iterator[None]:
        """One iteration that stands for all: what it looks for before the ranks meet, the next one looks for behind its end."""
        begun, at = len(self.trace.touched), self._communicated()
        yield
        again = [each for each in self.trace.touched[begun:] if each.at == at and not each.writes]
        now = self._communicated()
        self.trace.touched += [each._replace(at=now) for each in again]

    def note(self, note: Note) -> None:
        """Something is wrong here whatever the other rank does."""
        if not self.muted:
            self.trace.notes.append(note)

    def leave(self, word: str, place: Place) -> None:
        """Control leaves a function, a loop or the process."""
        if not self.muted:
            self.trace.exits.append(Exit(word, place, self.chain, len(self.trace.events)))

    @contextmanager
    def sample(self) -> Iterator[list[Event]]:
        """Follow all sides of what nobody knows; nothing is kept but what may be communicated, in the result."""
        trace = self.trace
        found: list[Event] = []
        recorded: tuple[list[Any], ...] = (trace.events, trace.turns, trace.exits, trace.notes, trace.handed)
        marks = [len(each) for each in recorded]
        self.sampling += 1
        try:
            with self.tentative():
                yield found
        finally:
            self.sampling -= 1
            found += trace.events[marks[0] :]
            for each, mark in zip(recorded, marks):
                del each[mark:]

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """What is followed inside is followed once more afterwards."""
        self.rehearsed += 1
        try:
            yield
        finally:
            self.rehearsed -= 1

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Nothing inside is recorded."""
        self.muted += 1
        try:
            yield
        finally:
            self.muted -= 1

    @contextmanager
    def calling(self, place: Place, function: ast.AST) -> Iterator[None]:
        """Inside of a call."""
        before = self.chain
        self.chain = (*before, place)
        self.active.append(function)
        self.entered.add(id(function))
        try:
            yield
        finally:
            self.chain = before
            self.active.pop()
