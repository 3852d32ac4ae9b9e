"""The parties of a run on one machine: their channels and settings, and how each is played and waited for.

Each party is a function of its channel ends.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from distml.choreo.runtime.codec import Limits
from distml.choreo.runtime.ends import ChannelEnd
from distml.choreo.runtime.errors import PartiesFailed, PartyError, Timeout, describe
from distml.choreo.runtime.party import Link, Party
from distml.choreo.runtime.threads import queue_pair

Ends = Mapping[str | tuple[str, str], ChannelEnd]
Function = Callable[[Ends], Any]
Wire = Mapping[str, Iterable[type]] | Iterable[type]
Open = Callable[[Party], dict[tuple[str, str], ChannelEnd]]

GRACE = 2.0  # seconds that a party has to notice that its time is over


@dataclass(frozen=True)
class Channel:
    """A channel between two roles, and its name where there are several."""

    first: str
    second: str
    name: str = ""

    def peer(self, role: str) -> str:
        """The role at the other end."""
        return self.second if role == self.first else self.first


@dataclass(frozen=True)
class Settings:
    """What every party of a run is told: the classes on the wire by role, limits, and seconds for all of it."""

    wire: Mapping[str, tuple[type, ...]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    timeout: float | None = None

    def party(self, role: str) -> Party:
        """The party of this role."""
        wire = self.wire.get(role, ())
        return Party(role, wire=wire, limits=self.limits, timeout=None, within=self.timeout)


def prepared(
    parties: Mapping[str, Function],
    channels: Iterable[Sequence[str]] | None,
    wire: Wire,
    limits: Limits | None,
    timeout: float | None,
) -> tuple[Settings, list[Channel]]:
    """What the arguments of `run_parties` mean, whatever the transport. Raises ValueError for channels that cannot be."""
    return Settings(_by_role(wire, parties), limits or Limits(), timeout), _routes(parties, channels)


def _by_role(wire: Mapping[str, Iterable[type]] | Iterable[type], roles: Iterable[str]) -> dict[str, tuple[type, ...]]:
    if isinstance(wire, Mapping):
        return {role: tuple(kinds) for role, kinds in wire.items()}
    return dict.fromkeys(roles, tuple(wire))


def _routes(roles: Iterable[str], channels: Iterable[Sequence[str]] | None) -> list[Channel]:
    """The channels, each with its earlier role first. Raises ValueError for a channel to nobody, to oneself or twice."""
    order = list(roles)
    routes = []
    for entry in combinations(order, 2) if channels is None else channels:
        first, second, name = (*entry, "") if len(entry) == 2 else entry
        if first == second or first not in order or second not in order:
            raise ValueError(f"a channel between {first} and {second}: the roles are {', '.join(order)}")
        first, second = sorted((first, second), key=order.index)
        routes.append(Channel(first, second, name))
    if len(set(routes)) < len(routes):
        raise ValueError("two channels between the same roles need different names")
    return routes


def named(ends: Mapping[tuple[str, str], ChannelEnd]) -> dict[str | tuple[str, str], ChannelEnd]:
    """The ends by peer and name, and the first one to each peer by the peer alone."""
    found: dict[str | tuple[str, str], ChannelEnd] = {}
    for (peer, name), end in ends.items():
        found.setdefault(peer, end)
        found[peer, name] = end
    return found


def joined(party: Party, links: Mapping[tuple[str, str], Link]) -> dict[tuple[str, str], ChannelEnd]:
    """Ends of this party over links that are there already."""
    return {key: ChannelEnd(party, key[0], link) for key, link in links.items()}


def over_queues(routes: Iterable[Channel]) -> Open:
    """Opens the ends of a role over queues that are made here."""
    links: dict[str, dict[tuple[str, str], Link]] = {}
    for route in routes:
        first, second = queue_pair()
        links.setdefault(route.first, {})[route.second, route.name] = first
        links.setdefault(route.second, {})[route.first, route.name] = second
    return lambda party: joined(party, links.get(party.role, {}))


@dataclass
class Outcome:
    """What became of the parties so far; failures in the order in which they happened."""

    results: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, BaseException] = field(default_factory=dict)

    def settled(self, roles: Iterable[str]) -> dict[str, Any]:
        """The results in the order of the roles. Raises PartiesFailed, with the failure that was no echo of another."""
        if not self.errors:
            return {role: self.results[role] for role in roles}
        own = [role for role, error in self.errors.items() if not isinstance(error, PartyError) or error.role == role]
        role = (own or list(self.errors))[0]
        error = self.errors[role]
        if isinstance(error, PartyError):
            raise PartiesFailed(error.role, error.message, self.errors) from error
        raise PartiesFailed(role, describe(error), self.errors) from error


def play(function: Function, party: Party, opening: Open) -> Any:
    """Open the ends of a party, call its function, and leave every peer and link as it should be."""
    with party:
        return function(named(opening(party)))


def in_threads(parties: Mapping[str, Function], settings: Settings, opening: Open) -> dict[str, Any]:
    """Run every party in a thread of its own.

    A thread cannot be ended from outside: where one is busy with something else when the time is over, it is reported,
    and left behind as a daemon.
    """
    outcome = Outcome()
    actors = {role: settings.party(role) for role in parties}

    def act(role: str) -> None:
        try:
            outcome.results[role] = play(parties[role], actors[role], opening)
        except BaseException as error:  # told to the caller, whatever it is
            outcome.errors[role] = error

    threads = {role: threading.Thread(target=act, args=(role,), name=f"party {role}", daemon=True) for role in parties}
    try:
        for thread in threads.values():
            thread.start()
        for role in _late(threads, settings.timeout):
            outcome.errors.setdefault(role, Timeout(f"{role} is still busy after {settings.timeout} s"))
    finally:
        for party in actors.values():
            party.close()
    return outcome.settled(parties)


def _late(threads: Mapping[str, threading.Thread], timeout: float | None) -> Iterator[str]:
    """Wait for the threads, and name those that do not end in time."""
    until = None if timeout is None else time.monotonic() + timeout + GRACE
    for role, thread in threads.items():
        thread.join(None if until is None else max(until - time.monotonic(), 0.0))
        if thread.is_alive():
            yield role
