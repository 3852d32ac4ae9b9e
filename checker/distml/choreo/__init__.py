"""Choreographies: one program for several parties, checked and projected to one program a party.

What user code imports is here and in `distml.choreo.runtime`, and imports nothing heavy. The modules that check
and project are imported only by the checker; they may import `source` and `diagnostics`.
"""

from distml.choreo.language import (
    At,
    Ch,
    Ch1,
    Ch2,
    Ch3,
    Ch4,
    Ch5,
    Ch6,
    Ch7,
    Ch8,
    Ch9,
    Ch10,
    Channel,
    ChoreographyError,
    DiChannel,
    Role,
    SymChannel,
    roles,
)

__all__ = [
    "At",
    "Ch",
    "Ch1",
    "Ch2",
    "Ch3",
    "Ch4",
    "Ch5",
    "Ch6",
    "Ch7",
    "Ch8",
    "Ch9",
    "Ch10",
    "Channel",
    "ChoreographyError",
    "DiChannel",
    "Role",
    "SymChannel",
    "roles",
]
