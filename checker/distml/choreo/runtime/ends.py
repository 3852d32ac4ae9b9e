"""The ends of channels, as projected code uses them: `com` and `select`, each with one meaning for the party at that end.

A value that was sent is a copy: over every transport, threads included, no two parties share an object.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeVar, overload

from distml.choreo.language import ChoreographyError
from distml.choreo.runtime.codec import shown
from distml.choreo.runtime.declared import fits, spelled
from distml.choreo.runtime.errors import Malformed, PartyError, ProtocolError, Timeout
from distml.choreo.runtime.frames import Abort, Bye, Frame, Label, Value, pack, unpack
from distml.choreo.runtime.party import Link, Party

T = TypeVar("T")
E = TypeVar("E", bound=Enum)
_NOTHING: Any = object()
_UNCHANGING = (int, str, bytes, Enum, type(None))
"""What cannot be changed, and equals itself: of it there need be no copy."""


class End:
    """One end of a channel: the party that holds it, the role at the other end, and the link between them."""

    def __init__(self, party: Party, peer: str, link: Link) -> None:
        self.party = party
        self.peer = peer
        self._link = link
        self._early: list[Frame] = []
        party.join(link)

    def _send(self, frame: Frame) -> None:
        """Send one frame.

        A peer that failed may have said so while this party was busy; it is heard before anything more is sent.
        """
        self.party.check()
        data = pack(frame, self.party.codec)
        self._listen()
        try:
            self._link.send(data, self.party.deadline())
        except TimeoutError:
            raise self.party.fail(Timeout(f"{self.peer} did not read {frame} in time")) from None
        except (OSError, EOFError) as error:
            raise self._vanished(f"while {self.party.role} sent {frame}") from error

    def _receive(self, wanted: str) -> Frame:
        """The next frame that is no abort. Raises the failure of the party, by whatever means it came."""
        self.party.check()
        frame = self._early.pop(0) if self._early else self._next(wanted)
        if isinstance(frame, Bye):
            raise self.party.fail(PartyError(self.peer, f"finished while {self.party.role} waited for {wanted}"))
        return frame

    def _next(self, wanted: str) -> Frame:
        try:
            return self._read(self.party.deadline(), f"while {self.party.role} waited for {wanted}")
        except TimeoutError:
            raise self.party.fail(Timeout(f"{self.party.role} waited for {wanted} from {self.peer}")) from None

    def _listen(self) -> None:
        """Take in what has arrived, so that an abort is noticed by a party that only sends."""
        if not self._early:
            try:
                self._early.append(self._read(0.0, f"before {self.party.role} was done"))
            except TimeoutError:
                return
        if isinstance(self._early[0], Bye):
            raise self.party.fail(PartyError(self.peer, f"finished, but {self.party.role} has more to send"))

    def _read(self, deadline: float | None, when: str) -> Frame:
        """What arrives until the deadline. Raises TimeoutError where nothing does."""
        try:
            return self._heard(self._link.receive(deadline))
        except TimeoutError:
            raise
        except Malformed as error:
            raise self.party.fail(ProtocolError(f"{self.peer} sent an invalid message: {error}")) from error
        except (OSError, EOFError) as error:
            raise self._vanished(when) from error

    def _heard(self, data: bytes) -> Frame:
        frame = unpack(data, self.party.codec)
        if isinstance(frame, Abort):
            raise self.party.fail(PartyError(frame.role, frame.message))
        return frame

    def _vanished(self, when: str) -> ChoreographyError:
        """The peer is gone; it may have said why before it went."""
        try:
            self._heard(self._link.receive(0.0))
        except (OSError, EOFError, Malformed):
            pass
        except ChoreographyError as error:
            return error
        return self.party.fail(PartyError(self.peer, f"vanished {when}"))

    def _unexpected(self, frame: Frame, wanted: str) -> ChoreographyError:
        return self.party.fail(ProtocolError(f"{self.peer} sent {frame}; {self.party.role} expected {wanted}"))

    def abort(self, reason: str) -> ChoreographyError:
        """Tell all peers of this party, by all its channels, that it cannot go on. Returns the error to raise."""
        return self.party.fail(PartyError(self.party.role, shown(reason)))


class SendEnd(End):
    """The end of a directed channel at its sender."""

    def com(self, value: T) -> T:
        """Send a value, and return it.

        Raises TypeError or ValueError where it cannot be sent, ChoreographyError where the choreography has failed.
        """
        self._send(Value(value))
        return value

    def share(self, value: T) -> T:
        """Send a value, and return a copy of it: what the peer gets, which nothing here changes by another name.

        Raises what `com` does, and ValueError where the peer could not read it.
        """
        frame = Value(value)
        self._send(frame)
        if isinstance(value, _UNCHANGING):
            return value
        try:
            copied = unpack(pack(frame, self.party.codec), self.party.codec)
        except Malformed as error:
            raise ValueError(f"{self.peer} cannot read {frame}: {error}") from error
        assert isinstance(copied, Value)
        return copied.value  # type: ignore[no-any-return]

    def select(self, label: Enum) -> None:
        """Tell the peer which branch is taken."""
        self._send(Label(type(label).__name__, label.name))


class ReceiveEnd(End):
    """The end of a directed channel at its receiver."""

    def com(self, *, of: Any = object) -> Any:
        """The next value from the peer, of the type that the channel is declared with.

        Raises ChoreographyError where none comes, or one of another type.
        """
        frame = self._receive("a value")
        if not isinstance(frame, Value):
            raise self._unexpected(frame, "a value")
        if not fits(frame.value, of):
            raise self._unexpected(frame, f"a value of type {spelled(of)}")
        return frame.value

    def select(self, enumeration: type[E]) -> E:
        """The next label from the peer, a member of this enum. Raises ChoreographyError where none comes."""
        wanted = f"a label of {enumeration.__name__}"
        frame = self._receive(wanted)
        member = frame.of(enumeration) if isinstance(frame, Label) else None
        if member is None:
            raise self._unexpected(frame, wanted)
        return member


class ChannelEnd(SendEnd, ReceiveEnd):
    """An end of a channel that goes both ways: with an argument it sends, without one it receives."""

    @overload
    def com(self, *, of: Any = object) -> Any: ...

    @overload
    def com(self, value: T) -> T: ...

    def com(self, value: Any = _NOTHING, *, of: Any = object) -> Any:
        """Send the value and return it, or receive one."""
        return ReceiveEnd.com(self, of=of) if value is _NOTHING else SendEnd.com(self, value)

    @overload
    def select(self, label: type[E]) -> E: ...

    @overload
    def select(self, label: Enum) -> None: ...

    def select(self, label: Any) -> Any:
        """Send the label, or receive one of this enum."""
        return ReceiveEnd.select(self, label) if isinstance(label, type) else SendEnd.select(self, label)
