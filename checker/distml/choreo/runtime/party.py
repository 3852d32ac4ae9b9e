"""One party of a running choreography: its role, its links to peers, and how it leaves.

All ends of a party share its fate. The first error is told to every peer at once, and from then on every operation of
every end raises it: nobody waits for a message that cannot come. A party that finishes says so, and one that vanishes
without a word is an error at its peers.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from types import TracebackType
from typing import Protocol, Self

from distml.choreo.language import ChoreographyError
from distml.choreo.runtime.codec import Codec, Limits
from distml.choreo.runtime.errors import PartyError, describe
from distml.choreo.runtime.frames import Abort, Bye, Frame, pack

TIMEOUT = 60.0  # seconds that an operation may wait where nothing else is said
_FAREWELL = 0.5  # seconds that a last word may take to a peer that does not read


class Link(Protocol):
    """Moves frames to one peer and back, in order; made by a transport.

    Deadlines are readings of `time.monotonic`, None for none. Both directions raise TimeoutError when the deadline
    passes, and EOFError or OSError when the peer is gone. `receive` raises Malformed for a frame over the limit, and
    loses nothing when it times out. `close` may be called from any thread, and twice.
    """

    def send(self, frame: bytes, deadline: float | None) -> None: ...

    def receive(self, deadline: float | None) -> bytes: ...

    def close(self) -> None: ...


class Party:
    """A party of this role. Use it as a context manager around the projected code and the ends it uses.

    `protocol` is the fingerprint of its choreography, which its program has as `__protocol__`: peers of another one are
    refused where they greet. `wire` are the classes that its messages may contain, `timeout` the seconds that any one
    operation may wait (None: for ever), and `within` the seconds until all of it must be over. Leaving the context by an
    exception tells every peer; leaving it normally says goodbye. Either way all links are closed.
    """

    def __init__(
        self,
        role: str,
        *,
        protocol: str = "",
        wire: Iterable[type] = (),
        limits: Limits | None = None,
        timeout: float | None = TIMEOUT,
        within: float | None = None,
    ) -> None:
        self.role = role
        self.protocol = protocol
        self.codec = Codec(wire, limits)
        self.failure: ChoreographyError | None = None
        self._timeout = timeout
        self._end = None if within is None else time.monotonic() + within
        self._links: list[Link] = []

    def join(self, link: Link) -> None:
        """Let a link share the fate of this party."""
        self._links.append(link)

    def deadline(self) -> float | None:
        """Until when an operation that begins now may wait."""
        until = [] if self._timeout is None else [time.monotonic() + self._timeout]
        return min([*until, *([] if self._end is None else [self._end])], default=None)

    def fail(self, error: ChoreographyError) -> ChoreographyError:
        """Note a failure, tell all peers of it if it is the first, and return the error to raise: the first one."""
        if self.failure is None:
            self.failure = error
            own = (self.role, describe(error))
            self._tell(Abort(*((error.role, error.message) if isinstance(error, PartyError) else own)))
        return self.failure

    def doom(self, error: ChoreographyError) -> None:
        """Note a failure without telling anybody. Safe from another thread; what the party does next raises it."""
        self.failure = self.failure or error

    def check(self) -> None:
        """Raise the failure of this party, where there is one."""
        if self.failure is not None:
            raise self.failure

    def _tell(self, frame: Frame) -> None:
        """Say a last word to every peer that can still hear it."""
        data = pack(frame, self.codec)
        for link in self._links:
            try:
                link.send(data, time.monotonic() + _FAREWELL)
            except (OSError, EOFError):
                continue  # gone already: it knows, or its own peers will tell

    def close(self) -> None:
        """Close every link, which wakes whoever waits on one. Safe from another thread."""
        for link in self._links:
            link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.fail(error if isinstance(error, PartyError) else PartyError(self.role, describe(error)))
        elif self.failure is None:
            self._tell(Bye())
        self.close()
