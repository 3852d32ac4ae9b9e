"""What projected programs import: the ends of channels, the errors, and what starts parties.

Only the standard library is used, and only what a transport needs is loaded: sockets, TLS, processes and asyncio are
imported by the modules `tcp`, `tls`, `processes` and `asynchronous`.
"""

from distml.choreo.language import ChoreographyError
from distml.choreo.runtime.codec import Codec, Limits
from distml.choreo.runtime.ends import ChannelEnd, ReceiveEnd, SendEnd
from distml.choreo.runtime.errors import (
    PartiesFailed,
    PartyError,
    ProtocolError,
    Timeout,
    unexpected,
)
from distml.choreo.runtime.party import Link, Party
from distml.choreo.runtime.threads import queue_pair
from distml.choreo.runtime.transports import run_parties

__all__ = [
    "ChannelEnd",
    "ChoreographyError",
    "Codec",
    "Limits",
    "Link",
    "PartiesFailed",
    "Party",
    "PartyError",
    "ProtocolError",
    "ReceiveEnd",
    "SendEnd",
    "Timeout",
    "queue_pair",
    "run_parties",
    "unexpected",
]
