"""Channels whose bytes an asyncio event loop moves, for programs that have one.

Projected code waits where it receives, so a party runs in a thread; the connection belongs to the loop, beside whatever
else the program serves there. Frames are those of the sockets: such a party speaks to one over plain sockets.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any, cast

from distml.choreo.runtime.codec import Limits
from distml.choreo.runtime.ends import ChannelEnd
from distml.choreo.runtime.errors import Malformed
from distml.choreo.runtime.parties import Channel, Function, Wire, in_threads, joined, prepared
from distml.choreo.runtime.party import Party

_LENGTH = struct.Struct(">I")
_LINGER = 1.0  # seconds that a closed connection is still read from
_AHEAD = 64  # frames that may wait unread before the peer is slowed down


class LoopLink(asyncio.Protocol):
    """A link whose connection is served by an event loop and used from another thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, largest: int) -> None:
        self._loop = loop
        self._largest = largest
        self._buffer = bytearray()
        self._inbox: SimpleQueue[bytes | Malformed | None] = SimpleQueue()
        self._writable = Event()
        self._over = False
        self._lost = False
        self._paused = False
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The loop has the connection."""
        self._transport = cast("asyncio.Transport", transport)
        self._writable.set()

    def connection_lost(self, error: Exception | None) -> None:
        """The peer is gone, or this side has closed."""
        self._over = self._lost = True
        self._inbox.put(None)
        self._writable.set()

    def pause_writing(self) -> None:
        """The peer does not read as fast as this side sends."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """The peer has read."""
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        """Cut what arrives into frames; a length over the limit ends the connection."""
        if self._over:
            return
        self._buffer += data
        while len(self._buffer) >= _LENGTH.size:
            length: int = _LENGTH.unpack_from(self._buffer)[0]
            if length > self._largest + 1:
                self._inbox.put(Malformed(f"a message of {length} bytes is announced: the limit is {self._largest}"))
                self._transport.abort()
                return
            if len(self._buffer) < _LENGTH.size + length:
                break
            self._inbox.put(bytes(self._buffer[_LENGTH.size : _LENGTH.size + length]))
            del self._buffer[: _LENGTH.size + length]
        if self._inbox.qsize() > _AHEAD and not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def _go_on(self) -> None:
        if self._paused and not self._over:
            self._paused = False
            self._transport.resume_reading()

    def send(self, frame: bytes, deadline: float | None) -> None:
        """Hand a frame to the loop, once the peer has read enough of what was sent before."""
        if not self._writable.wait(None if deadline is None else max(deadline - time.monotonic(), 0.0)):
            raise TimeoutError
        if self._over:
            raise EOFError("the connection was closed")
        self._on_loop(self._write, _LENGTH.pack(len(frame)) + frame)

    def _write(self, data: bytes) -> None:
        """Send what another thread handed over, unless the connection was lost meanwhile."""
        if not self._lost:
            self._transport.write(data)

    def receive(self, deadline: float | None) -> bytes:
        """The next frame."""
        try:
            wait = None if deadline is None else deadline - time.monotonic()
            frame = self._inbox.get(timeout=wait) if wait is None or wait > 0 else self._inbox.get_nowait()
        except Empty:
            raise TimeoutError from None
        if self._paused and self._inbox.empty():
            self._on_loop(self._go_on)
        if frame is None:
            self._inbox.put(None)
            raise EOFError("the connection was closed")
        if isinstance(frame, Malformed):
            raise frame
        return frame

    def _on_loop(self, call: Any, *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(call, *arguments)
        except RuntimeError:
            raise EOFError("the event loop is closed") from None

    def close(self) -> None:
        """Close when what was handed over has been sent, and wake whoever waits here."""
        self._over = True
        self._inbox.put(None)
        self._writable.set()
        with suppress(EOFError):
            self._on_loop(self._leave)

    def _leave(self) -> None:
        """Send to the end, and read on until the peer closes too: closing over unread bytes would lose the last word."""
        if self._lost:
            return
        if self._paused:
            self._transport.resume_reading()
        if self._transport.can_write_eof():
            self._transport.write_eof()
            self._loop.call_later(_LINGER, self.abort)
        else:
            self._transport.close()

    def abort(self) -> None:
        """End the connection at once. Called by the loop, when nobody reads any more."""
        if not self._lost:
            self._transport.abort()


async def link_over(connection: socket.socket, limits: Limits) -> LoopLink:
    """A link over a connected socket, served by the running loop."""
    loop = asyncio.get_running_loop()
    _, link = await loop.create_connection(lambda: LoopLink(loop, limits.message), sock=connection)
    return link


async def channel_over(party: Party, peer: str, connection: socket.socket) -> ChannelEnd:
    """The end of a channel to this peer over a connected socket, for projected code that runs in another thread.

    As in `await asyncio.to_thread(ping_pong_Server, await channel_over(party, "Client", connection))`.
    """
    return ChannelEnd(party, peer, await link_over(connection, party.codec.limits))


async def gather_parties(
    parties: Mapping[str, Function],
    *,
    channels: Iterable[Sequence[str]] | None = None,
    wire: Wire = (),
    limits: Limits | None = None,
    timeout: float | None = 60.0,
) -> dict[str, Any]:
    """What `run_parties` does, from a coroutine: the running loop moves the bytes and stays free for other tasks."""
    settings, routes = prepared(parties, channels, wire, limits, timeout)
    links = await _links(routes, settings.limits)
    try:
        return await asyncio.to_thread(
            in_threads, parties, settings, lambda party: joined(party, links.get(party.role, {}))
        )
    finally:
        for one in [link for ends in links.values() for link in ends.values()]:
            one.abort()
        await asyncio.sleep(0)  # the loop closes the connections


async def _links(routes: Iterable[Channel], limits: Limits) -> dict[str, dict[tuple[str, str], LoopLink]]:
    links: dict[str, dict[tuple[str, str], LoopLink]] = {}
    for route in routes:
        first, second = socket.socketpair()
        links.setdefault(route.first, {})[route.second, route.name] = await link_over(first, limits)
        links.setdefault(route.second, {})[route.first, route.name] = await link_over(second, limits)
    return links
