"""Choreographies as their projections are, written by hand, and functions that play each role over given ends.

Everything here is at the level of the module, so that a process of its own can import it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from distml.choreo.runtime import ChannelEnd, ReceiveEnd, SendEnd, unexpected

Ends = Mapping[Any, ChannelEnd]


# Ping-pong.


def ping_pong_client(ch: ChannelEnd, message: str) -> str:
    ch.com(message)
    return ch.com()


def ping_pong_server(ch: ChannelEnd) -> None:
    received: str = ch.com()
    ch.com(received + " pong")


def play_client(ends: Ends) -> str:
    return ping_pong_client(ends["Server"], "ping")


def play_server(ends: Ends) -> None:
    ping_pong_server(ends["Client"])


# Buyer and seller: a branch.


class Answer(Enum):
    BUY = "buy"
    LEAVE = "leave"


class BuyBookBuyer:
    def __init__(self, ch: ChannelEnd) -> None:
        self.ch = ch

    def run(self, title: str, budget: int) -> str | None:
        self.ch.com(title)
        price: int = self.ch.com()
        if price <= budget:
            self.ch.select(Answer.BUY)
            return self.ch.com()
        self.ch.select(Answer.LEAVE)
        return None


class BuyBookSeller:
    def __init__(self, ch: ChannelEnd) -> None:
        self.ch = ch

    def run(self, catalogue: dict[str, int]) -> None:
        wanted: str = self.ch.com()
        self.ch.com(catalogue[wanted])
        match self.ch.select(Answer):
            case Answer.BUY:
                self.ch.com("2026-01-01")
            case Answer.LEAVE:
                pass
            case other:
                raise unexpected(other)


def play_rich_buyer(ends: Ends) -> str | None:
    return BuyBookBuyer(ends["Seller"]).run("Emma", 20)


def play_poor_buyer(ends: Ends) -> str | None:
    return BuyBookBuyer(ends["Seller"]).run("Emma", 2)


def play_seller(ends: Ends) -> None:
    BuyBookSeller(ends["Buyer"]).run({"Emma": 10})


# Distributed authentication: three roles, classes on the wire.


class AuthBranch(Enum):
    OK = 1
    KO = 2


@dataclass(frozen=True)
class AuthToken:
    id: str


@dataclass(frozen=True)
class Credentials:
    username: str
    password: str


AUTH_WIRE = (AuthBranch, AuthToken, Credentials)
SALTS = {"ada": "pepper"}
KNOWN = {"ada": "drowssapengine-pepper"}


def calculate(salt: str, password: str) -> str:
    return "drowssap" + password + "-" + salt


def auth_client(to_ip: ChannelEnd, credentials: Credentials) -> AuthToken | None:
    to_ip.com(credentials.username)
    salt: str = to_ip.com()
    to_ip.com(calculate(salt, credentials.password))
    return auth_told(to_ip)


def auth_service(to_ip: ChannelEnd) -> AuthToken | None:
    return auth_told(to_ip)


def auth_told(to_ip: ChannelEnd) -> AuthToken | None:
    match to_ip.select(AuthBranch):
        case AuthBranch.OK:
            return to_ip.com()
        case AuthBranch.KO:
            return None
        case other:
            raise unexpected(other)


def auth_ip(to_client: ChannelEnd, to_service: ChannelEnd) -> None:
    username: str = to_client.com()
    to_client.com(SALTS[username])
    if to_client.com() == KNOWN[username]:
        to_client.select(AuthBranch.OK)
        to_service.select(AuthBranch.OK)
        token = AuthToken("t1")
        to_client.com(token)
        to_service.com(token)
    else:
        to_client.select(AuthBranch.KO)
        to_service.select(AuthBranch.KO)


def play_auth_client(ends: Ends) -> AuthToken | None:
    return auth_client(ends["IP"], Credentials("ada", "engine"))


def play_auth_intruder(ends: Ends) -> AuthToken | None:
    return auth_client(ends["IP"], Credentials("ada", "guess"))


def play_auth_service(ends: Ends) -> AuthToken | None:
    return auth_service(ends["IP"])


def play_auth_ip(ends: Ends) -> None:
    auth_ip(ends["Client"], ends["Service"])


# Consuming items: a loop, over a directed channel.


class More(Enum):
    NEXT = 1
    STOP = 2


def consume_producer(ch: SendEnd, items: list[int]) -> None:
    while items:
        ch.select(More.NEXT)
        ch.com(items.pop())
    ch.select(More.STOP)


def consume_consumer(ch: ReceiveEnd, sink: list[int]) -> None:
    while True:
        match ch.select(More):
            case More.NEXT:
                sink.append(ch.com())
            case More.STOP:
                break
            case other:
                raise unexpected(other)


def play_producer(ends: Ends) -> None:
    consume_producer(ends["Consumer"], list(range(200)))


def play_consumer(ends: Ends) -> list[int]:
    sink: list[int] = []
    consume_consumer(ends["Producer"], sink)
    return sink


# Values of every kind, back and forth; sizes beyond any buffer between the parties.

EVERYTHING: list[Any] = [
    None,
    True,
    -(2**200),
    0.1,
    1j,
    "ü\ud800",
    b"\x00",
    [1, [2]],
    (1, ()),
    {"a": {1: 2}},
    {1, 2},
    frozenset({3}),
    Answer.BUY,
]


def play_echo_asker(ends: Ends) -> list[Any]:
    ch = ends["Echo"]
    return [(ch.com(value), ch.com())[1] for value in [*EVERYTHING, b"x" * 3_000_000]]


def play_echo(ends: Ends) -> None:
    ch = ends["Asker"]
    for _ in range(len(EVERYTHING) + 1):
        ch.com(ch.com())


# A ring of parties, and two channels between the same roles.


def play_ring(ends: Ends, role: str, roles: list[str]) -> int:
    place = roles.index(role)
    following, preceding = roles[(place + 1) % len(roles)], roles[place - 1]
    if place == 0:
        ends[following].com(1)
        return ends[preceding].com()
    passed: int = ends[preceding].com()
    return ends[following].com(passed + 1)


def play_two_channels_a(ends: Ends) -> None:
    ends["B", "data"].com("data")
    ends["B", "log"].com("log")


def play_two_channels_b(ends: Ends) -> list[str]:
    return [ends["A", "log"].com(), ends["A", "data"].com()]


# What goes wrong.


def play_failing(ends: Ends) -> None:
    raise KeyError("no such book")


def play_exit(ends: Ends) -> None:
    import os

    os._exit(3)


def play_waiting(ends: Ends) -> Any:
    """Wait for every peer in turn."""
    return [end.com() for end in unique(ends)]


def unique(ends: Ends) -> Iterable[ChannelEnd]:
    return dict.fromkeys(ends.values())


def play_unsendable(ends: Ends) -> None:
    ends["A"].com(object())


def play_strange_result(ends: Ends) -> object:
    return object()


def play_sleeping(ends: Ends) -> None:
    import time

    time.sleep(60)
