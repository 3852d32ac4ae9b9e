"""Mutual TLS: who has no certificate of the authority, or one of another role, gets no channel."""

from __future__ import annotations

import socket
import ssl
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from choreo.runtime import programs as p
from choreo.runtime.certificates import identities

from distml.choreo.runtime import ChoreographyError, PartiesFailed, Party, PartyError, Timeout, run_parties
from distml.choreo.runtime.tcp import Listener, connect
from distml.choreo.runtime.tls import Identity

pytestmark = pytest.mark.requires("openssl")


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Identity]:
    return identities(Path(tmp_path_factory.mktemp("known")), ["Client", "Server", "Service"])


@pytest.fixture(scope="module")
def forged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Identity]:
    """Certificates for the same roles, of an authority that nobody asked."""
    return identities(Path(tmp_path_factory.mktemp("forged")), ["Client", "Server"])


def play(client: Identity, server: Identity) -> tuple[Any, Any]:
    """What becomes of a client and a server with these identities: a result, or an error, each."""
    outcome: dict[str, Any] = {}

    def be_client() -> None:
        try:
            with Party("Client", timeout=1.5) as party:
                outcome["Client"] = connect(party, "Server", listener.address, tls=client).com("hello")
        except ChoreographyError as error:
            outcome["Client"] = error

    with Listener("Server", tls=server) as listener:
        thread = threading.Thread(target=be_client)
        thread.start()
        try:
            with Party("Server", timeout=1.0) as party:
                outcome["Server"] = listener.accept(party, "Client").com()
        except ChoreographyError as error:
            outcome["Server"] = error
        thread.join()
    return outcome["Client"], outcome["Server"]


def test_parties_that_know_each_other(known: dict[str, Identity]) -> None:
    assert play(known["Client"], known["Server"]) == ("hello", "hello")


def test_a_client_of_another_authority(known: dict[str, Identity], forged: dict[str, Identity]) -> None:
    impostor = replace(forged["Client"], authority=known["Client"].authority)
    client, server = play(impostor, known["Server"])
    assert isinstance(client, PartyError)
    assert "Server: refused the connection" in str(client)
    assert isinstance(server, Timeout)
    assert "certificate verify failed" in str(server)


def test_a_server_of_another_authority(known: dict[str, Identity], forged: dict[str, Identity]) -> None:
    impostor = replace(forged["Server"], authority=known["Server"].authority)
    client, server = play(known["Client"], impostor)
    assert isinstance(client, PartyError)
    assert "certificate verify failed" in str(client)
    assert isinstance(server, Timeout)


def test_a_client_with_the_certificate_of_another_role(known: dict[str, Identity]) -> None:
    client, server = play(known["Service"], known["Server"])
    assert isinstance(client, PartyError)
    assert "the certificate shown is not one of Client" in str(server)


def test_a_server_with_the_certificate_of_another_role(known: dict[str, Identity]) -> None:
    client, server = play(known["Client"], known["Service"])
    assert isinstance(client, PartyError)
    assert "Hostname mismatch" in str(client)
    assert isinstance(server, Timeout)


def test_roles_may_stand_under_other_names(known: dict[str, Identity]) -> None:
    names = {"Server": "Service"}
    assert play(replace(known["Client"], names=names), known["Service"]) == ("hello", "hello")


def test_a_client_without_tls(known: dict[str, Identity]) -> None:
    with Listener("Server", tls=known["Server"]) as listener, Party("Server", timeout=0.6) as party:
        raw = socket.create_connection(listener.address)
        raw.sendall(b"\x00\x00\x00\x01N" * 10)
        with pytest.raises(Timeout, match="a connection was refused"):
            listener.accept(party, "Client")
        raw.close()


def test_a_client_without_a_certificate(known: dict[str, Identity]) -> None:
    context = ssl.create_default_context(cafile=known["Server"].authority)
    with Listener("Server", tls=known["Server"]) as listener, Party("Server", timeout=0.6) as party:
        raw = socket.create_connection(listener.address)

        def knock() -> None:
            with pytest.raises(ssl.SSLError), context.wrap_socket(raw, server_hostname="Server") as secured:
                secured.sendall(b"\x00\x00\x00\x00")
                secured.recv(1)

        thread = threading.Thread(target=knock)
        thread.start()
        with pytest.raises(Timeout, match="peer did not return a certificate"):
            listener.accept(party, "Client")
        thread.join()


def test_older_protocols_are_refused(known: dict[str, Identity]) -> None:
    context = ssl.create_default_context(cafile=known["Server"].authority)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(known["Client"].certificate, known["Client"].key)
    with Listener("Server", tls=known["Server"]) as listener, Party("Server", timeout=0.6) as party:
        raw = socket.create_connection(listener.address)

        def knock() -> None:
            with pytest.raises(ssl.SSLError):
                context.wrap_socket(raw, server_hostname="Server")

        thread = threading.Thread(target=knock)
        thread.start()
        with pytest.raises(Timeout, match="unsupported protocol"):
            listener.accept(party, "Client")
        thread.join()
        raw.close()


@pytest.mark.parametrize("order", [["Server", "Service", "Client"], ["Server", "Client", "Service"]])
def test_where_one_party_is_refused_all_are_told(
    order: list[str], known: dict[str, Identity], forged: dict[str, Identity]
) -> None:
    """Also those that wait for a third one to connect, or have found the one that is refused, and at once."""
    parties = dict.fromkeys(order, p.play_waiting)
    tls = {**known, "Client": replace(forged["Client"], authority=known["Client"].authority)}
    with pytest.raises(PartiesFailed) as caught:
        run_parties(parties, transport="tcp", tls=tls, timeout=8)
    assert set(caught.value.errors) == set(parties)
    assert not [error for error in caught.value.errors.values() if isinstance(error, Timeout)]


def test_a_failure_reaches_the_others_over_tls(known: dict[str, Identity]) -> None:
    parties = {"Server": p.play_waiting, "Service": p.play_failing, "Client": p.play_waiting}
    with pytest.raises(PartiesFailed) as caught:
        run_parties(parties, transport="tcp", tls=known, timeout=5)
    assert {role: str(error) for role, error in caught.value.errors.items() if role != "Service"} == dict.fromkeys(
        ["Server", "Client"], "Service: KeyError: 'no such book'"
    )
