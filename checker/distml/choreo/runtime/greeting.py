"""The first frame each way over TCP: who speaks to whom, on which channel, and which choreography they mean.

The one who connects greets; the one who listens answers with its own greeting, or with the reason why not.
"""

from __future__ import annotations

from dataclasses import dataclass

from distml.choreo.runtime.codec import LONGEST_REASON, Codec, Limits, shown
from distml.choreo.runtime.errors import Malformed
from distml.choreo.runtime.sockets import SocketLink

VERSION = "distml.choreo 2"
LARGEST = 16 * 1024  # bytes that a greeting may have, or a refusal

_CODEC = Codec(limits=Limits(message=LARGEST, nesting=1, memory=10 * LARGEST))


class RefusedError(Exception):
    """The other side does not want this connection; the message is what it said, or what is wrong with it."""


@dataclass(frozen=True)
class Greeting:
    """Who speaks, to whom, on which channel, and the fingerprint of the choreography (empty: none is known)."""

    sender: str
    receiver: str
    channel: str
    protocol: str

    def send(self, link: SocketLink, deadline: float | None) -> None:
        """Greet."""
        link.send(_CODEC.encode((VERSION, self.sender, self.receiver, self.channel, self.protocol)), deadline)

    @staticmethod
    def receive(link: SocketLink, deadline: float | None) -> Greeting:
        """What the other side says. Raises RefusedError for a refusal or another version, Malformed for anything else."""
        match _CODEC.decode(link.receive(deadline)):
            case ("refused", str(reason)):
                raise RefusedError(shown(reason, LONGEST_REASON))
            case (str(version), *_) if version != VERSION:
                raise RefusedError(f"speaks {shown(version, 40)}, this is {VERSION}")
            case (_, str(sender), str(receiver), str(channel), str(protocol)):
                return Greeting(sender, receiver, channel, protocol)
        raise Malformed(f"no greeting of {VERSION}")

    def answer(self, protocol: str) -> Greeting:
        """What the one who was greeted says, if all is well."""
        return Greeting(self.receiver, self.sender, self.channel, protocol)

    def same_choreography(self, protocol: str) -> None:
        """Raises RefusedError where this greeting means another choreography."""
        if self.protocol != protocol:
            ours, theirs = (f"with the fingerprint {shown(each, 40)}" if each else "without a fingerprint" for each in
                            (protocol, self.protocol))  # fmt: skip
            raise RefusedError(f"{shown(self.sender)} has a choreography {theirs}, this is one {ours}")


def refuse(link: SocketLink, reason: str, deadline: float | None) -> None:
    """Say why not. Raises what `SocketLink.send` raises."""
    link.send(_CODEC.encode(("refused", shown(reason, LONGEST_REASON))), deadline)
