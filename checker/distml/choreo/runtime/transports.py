"""Starts all parties of a choreography on one machine, for tests and for trying out, and waits for them.

The transports differ in what lies between the parties, and in nothing else that a party can see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from distml.choreo.runtime.codec import Limits
from distml.choreo.runtime.parties import Function, Wire, in_threads, over_queues, prepared

if TYPE_CHECKING:
    from distml.choreo.runtime.tls import Identity

Transport = Literal["threads", "processes", "tcp", "asyncio"]


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
