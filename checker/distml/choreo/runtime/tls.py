"""Mutual TLS: each party shows a certificate for its role, and both sides check it.

Only certificates of the named authority count, TLS 1.3 is required, and the certificate must bear the name of the role
that is expected: one that is good for another party of the choreography is refused.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Identity:
    """What a party shows and whom it believes: PEM files of its certificate, its key and the authority.

    `names` says which DNS name in the certificate stands for which role, where it is not the role itself.
    """

    certificate: Path
    key: Path
    authority: Path
    names: Mapping[str, str] = field(default_factory=dict)

    def name_of(self, role: str) -> str:
        """The name that the certificate of this role must bear."""
        return self.names.get(role, role)


def secure(
    connection: socket.socket, identity: Identity, *, deadline: float | None, server: bool, peer: str | None = None
) -> ssl.SSLSocket:
    """The connection with TLS on it, after the handshake. Raises ssl.SSLError, TimeoutError or OSError."""
    context = _context(identity, server=server)
    connection.settimeout(None if deadline is None else max(deadline - time.monotonic(), 0.001))
    name = None if server or peer is None else identity.name_of(peer)
    return context.wrap_socket(connection, server_side=server, server_hostname=name)


def _context(identity: Identity, *, server: bool) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(identity.authority)
    context.load_cert_chain(identity.certificate, identity.key)
    return context


def bears(connection: ssl.SSLSocket, name: str) -> bool:
    """Whether the certificate that the peer showed bears this DNS name."""
    shown = connection.getpeercert() or {}
    names = [entry[1] for entry in shown.get("subjectAltName", ()) if isinstance(entry, tuple) and entry[0] == "DNS"]
    return name.lower() in [str(one).lower() for one in names]
