"""Channels over TCP, with or without mutual TLS: one side listens, the other connects, and both say who they are.

The first frame each way is a greeting: the version of this protocol, the sender's role, whom it wants to speak to, the name
of the channel, and the fingerprint of the choreography. A connection without a proper greeting is dropped, one for somebody
else or of another choreography is told why, and the listener goes on waiting for the right one.

Plain TCP protects nothing: whoever reaches the port may take the place of a role, and whoever is on the way may read and
change what is sent. The fingerprint tells mistakes, not attackers; those are for TLS.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections import Counter
from contextlib import suppress
from threading import Condition, Thread, current_thread
from types import TracebackType
from typing import NamedTuple, Self

from distml.choreo.language import ChoreographyError
from distml.choreo.runtime.codec import shown
from distml.choreo.runtime.ends import ChannelEnd
from distml.choreo.runtime.errors import Malformed, PartyError, ProtocolError, Timeout
from distml.choreo.runtime.greeting import LARGEST, Greeting, RefusedError, refuse
from distml.choreo.runtime.party import TIMEOUT, Party
from distml.choreo.runtime.sockets import SocketLink, tuned
from distml.choreo.runtime.tls import Identity, bears, secure

Address = tuple[str, int]
Key = tuple[str, str]  # a role and the name of a channel

_PATIENCE = 5.0  # seconds that a new connection has for TLS and its greeting
_MOMENT = 0.2  # seconds after which a listener looks whether it is still wanted
_MOST = 256  # connections that a listener keeps, asked for or not
_PAUSE = 0.05  # seconds between two tries to connect to a peer that does not listen yet


class _Parked(NamedTuple):
    """A connection that has greeted, and until when it waits for somebody to ask for it."""

    link: SocketLink
    until: float


class Listener:
    """Waits at an address for the peers of one role. A context manager; closing it leaves accepted channels open.

    `address` is its host and port: the port the system chose where 0 was asked for. `protocol` is the fingerprint of the
    choreography, as the party has it. Every connection is greeted in a thread of its own, so that one that is slow or
    silent keeps nobody else waiting. Peers that nobody asks for are dropped after `kept` seconds, and the oldest of them
    as soon as there are too many.
    """

    def __init__(
        self,
        role: str,
        address: Address = ("127.0.0.1", 0),
        *,
        protocol: str = "",
        tls: Identity | None = None,
        kept: float = TIMEOUT,
    ) -> None:
        self.role = role
        self.protocol = protocol
        self._tls = tls
        self._kept = kept
        self._socket = socket.create_server(address)
        self._socket.settimeout(_MOMENT)
        self.address: Address = self._socket.getsockname()[:2]
        self._changed = Condition()  # guards what follows
        self._parked: dict[Key, _Parked] = {}
        self._wanted: Counter[Key] = Counter()
        self._guests: dict[Thread, socket.socket | None] = {}  # None: sent away, and about to end
        self._mistaken: dict[str, str] = {}  # roles that proved who they are and mean another choreography
        self._refused = ""
        self._closed = False
        self._door = Thread(target=self._open, name=f"listener of {role}", daemon=True)
        self._door.start()

    def accept(self, party: Party, peer: str, channel: str = "") -> ChannelEnd:
        """The channel of this name to this peer, once it connects.

        Other peers may connect first: they are kept for their turn. Raises Timeout where the peer does not come, with
        the reason why the last connection was refused; ProtocolError where it proved by TLS who it is and means another
        choreography; ValueError where the party itself does.
        """
        if party.protocol != self.protocol:
            raise ValueError(f"the party {party.role} and its listener have different fingerprints of a choreography")
        deadline, key = party.deadline(), (peer, channel)
        with self._changed:
            self._wanted[key] += 1
            try:
                while key not in self._parked:
                    self._still_waiting(party, peer, deadline)
                    self._changed.wait(_MOMENT)
                link = self._parked.pop(key).link
            finally:
                self._wanted[key] -= 1
                self._wanted += Counter()  # forgets keys that nobody waits for
        link.largest = party.codec.limits.message
        return ChannelEnd(party, peer, link)

    def _still_waiting(self, party: Party, peer: str, deadline: float | None) -> None:
        """Raise what ends the wait for a peer, if anything does."""
        party.check()
        if peer in self._mistaken:
            raise party.fail(ProtocolError(self._mistaken[peer]))
        if deadline is not None and time.monotonic() >= deadline:
            why = f"; a connection was refused: {self._refused}" if self._refused else ""
            raise party.fail(Timeout(f"{peer} did not connect to {self.role}{why}"))

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
                self._drop_parked(time.monotonic())
                if connection is not None:
                    self._let_in(connection)

    def _drop_parked(self, now: float) -> None:
        """Drop the peers whose time is over and that nobody waits for."""
        for key in [key for key, each in self._parked.items() if each.until <= now and not self._wanted[key]]:
            self._parked.pop(key).link.close()

    def _let_in(self, connection: socket.socket) -> None:
        """Give a connection to a thread of its own; where there are too many, the oldest that nobody waits for leaves."""
        guests = [thread for thread, each in self._guests.items() if each is not None]
        if len(guests) + len(self._parked) >= _MOST:
            idle = [key for key in self._parked if not self._wanted[key]]
            if idle:
                self._parked.pop(idle[0]).link.close()
            elif guests:
                self._send_away(guests[0])
            else:
                return _drop(connection)
        guest = Thread(target=self._greet, args=(connection,), name=f"guest of {self.role}", daemon=True)
        self._guests[guest] = connection.dup()  # TLS takes the first one away
        return guest.start()

    def _send_away(self, guest: Thread) -> None:
        """Cut the connection of a guest, which ends its thread."""
        connection, self._guests[guest] = self._guests[guest], None
        if connection is not None:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _greet(self, connection: socket.socket) -> None:
        """Park one connection under its greeting, or drop it."""
        try:
            self._welcome(tuned(connection), time.monotonic() + _PATIENCE)
        except (OSError, EOFError, Malformed, RefusedError) as error:
            self._refused = shown(str(error) or type(error).__name__)
            connection.close()
        with self._changed:
            _drop(self._guests.pop(current_thread()))
            self._changed.notify_all()

    def _welcome(self, connection: socket.socket, deadline: float) -> None:
        if self._tls is not None:
            connection = secure(connection, self._tls, deadline=deadline, server=True)
        link = SocketLink(connection, LARGEST)
        try:
            self._park(link, Greeting.receive(link, deadline), deadline)
        except RefusedError as error:
            with suppress(OSError, EOFError):
                refuse(link, str(error), deadline)
            link.close()
            raise
        except BaseException:
            link.close()
            raise

    def _park(self, link: SocketLink, greeting: Greeting, deadline: float) -> None:
        self._check(link, greeting)
        key = (greeting.sender, greeting.channel)
        with self._changed:
            if self._closed or key in self._parked:
                raise RefusedError(f"{shown(greeting.sender)} is already connected")
            greeting.answer(self.protocol).send(link, deadline)
            self._parked[key] = _Parked(link, time.monotonic() + self._kept)

    def _check(self, link: SocketLink, greeting: Greeting) -> None:
        """Raise RefusedError for a peer that wants somebody else, is somebody else, or means another choreography."""
        if greeting.receiver != self.role:
            raise RefusedError(f"{shown(greeting.sender)} asked for {shown(greeting.receiver)}; this is {self.role}")
        proved = isinstance(link.connection, ssl.SSLSocket) and self._tls is not None
        if proved and not bears(link.connection, self._tls.name_of(greeting.sender)):  # type: ignore[union-attr,arg-type]
            raise RefusedError(f"the certificate shown is not one of {shown(greeting.sender)}")
        try:
            greeting.same_choreography(self.protocol)
        except RefusedError as error:
            if proved:
                with self._changed:
                    self._mistaken[greeting.sender] = str(error)
            raise

    def close(self) -> None:
        """Stop listening, and close what nobody asked for."""
        with self._changed:
            self._closed = True
            links = [each.link for each in self._parked.values()]
            self._parked.clear()
            guests = list(self._guests)
            for guest in guests:
                self._send_away(guest)
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
        link = SocketLink(_reach(party, address, deadline), LARGEST)
    except TimeoutError:
        raise party.fail(Timeout(f"{peer} does not listen at {address[0]}:{address[1]}")) from None
    try:
        if tls is not None:
            link.connection = secure(link.connection, tls, deadline=deadline, server=False, peer=peer)
        _greet(link, Greeting(party.role, peer, channel, party.protocol), deadline)
    except BaseException as error:
        link.close()
        raise _refusal(party, peer, error) from error
    link.largest = party.codec.limits.message
    return ChannelEnd(party, peer, link)


def _greet(link: SocketLink, greeting: Greeting, deadline: float | None) -> None:
    """Greet the one who listens, who must be the one greeted, and mean the same choreography."""
    greeting.send(link, deadline)
    answer = Greeting.receive(link, deadline)
    answer.same_choreography(greeting.protocol)
    if answer != greeting.answer(greeting.protocol):
        raise Malformed(f"{shown(answer.sender)} answered")


def _reach(party: Party, address: Address, deadline: float | None) -> socket.socket:
    """A connection to the address, tried until the deadline. Raises TimeoutError, or the failure of the party."""
    while True:
        party.check()
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        with suppress(ConnectionRefusedError, ConnectionResetError):
            return tuned(socket.create_connection(address, timeout=left))
        time.sleep(_PAUSE)


def _refusal(party: Party, peer: str, error: BaseException) -> BaseException:
    """What a failed greeting means for the party that connected; what is not about the peer stays as it is."""
    if isinstance(error, TimeoutError):
        failure: ChoreographyError = Timeout(f"{peer} did not answer the greeting of {party.role}")
    elif isinstance(error, OSError | EOFError | Malformed | RefusedError):
        failure = PartyError(peer, f"refused the connection: {shown(str(error))}")
    else:
        return error
    return party.fail(failure)
