"""Projections written by hand do the same over every transport."""

from __future__ import annotations

import asyncio
import gc
import threading
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from choreo.runtime import programs as p
from choreo.runtime.certificates import identities

from distml.choreo.runtime import run_parties
from distml.choreo.runtime.asynchronous import gather_parties

ROLES = ["Client", "Server", "Buyer", "Seller", "Service", "IP", "Producer", "Consumer", "Asker", "Echo", "A", "B"]
RING = [f"R{index}" for index in range(10)]

PROGRAMS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ping-pong": (
        {"Client": p.play_client, "Server": p.play_server},
        {"Client": "ping pong", "Server": None},
    ),
    "buying": (
        {"Buyer": p.play_rich_buyer, "Seller": p.play_seller},
        {"Buyer": "2026-01-01", "Seller": None},
    ),
    "leaving": (
        {"Seller": p.play_seller, "Buyer": p.play_poor_buyer},
        {"Seller": None, "Buyer": None},
    ),
    "authentication": (
        {"Client": p.play_auth_client, "Service": p.play_auth_service, "IP": p.play_auth_ip},
        {"Client": p.AuthToken("t1"), "Service": p.AuthToken("t1"), "IP": None},
    ),
    "intrusion": (
        {"IP": p.play_auth_ip, "Client": p.play_auth_intruder, "Service": p.play_auth_service},
        {"IP": None, "Client": None, "Service": None},
    ),
    "loop": (
        {"Producer": p.play_producer, "Consumer": p.play_consumer},
        {"Producer": None, "Consumer": list(range(199, -1, -1))},
    ),
    "every kind of value": (
        {"Asker": p.play_echo_asker, "Echo": p.play_echo},
        {"Asker": [*p.EVERYTHING, b"x" * 3_000_000], "Echo": None},
    ),
}
WIRE = (*p.AUTH_WIRE, p.Answer, p.More)


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return identities(Path(tmp_path_factory.mktemp("certificates")), ROLES)


@pytest.mark.parametrize("transport", ["threads", "tcp", "asyncio"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_over_threads_tcp_and_asyncio(name: str, transport: Any) -> None:
    parties, expected = PROGRAMS[name]
    assert run_parties(parties, transport=transport, wire=WIRE, timeout=20) == expected


@pytest.mark.requires("openssl")
@pytest.mark.parametrize("name", PROGRAMS)
def test_over_mutual_tls(name: str, tls: Any) -> None:
    parties, expected = PROGRAMS[name]
    assert run_parties(parties, transport="tcp", wire=WIRE, timeout=20, tls=tls) == expected


@pytest.mark.parametrize("name", ["authentication", "loop", "every kind of value"])
def test_over_processes(name: str) -> None:
    parties, expected = PROGRAMS[name]
    assert run_parties(parties, transport="processes", wire=WIRE, timeout=20) == expected


@pytest.mark.parametrize("transport", ["threads", "tcp", "asyncio"])
def test_ten_roles_in_a_ring(transport: Any) -> None:
    channels = [(role, RING[(place + 1) % 10]) for place, role in enumerate(RING)]
    parties = {role: partial(p.play_ring, role=role, roles=RING) for role in RING}
    expected = {role: place + 1 if place else 10 for place, role in enumerate(RING)}
    assert run_parties(parties, channels=channels, transport=transport, timeout=20) == expected


@pytest.mark.parametrize("transport", ["threads", "tcp", "asyncio"])
def test_two_channels_between_the_same_roles_do_not_mix(transport: Any) -> None:
    parties: Any = {"A": p.play_two_channels_a, "B": p.play_two_channels_b}
    channels = [("A", "B", "data"), ("B", "A", "log")]
    assert run_parties(parties, channels=channels, transport=transport, timeout=20)["B"] == ["log", "data"]


def test_values_are_copies_over_threads_too() -> None:
    shared = [1]

    def sender(ends: p.Ends) -> None:
        ends["B"].com(shared)

    def receiver(ends: p.Ends) -> list[int]:
        received: list[int] = ends["A"].com()
        received.append(2)
        return received

    assert run_parties({"A": sender, "B": receiver}, timeout=5)["B"] == [1, 2]
    assert shared == [1]


def test_parties_inside_a_running_loop_leave_it_free() -> None:
    async def program() -> tuple[dict[str, Any], int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        result = await gather_parties({"Client": p.play_client, "Server": p.play_server}, timeout=5)
        ticking.cancel()
        return result, ticks

    result, ticks = asyncio.run(program())
    assert result == {"Client": "ping pong", "Server": None}
    assert ticks > 1


@pytest.mark.parametrize("transport", ["threads", "tcp", "asyncio", "processes"])
def test_no_thread_and_no_socket_is_left(transport: Any) -> None:
    before = set(threading.enumerate())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run_parties({"Client": p.play_client, "Server": p.play_server}, transport=transport, timeout=20)
        gc.collect()
    assert [str(one.message) for one in caught if issubclass(one.category, ResourceWarning)] == []
    assert set(threading.enumerate()) <= before


def test_channels_that_cannot_be_are_refused() -> None:
    parties = {"Client": p.play_client, "Server": p.play_server}
    with pytest.raises(ValueError, match="a channel between Client and Shop: the roles are Client, Server"):
        run_parties(parties, channels=[("Client", "Shop")])
    with pytest.raises(ValueError, match="need different names"):
        run_parties(parties, channels=[("Client", "Server"), ("Server", "Client")])
    with pytest.raises(ValueError, match="unknown transport 'pigeons'"):
        run_parties(parties, transport="pigeons")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="TLS is for the transport tcp"):
        run_parties(parties, tls={})
    with pytest.raises(ValueError, match="no identity for Client, Server"):
        run_parties(parties, tls={}, transport="tcp")
