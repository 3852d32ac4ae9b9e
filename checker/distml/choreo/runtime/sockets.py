"""Frames over a stream socket: four bytes of length, then the frame.

The same link serves TCP, TLS and the socket pairs between processes. It reads no more than a frame ahead of what is
wanted, keeps what it has when a deadline passes, and refuses a length over the limit before any of it is read.
"""

from __future__ import annotations

import socket
import ssl
import struct
import time
from contextlib import suppress

from distml.choreo.runtime.errors import Malformed

_LENGTH = struct.Struct(">I")
_PIECE = 64 * 1024
_UNREAD = 64  # pieces that are thrown away when a connection is closed
_OVERHEAD = 1  # the byte that says of which kind a frame is


# Seconds of silence until a peer is asked whether it is there, between two questions, and how many stay unanswered.
_KEEPALIVE = (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 4))


def tuned(connection: socket.socket) -> socket.socket:
    """A TCP connection that sends at once, and notices within a minute that the machine of its peer is gone."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        if hasattr(socket, name):  # not every system lets a program choose
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return connection


class SocketLink:
    """A link over a connected stream socket, TLS or not, with the largest message it takes in bytes."""

    def __init__(self, connection: socket.socket, largest: int) -> None:
        self.connection = connection
        self.largest = largest
        self._buffer = bytearray()
        self._broken = False

    def send(self, frame: bytes, deadline: float | None) -> None:
        """Send a frame whole. After a failure nothing can be sent: the peer could not tell where a frame begins."""
        if self._broken:
            raise EOFError("an earlier frame was cut short")
        try:
            self._push(memoryview(_LENGTH.pack(len(frame)) + frame), deadline)
        except BaseException:
            self._broken = True
            raise

    def _push(self, rest: memoryview, deadline: float | None) -> None:
        while rest:
            if self._wait_until(deadline) == 0.0:
                raise TimeoutError
            rest = rest[self.connection.send(rest) :]

    def receive(self, deadline: float | None) -> bytes:
        """The next frame. A peer that sends it byte by byte has no more time for it than one that sends it at once."""
        length: int = _LENGTH.unpack(self._bytes(_LENGTH.size, deadline))[0]
        if length > self.largest + _OVERHEAD:
            raise Malformed(f"a message of {length} bytes is announced: the limit is {self.largest}")
        frame = self._bytes(_LENGTH.size + length, deadline)[_LENGTH.size :]
        del self._buffer[: _LENGTH.size + length]
        return frame

    def _bytes(self, count: int, deadline: float | None) -> bytes:
        """The first bytes of what is still to be read, which stay in the buffer."""
        while len(self._buffer) < count:
            self._wait_until(deadline)
            try:
                piece = self.connection.recv(min(count - len(self._buffer), _PIECE))
            except (BlockingIOError, ssl.SSLWantReadError):
                raise TimeoutError from None
            if not piece:
                raise EOFError("the connection was closed")
            self._buffer += piece
        return bytes(self._buffer[:count])

    def _wait_until(self, deadline: float | None) -> float | None:
        """Let the next call of the socket wait until then: for so many seconds, none at all for a deadline that passed."""
        left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
        self.connection.settimeout(left)
        return left

    def close(self) -> None:
        """Close, so that what was sent still arrives: unread bytes would make the system reset the connection."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
            self.connection.settimeout(0.0)
            for _ in range(_UNREAD):
                if not self.connection.recv(_PIECE):
                    break
        self.connection.close()
