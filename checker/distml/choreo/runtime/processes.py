"""Every party in a process of its own; socket pairs lie between them.

What goes from the starting process to the new ones is the program itself. What comes back, results included, is read by
the codec like anything else that comes from a peer.
"""

from __future__ import annotations

import multiprocessing
import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from distml.choreo.runtime.codec import LONGEST_REASON, Codec, shown
from distml.choreo.runtime.errors import Malformed, PartyError, ProtocolError, Timeout, describe
from distml.choreo.runtime.parties import GRACE, Channel, Function, Outcome, Settings, joined, play
from distml.choreo.runtime.sockets import SocketLink

_STARTING = 30.0  # seconds that a new process may take until its own time begins
_BEGUN = b"begun"
_KNOWN = {kind.__name__: kind for kind in (Timeout, ProtocolError)}

Sockets = dict[tuple[str, str], socket.socket]


def in_processes(parties: Mapping[str, Function], settings: Settings, routes: Iterable[Channel]) -> dict[str, Any]:
    """Run every party in a new process, and end those that are still busy when the time is over."""
    sockets = _pairs(parties, routes)
    reports = {role: socket.socketpair() for role in parties}
    context = multiprocessing.get_context("spawn")
    started: dict[str, Any] = {}
    outcome = Outcome()
    try:
        for role, function in parties.items():
            arguments = (function, role, settings, sockets[role], reports[role][1])
            started[role] = context.Process(target=_act, args=arguments, name=f"party {role}", daemon=True)
            started[role].start()
            _close(sockets[role].values())  # the copy here would keep a channel open after its party has gone
            reports[role][1].close()
        _collect(
            outcome, {role: SocketLink(pair[0], settings.limits.message) for role, pair in reports.items()}, settings
        )
    finally:
        _close([end for pair in reports.values() for end in pair])
        _close([end for ends in sockets.values() for end in ends.values()])
        for role, process in started.items():
            _end(process, busy=isinstance(outcome.errors.get(role), Timeout))
    return outcome.settled(parties)


def _pairs(roles: Iterable[str], routes: Iterable[Channel]) -> dict[str, Sockets]:
    sockets: dict[str, Sockets] = {role: {} for role in roles}
    for route in routes:
        first, second = socket.socketpair()
        sockets[route.first][route.second, route.name] = first
        sockets[route.second][route.first, route.name] = second
    return sockets


def _close(sockets: Iterable[socket.socket]) -> None:
    for one in sockets:
        one.close()


def _end(process: Any, *, busy: bool) -> None:
    """Wait for a process that has reported; end one that has not."""
    if process.pid is not None:
        process.join(0 if busy else GRACE)
        process.terminate()
        process.join()
        process.close()


def _act(function: Function, role: str, settings: Settings, sockets: Sockets, report: socket.socket) -> None:
    """What a new process does: its part, and a report of it."""
    codec = Codec(settings.wire.get(role, ()), settings.limits)
    links = {key: SocketLink(one, settings.limits.message) for key, one in sockets.items()}
    reports = SocketLink(report, settings.limits.message)
    reports.send(_BEGUN, None)
    try:
        answer = codec.encode((True, play(function, settings.party(role), lambda party: joined(party, links))))
    except BaseException as error:  # the starting process is told, whatever it is
        answer = codec.encode((False, *_told(role, error)))
    with report:
        reports.send(answer, None)


def _told(role: str, error: BaseException) -> tuple[str, str, str]:
    """An error as its class where it is one of ours, the role that is at fault, and its message."""
    if isinstance(error, PartyError):
        return "PartyError", error.role, shown(error.message, LONGEST_REASON)
    if isinstance(error, tuple(_KNOWN.values())):
        return type(error).__name__, role, shown(str(error), LONGEST_REASON)
    return "PartyError", role, shown(describe(error), LONGEST_REASON)


def _collect(outcome: Outcome, reports: Mapping[str, SocketLink], settings: Settings) -> None:
    """Wait until every party has begun, and then, no longer than the time they have, for the report of each."""
    begun = time.monotonic() + _STARTING
    for report in reports.values():
        with suppress(OSError, EOFError):  # its report, or that there is none, comes below
            report.receive(begun)
    until = None if settings.timeout is None else time.monotonic() + settings.timeout + GRACE
    for role, report in reports.items():
        codec = Codec(settings.wire.get(role, ()), settings.limits)
        try:
            _note(outcome, role, codec.decode(report.receive(until)))
        except TimeoutError:
            outcome.errors[role] = Timeout(f"{role} is still busy after {settings.timeout} s")
        except (OSError, EOFError):
            outcome.errors[role] = PartyError(role, "its process ended without a report")
        except Malformed as error:
            outcome.errors[role] = ProtocolError(f"the report of {role}: {error}")


def _note(outcome: Outcome, role: str, answer: object) -> None:
    match answer:
        case (True, result):
            outcome.results[role] = result
        case (False, str(kind), str(fault), str(message)):
            outcome.errors[role] = _KNOWN[kind](message) if kind in _KNOWN else PartyError(fault, message)
        case _:
            outcome.errors[role] = ProtocolError(f"the report of {role} is invalid")
