"""Starts all parties of a choreography on one machine, for tests and for trying out, and waits for them.

Each party is a function of its channel ends. The transports differ in what lies between the parties, and in nothing else
that a party can see.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from distml.choreo.runtime.codec import Limits
from distml.choreo.runtime.ends import ChannelEnd
from distml.choreo.runtime.errors import PartiesFailed, PartyError, Timeout, describe
from distml.choreo.runtime.party import Link, Party
from distml.choreo.runtime.threads import queue_pair

if TYPE_CHECKING:
    from distml.choreo.runtime.tls import Identity

Ends = Mapping[str | tuple[str, str], ChannelEnd]
Function = Callable[[Ends], Any]
Transport = Literal["threads", "processes", "tcp", "asyncio"]
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


def run_parties(
    parties: Mapping[str, Function],
    *,
    channels: Iterable[Sequence[str]] | None = None,
    transport: Transport = "threads",
    wire: Wire = (),
    limits: Limits | None = None,
    timeout: float | None = 60.0,
    tls: Mapping[str, Identity] | None = None,
) -> dict[str, Any]:
    """Run one function for each role, and return their results by role.

    A function is called with its channel ends: `ends["Seller"]` is the first channel to that peer,
    `ends["Seller", "log"]` the one of that name. `channels` are pairs of roles, or triples with a name; left out, there
    is one between any two roles. `wire` are the classes that may be sent, for all roles or by role, `timeout` the
    seconds for all of it, `tls` the identity of each role for "tcp".

    Over "processes" each party is a new process: functions must be importable, and results be values that can be sent.
    Raises PartiesFailed where a party failed: the first failure, and all of them in `errors`.
    """
    settings, routes = prepared(parties, channels, wire, limits, timeout)
    if tls is not None and transport != "tcp":
        raise ValueError(f"TLS is for the transport tcp, not {transport}")
    if transport == "threads":
        return in_threads(parties, settings, over_queues(routes))
    if transport == "tcp":
        from distml.choreo.runtime.local import over_tcp

        with over_tcp(list(parties), routes, tls) as opening:
            return in_threads(parties, settings, opening)
    if transport == "processes":
        from distml.choreo.runtime.processes import in_processes

        return in_processes(parties, settings, routes)
    if transport == "asyncio":
        import asyncio

        from distml.choreo.runtime.asynchronous import gather_parties

        return asyncio.run(gather_parties(parties, channels=channels, wire=wire, limits=limits, timeout=timeout))
    raise ValueError(f"unknown transport {transport!r}: threads, processes, tcp or asyncio")


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
