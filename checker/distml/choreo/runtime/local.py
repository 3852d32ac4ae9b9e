"""All parties over TCP on this machine: who listens, who connects, in an order in which nobody waits in a circle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from distml.choreo.runtime.ends import ChannelEnd
from distml.choreo.runtime.errors import PartyError, describe
from distml.choreo.runtime.parties import Channel, Open
from distml.choreo.runtime.party import Party
from distml.choreo.runtime.tcp import Listener, connect
from distml.choreo.runtime.tls import Identity


@contextmanager
def over_tcp(roles: Sequence[str], routes: Sequence[Channel], tls: Mapping[str, Identity] | None) -> Iterator[Open]:
    """Opens the ends of a role over TCP. The listeners are there, at ports the system chose, until the context ends.

    Raises ValueError for a role without an identity where there are identities.
    """
    if tls is not None and (unknown := [role for role in roles if role not in tls]):
        raise ValueError(f"no identity for {', '.join(unknown)}")
    with ExitStack() as stack:
        listeners = {role: stack.enter_context(Listener(role, tls=(tls or {}).get(role))) for role in roles}
        yield _Meeting(routes, listeners, tls or {}).open


@dataclass
class _Meeting:
    """Parties that find each other. Where one cannot, those that still wait for it are told."""

    routes: Sequence[Channel]
    listeners: Mapping[str, Listener]
    tls: Mapping[str, Identity]
    waiting: dict[str, Party] = field(default_factory=dict)
    failure: PartyError | None = None

    def open(self, party: Party) -> dict[tuple[str, str], ChannelEnd]:
        """The ends of this party."""
        self.waiting[party.role] = party
        try:
            return self._meet(party)
        except BaseException as error:
            self._give_up(party.role, error)
            raise
        finally:
            self.waiting.pop(party.role)

    def _meet(self, party: Party) -> dict[tuple[str, str], ChannelEnd]:
        """Connect to every earlier role, then accept every later one.

        The first role connects to nobody, so it accepts at once; then the second has all its answers, and so on.
        """
        role, listener, identity = party.role, self.listeners[party.role], self.tls.get(party.role)
        if self.failure is not None:
            raise self.failure
        ends = {}
        for route in self.routes:
            if route.second == role:
                address = self.listeners[route.first].address
                ends[route.first, route.name] = connect(party, route.first, address, route.name, tls=identity)
        for route in self.routes:
            if route.first == role:
                ends[route.second, route.name] = listener.accept(party, route.second, route.name)
        return ends

    def _give_up(self, role: str, error: BaseException) -> None:
        told = error if isinstance(error, PartyError) else PartyError(role, describe(error))
        self.failure = self.failure or told
        self.listeners[role].close()
        for party in list(self.waiting.values()):
            party.doom(told)
