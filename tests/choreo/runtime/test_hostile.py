"""Peers that do not keep to anything: whatever they send, this party gets an error that names them, and in time."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.choreo.runtime import (
    ChannelEnd,
    Codec,
    Limits,
    Party,
    PartyError,
    ProtocolError,
    Timeout,
    run_parties,
)
from distml.choreo.runtime.asynchronous import channel_over
from distml.choreo.runtime.frames import Frame, Label, Value, pack
from distml.choreo.runtime.sockets import SocketLink
from distml.choreo.runtime.tcp import Listener, connect


class Answer(Enum):
    YES = 1
    NO = 2


class Other(Enum):
    YES = 1


def framed(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def packed(frame: Frame) -> bytes:
    return framed(pack(frame, Codec((Answer, Other))))


class Duel:
    """A party and its end, and the raw socket of whoever is at the other end."""

    def __init__(self, timeout: float = 0.3, limits: Limits | None = None) -> None:
        mine, self.raw = socket.socketpair()
        self.party = Party("Alice", wire=(Answer,), timeout=timeout, limits=limits)
        self.end = ChannelEnd(self.party, "Mallory", SocketLink(mine, self.party.codec.limits.message))

    def close(self) -> None:
        self.party.close()
        self.raw.close()


@pytest.fixture
def duel() -> Iterator[Duel]:
    made = Duel()
    yield made
    made.close()


NO_MESSAGE = "Mallory sent an invalid message"

GARBAGE = {
    "garbage": (framed(b"\x93garbage"), f"{NO_MESSAGE}: unknown kind of message 0x93"),
    "an empty frame": (framed(b""), f"{NO_MESSAGE}: unknown kind of message 0x$"),
    "web traffic": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", f"{NO_MESSAGE}: a message of 1195725856 bytes is announced"),
    "a huge length": (b"\xff\xff\xff\xff", f"{NO_MESSAGE}: a message of 4294967295 bytes is announced"),
    "a huge list": (framed(b"Vl\xff\xff\xff\xff"), f"{NO_MESSAGE}: 4294967295 items announced, 0 bytes are left"),
    "deep nesting": (framed(b"V" + b"l\x00\x00\x00\x01" * 100_000), f"{NO_MESSAGE}: a value nested deeper than 64"),
    "a wrong tag": (framed(b"V\x00"), f"{NO_MESSAGE}: unknown tag 0x00"),
    "a pickle": (framed(b"V\x80\x04\x95cposix\nsystem\n."), f"{NO_MESSAGE}: unknown tag 0x80"),
    "bytes behind": (framed(b"VNN"), f"{NO_MESSAGE}: 1 bytes after the end"),
    "a long goodbye": (framed(b"Bye"), f"{NO_MESSAGE}: unknown kind of message 0x42"),
    "an enum that is not in WIRE": (packed(Value(Other.YES)), f"{NO_MESSAGE}: Other is not in WIRE"),
    "a label that is no text": (framed(b"LN"), f"{NO_MESSAGE}: two strings were expected"),
    "a label for a value": (
        packed(Label("Answer", "YES")),
        "Mallory sent the label Answer.YES; Alice expected a value",
    ),
    "an abort that is none": (framed(b"AF"), f"{NO_MESSAGE}: two strings were expected"),
}


@pytest.mark.parametrize("name", GARBAGE)
def test_what_is_no_value_is_a_protocol_error(name: str, duel: Duel) -> None:
    data, reason = GARBAGE[name]
    threading.Thread(target=duel.raw.sendall, args=(data,)).start()
    with pytest.raises(ProtocolError, match=reason):
        duel.end.com()


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (Label("Answer", "MAYBE"), "sent the label Answer.MAYBE; Alice expected a label of Answer"),
        (Label("Other", "YES"), "sent the label Other.YES; Alice expected a label of Answer"),
        (Label("Answer", "__init__"), "expected a label of Answer"),
        (Label("Answer", "\x1b[31m"), r"sent the label Answer.\\x1b\[31m; "),
        (Value(Answer.YES), "sent a value of class Answer; Alice expected a label of Answer"),
    ],
)
def test_what_is_no_label_is_a_protocol_error(frame: Frame, reason: str, duel: Duel) -> None:
    duel.raw.sendall(packed(frame))
    with pytest.raises(ProtocolError, match=reason):
        duel.end.select(Answer)


@settings(max_examples=100)
@given(st.binary(max_size=60), st.booleans())
def test_any_bytes_are_a_value_or_an_error(data: bytes, whole: bool) -> None:
    duel = Duel(timeout=0.2)
    duel.raw.sendall(framed(data) if whole else data)
    duel.raw.shutdown(socket.SHUT_WR)
    with suppress(ProtocolError, PartyError):
        duel.end.com()
    duel.close()


def test_a_slow_loris_has_no_more_time_than_others(duel: Duel) -> None:
    stop = threading.Event()

    def drip() -> None:
        data = packed(Value("x" * 1000))
        with suppress(OSError):
            for place in range(len(data)):
                if stop.wait(0.02):
                    return
                duel.raw.sendall(data[place : place + 1])

    thread = threading.Thread(target=drip)
    thread.start()
    begun = time.monotonic()
    with pytest.raises(Timeout, match="Alice waited for a value from Mallory"):
        duel.end.com()
    assert time.monotonic() - begun < 1.0
    stop.set()
    thread.join()


def test_a_silent_peer_is_a_timeout_and_every_later_use_too(duel: Duel) -> None:
    with pytest.raises(Timeout) as first:
        duel.end.select(Answer)
    with pytest.raises(Timeout) as second:
        duel.end.com("more")
    assert second.value is first.value


def test_a_peer_that_never_reads_is_a_timeout() -> None:
    duel = Duel()
    with pytest.raises(Timeout, match="Mallory did not read a value of class bytes in time"):
        duel.end.com(b"x" * 15_000_000)
    duel.close()


@pytest.mark.parametrize("before", [b"", b"\x00", packed(Value("abc"))[:-1]])
def test_a_peer_that_vanishes_is_an_error(before: bytes, duel: Duel) -> None:
    duel.raw.sendall(before)
    duel.raw.close()
    with pytest.raises(PartyError, match="Mallory: vanished while Alice waited for a value") as caught:
        duel.end.com()
    assert caught.value.role == "Mallory"


def test_a_sender_notices_that_its_peer_vanished(duel: Duel) -> None:
    duel.raw.close()
    with pytest.raises(PartyError, match="Mallory: vanished"):
        duel.end.com(1)


def test_a_sender_notices_that_its_peer_has_finished(duel: Duel) -> None:
    duel.raw.sendall(framed(b"B"))
    with pytest.raises(PartyError, match="Mallory: finished, but Alice has more to send"):
        duel.end.com(1)


def test_a_message_over_the_limit_of_this_party() -> None:
    duel = Duel(limits=Limits(message=20_000))
    duel.raw.sendall(packed(Value("x" * 19_000)))
    assert duel.end.com() == "x" * 19_000
    with pytest.raises(ValueError, match="the limit is 20000"):
        duel.end.com("x" * 20_000)
    duel.raw.sendall(struct.pack(">I", 30_000))
    with pytest.raises(ProtocolError, match="30000 bytes is announced: the limit is 20000"):
        duel.end.com()
    duel.close()


@pytest.mark.parametrize("name", ["garbage", "a huge length", "a huge list", "deep nesting", "a pickle"])
def test_garbage_over_asyncio(name: str) -> None:
    data, reason = GARBAGE[name]

    async def victim() -> Any:
        mine, raw = socket.socketpair()
        with Party("Alice", timeout=2.0) as party:
            end = await channel_over(party, "Mallory", mine)
            await asyncio.to_thread(raw.sendall, data)
            try:
                return await asyncio.to_thread(end.com)
            finally:
                raw.close()

    with pytest.raises(ProtocolError, match=reason):
        asyncio.run(victim())


# Whoever knocks at a listener without being invited.


def knock(address: tuple[str, int], data: bytes) -> socket.socket:
    raw = socket.create_connection(address)
    raw.sendall(data)
    return raw


def greeting(*words: object) -> bytes:
    return framed(Codec().encode(words))


STRANGERS = {
    "garbage": b"\xff\xff\xff\xffgarbage",
    "a huge greeting": struct.pack(">I", 100_000),
    "another program": greeting("other 1", "Bob", "Alice", ""),
    "another version": greeting("distml.choreo 1", "Bob", "Alice", ""),
    "wrong number": greeting("distml.choreo 2", "Bob", "Carol", "", ""),
    "another choreography": greeting("distml.choreo 2", "Bob", "Alice", "", "f00"),
    "no greeting": greeting(1),
}


TOLD = {"another program", "another version", "wrong number", "another choreography"}  # the others are no greetings


@pytest.mark.parametrize("name", STRANGERS)
def test_a_listener_drops_strangers_and_waits_for_its_peer(name: str) -> None:
    def bob() -> Any:
        with Party("Bob", timeout=5) as party:
            return connect(party, "Alice", listener.address).com("hello")

    with Listener("Alice") as listener, Party("Alice", timeout=5) as alice:
        raw = knock(listener.address, STRANGERS[name])
        thread = threading.Thread(target=bob)
        thread.start()
        assert listener.accept(alice, "Bob").com() == "hello"
        thread.join()
        raw.settimeout(1)
        with suppress(ConnectionResetError):
            said = raw.recv(1000)
            assert (b"refused" in said) is (name in TOLD)
            assert not said or raw.recv(100) == b""
        raw.close()


def test_silent_strangers_keep_nobody_waiting() -> None:
    before = threading.active_count()
    with Listener("Alice") as listener, Party("Alice", timeout=3) as alice, Party("Bob", timeout=3) as bob:
        silent = [knock(listener.address, b"\x00") for _ in range(20)]
        connect(bob, "Alice", listener.address).com("hello")
        assert listener.accept(alice, "Bob").com() == "hello"
    assert threading.active_count() == before
    for raw in silent:
        raw.close()


def test_a_listener_says_why_nobody_came() -> None:
    with Listener("Alice") as listener, Party("Alice", timeout=0.5) as alice:
        raw = knock(listener.address, STRANGERS["wrong number"])
        with pytest.raises(Timeout, match=r"Bob did not connect to Alice; .* refused: Bob asked for Carol"):
            listener.accept(alice, "Bob")
        raw.close()


def test_a_second_peer_of_the_same_name_is_refused() -> None:
    with Listener("Alice") as listener, Party("Alice", timeout=0.6) as alice:
        words = greeting("distml.choreo 2", "Bob", "Alice", "", "")
        first, second = knock(listener.address, words), knock(listener.address, words)
        with pytest.raises(Timeout, match=r"Carol did not connect to Alice; .* refused: Bob is already connected"):
            listener.accept(alice, "Carol")
        first.close()
        second.close()


def answering(reply: Callable[[socket.socket], object]) -> tuple[socket.socket, threading.Thread]:
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = server.accept()
        with suppress(OSError):
            reply(connection)
        connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    return server, thread


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (greeting("distml.choreo 2", "Mallory", "Bob", "", ""), "Alice: refused the connection: Mallory answered"),
        (b"\xff\xff\xff\xff", "Alice: refused the connection: a message of 4294967295 bytes"),
        (b"", "Alice: refused the connection: the connection was closed"),
    ],
)
def test_somebody_else_listens(reply: bytes, reason: str) -> None:
    server, thread = answering(
        lambda connection: (connection.sendall(reply), connection.shutdown(1), connection.recv(9))
    )
    with pytest.raises(PartyError, match=reason), Party("Bob", timeout=2) as bob:
        connect(bob, "Alice", server.getsockname())
    server.close()
    thread.join()


def test_somebody_listens_and_says_nothing() -> None:
    server, thread = answering(lambda connection: connection.recv(1000) and connection.recv(1))
    with pytest.raises(Timeout, match="Alice did not answer the greeting of Bob"), Party("Bob", timeout=0.3) as bob:
        connect(bob, "Alice", server.getsockname())
    server.close()
    thread.join()


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
    with (
        pytest.raises(Timeout, match=f"Alice does not listen at 127.0.0.1:{address[1]}"),
        Party("Bob", timeout=0.2) as bob,
    ):
        connect(bob, "Alice", address)


@settings(max_examples=25)
@given(st.lists(st.sampled_from(["send", "receive", "tell", "hear"]), max_size=5), st.data())
def test_parties_that_do_not_fit_end_with_an_error_and_never_wait_for_ever(steps: list[str], data: Any) -> None:
    def does(plan: list[str], peer: str) -> Any:
        return lambda ends: [ACTIONS[step](ends[peer]) for step in plan]

    other = data.draw(st.lists(st.sampled_from(["send", "receive", "tell", "hear"]), max_size=5))
    begun = time.monotonic()
    with suppress(PartyError):
        run_parties({"A": does(steps, "B"), "B": does(other, "A")}, timeout=0.3)
    assert time.monotonic() - begun < 2.0
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("party")]


ACTIONS: dict[str, Callable[[ChannelEnd], Any]] = {
    "send": lambda end: end.com(1),
    "receive": lambda end: end.com(),
    "tell": lambda end: end.select(Answer.YES),
    "hear": lambda end: end.select(Answer),
}
