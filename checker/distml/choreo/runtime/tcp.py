"""Channels over TCP, with or without mutual TLS: one side listens, the other connects, and both say who they are.

The first frame each way is a greeting: the sender's role, whom it wants to speak to, and the name of the channel. A
connection without a proper greeting is dropped, and the listener goes on waiting for the right one.
"""

from __future__ import annotations

import socket
import ssl
import time
from contextlib import suppress
from dataclasses import dataclass
from threading import Condition, Thread, current_thread
from types import TracebackType
from typing import Self

from distml.choreo.runtime.codec import Codec, shown
from distml.choreo.runtime.ends import ChannelEnd
from distml.choreo.runtime.errors import ChoreographyError, Malformed, PartyError, Timeout
from distml.choreo.runtime.party import Party
from distml.choreo.runtime.sockets import SocketLink
from distml.choreo.runtime.tls import Identity, bears, secure

Address = tuple[str, int]

_PROTOCOL = "distml.choreo 1"
_GREETING = 4096  # bytes that a greeting may have
_PATIENCE = 5.0  # seconds that a new connection has for TLS and its greeting
_MOMENT = 0.2  # seconds after which a listener looks whether it is still wanted
_MOST = 256  # connections that a listener keeps, asked for or not
_PAUSE = 0.05  # seconds between two tries to connect to a peer that does not listen yet


@dataclass(frozen=True)
class _Greeting:
    """Who speaks, to whom, on which channel."""

    sender: str
    receiver: str
    channel: str

    def send(self, link: SocketLink, deadline: float | None) -> None:
        link.send(Codec().encode((_PROTOCOL, self.sender, self.receiver, self.channel)), deadline)

    @staticmethod
    def receive(link: SocketLink, deadline: float | None) -> _Greeting:
        match Codec().decode(link.receive(deadline)):
            case (str(protocol), str(sender), str(receiver), str(channel)) if protocol == _PROTOCOL:
                return _Greeting(sender, receiver, channel)
        raise Malformed(f"no greeting of {_PROTOCOL}")


class Listener:
    """Waits at an address for the peers of one role. A context manager; closing it leaves accepted channels open.

    `address` is its host and port: the port the system chose where 0 was asked for.
    Every connection is greeted in a thread of its own, so that one that is slow or silent keeps nobody else waiting.
    """

    def __init__(self, role: str, address: Address = ("127.0.0.1", 0), *, tls: Identity | None = None) -> None:
        self.role = role
        self._tls = tls
        self._socket = socket.create_server(address)
        self._socket.settimeout(_MOMENT)
        self.address: Address = self._socket.getsockname()[:2]
        self._changed = Condition()  # guards what follows
        self._parked: dict[tuple[str, str], SocketLink] = {}
        self._guests: dict[Thread, socket.socket] = {}
        self._refused = ""
        self._closed = False
        self._door = Thread(target=self._open, name=f"listener of {role}", daemon=True)
        self._door.start()

    def accept(self, party: Party, peer: str, channel: str = "") -> ChannelEnd:
        """The channel of this name to this peer, once it connects.

        Other peers may connect first: they are kept for their turn. Raises Timeout where the peer does not come, with
        the reason why the last connection was refused.
        """
        deadline = party.deadline()
        with self._changed:
            while (peer, channel) not in self._parked:
                party.check()
                if deadline is not None and time.monotonic() >= deadline:
                    why = f"; a connection was refused: {self._refused}" if self._refused else ""
                    raise party.fail(Timeout(f"{peer} did not connect to {self.role}{why}"))
                self._changed.wait(_MOMENT)
            link = self._parked.pop((peer, channel))
        link.largest = party.codec.limits.message
        return ChannelEnd(party, peer, link)

    def _open(self) -> None:
        """Let connections in, each to its own thread, until this is closed."""
        while True:
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                connection = None
            except OSError:  # closed, or too many files are open just now
                connection = None
                time.sleep(_PAUSE)
            with self._changed:
                if self._closed:
                    return _drop(connection)
                if connection is not None:
                    self._let_in(connection)

    def _let_in(self, connection: socket.socket) -> None:
        """Give a connection to a thread of its own, unless there are too many."""
        if len(self._guests) + len(self._parked) >= _MOST:
            return _drop(connection)
        guest = Thread(target=self._greet, args=(connection,), name=f"guest of {self.role}", daemon=True)
        self._guests[guest] = connection.dup()  # TLS takes the first one away
        return guest.start()

    def _greet(self, connection: socket.socket) -> None:
        """Park one connection under its greeting, or drop it."""
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._welcome(connection, time.monotonic() + _PATIENCE)
        except (OSError, EOFError, Malformed) as error:
            self._refused = shown(str(error) or type(error).__name__)
            connection.close()
        with self._changed:
            self._guests.pop(current_thread()).close()
            self._changed.notify_all()

    def _welcome(self, connection: socket.socket, deadline: float) -> None:
        if self._tls is not None:
            connection = secure(connection, self._tls, deadline=deadline, server=True)
        link = SocketLink(connection, _GREETING)
        try:
            self._park(link, _Greeting.receive(link, deadline), deadline)
        except BaseException:
            link.close()
            raise

    def _park(self, link: SocketLink, greeting: _Greeting, deadline: float) -> None:
        key = (greeting.sender, greeting.channel)
        if greeting.receiver != self.role:
            raise Malformed(f"{greeting.sender} asked for {greeting.receiver}; this is {self.role}")
        if isinstance(link.connection, ssl.SSLSocket) and self._tls is not None:
            if not bears(link.connection, self._tls.name_of(greeting.sender)):
                raise Malformed(f"the certificate shown is not one of {greeting.sender}")
        with self._changed:
            if self._closed or key in self._parked:
                raise Malformed(f"{greeting.sender} was here already")
            self._parked[key] = link
            _Greeting(self.role, greeting.sender, greeting.channel).send(link, deadline)

    def close(self) -> None:
        """Stop listening, and close what nobody asked for."""
        with self._changed:
            self._closed = True
            links = list(self._parked.values())
            self._parked.clear()
            guests = list(self._guests)
            for connection in self._guests.values():
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # where the system allows it, this wakes who waits in accept
        for link in links:
            link.close()
        for thread in (self._door, *guests):
            thread.join()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _drop(connection: socket.socket | None) -> None:
    if connection is not None:
        connection.close()


def connect(party: Party, peer: str, address: Address, channel: str = "", *, tls: Identity | None = None) -> ChannelEnd:
    """The channel of this name to the peer that listens there; it may begin to listen later.

    Raises Timeout where nobody listens in time, PartyError where the peer refuses or is somebody else.
    """
    deadline = party.deadline()
    try:
        link = SocketLink(_reach(party, address, deadline), _GREETING)
    except TimeoutError:
        raise party.fail(Timeout(f"{peer} does not listen at {address[0]}:{address[1]}")) from None
    try:
        if tls is not None:
            link.connection = secure(link.connection, tls, deadline=deadline, server=False, peer=peer)
        _greet(link, _Greeting(party.role, peer, channel), deadline)
    except BaseException as error:
        link.close()
        raise _refusal(party, peer, error) from error
    link.largest = party.codec.limits.message
    return ChannelEnd(party, peer, link)


def _greet(link: SocketLink, greeting: _Greeting, deadline: float | None) -> None:
    """Greet the one who listens, who must be the one greeted."""
    greeting.send(link, deadline)
    answer = _Greeting.receive(link, deadline)
    if answer != _Greeting(greeting.receiver, greeting.sender, greeting.channel):
        raise Malformed(f"{shown(answer.sender)} answered")


def _reach(party: Party, address: Address, deadline: float | None) -> socket.socket:
    """A connection to the address, tried until the deadline. Raises TimeoutError, or the failure of the party."""
    while True:
        party.check()
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        with suppress(ConnectionRefusedError, ConnectionResetError):
            connection = socket.create_connection(address, timeout=left)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        time.sleep(_PAUSE)


def _refusal(party: Party, peer: str, error: BaseException) -> BaseException:
    """What a failed greeting means for the party that connected; what is not about the peer stays as it is."""
    if isinstance(error, TimeoutError):
        failure: ChoreographyError = Timeout(f"{peer} did not answer the greeting of {party.role}")
    elif isinstance(error, OSError | EOFError | Malformed):
        failure = PartyError(peer, f"refused the connection: {shown(str(error))}")
    else:
        return error
    return party.fail(failure)
