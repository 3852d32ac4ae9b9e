"""Who may take a place at a listener, for how long, and who is told why not. Over real sockets."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from choreo.runtime.certificates import identities

from distml.choreo.project import project_source
from distml.choreo.runtime import ChoreographyError, Codec, Party, PartyError, ProtocolError, Timeout
from distml.choreo.runtime.sockets import SocketLink
from distml.choreo.runtime.tcp import Listener, connect

GREETED = 60.0  # seconds, far more than is needed: nothing here depends on how long anything takes


def greet(address: tuple[str, int], role: str, channel: str = "", protocol: str = "") -> socket.socket:
    raw = socket.create_connection(address, timeout=GREETED)
    SocketLink(raw, 4096).send(Codec().encode(("distml.choreo 2", role, "Server", channel, protocol)), None)
    raw.settimeout(GREETED)
    return raw


def answered(raw: socket.socket) -> bytes:
    """All that the listener says until it closes."""
    said = b""
    try:
        while piece := raw.recv(4096):
            said += piece
    except ConnectionResetError:
        pass
    return said


def outcome(function: Any) -> Any:
    try:
        return function()
    except ChoreographyError as error:
        return error


def test_unknown_peers_do_not_keep_the_known_one_out() -> None:
    with Listener("Server") as listener, Party("Server") as server, Party("Client") as client:
        ghosts = []
        for number in range(400):
            ghosts.append(greet(listener.address, f"Ghost{number}"))
            ghosts[-1].recv(4)  # parked: its answer comes
        connect(client, "Server", listener.address).com("hello")
        assert listener.accept(server, "Client").com() == "hello"
        for raw in ghosts[: 400 - 256]:
            answered(raw)  # ends, since the oldest were dropped
    for raw in ghosts:
        raw.close()


def test_channels_that_nobody_asks_for_are_unknown_peers_too() -> None:
    with Listener("Server") as listener, Party("Server") as server, Party("Client") as client:
        extra = [greet(listener.address, "Client", f"c{number}") for number in range(300)]
        connect(client, "Server", listener.address).com("hello")
        assert listener.accept(server, "Client").com() == "hello"
    for raw in extra:
        raw.close()


def test_who_is_not_asked_for_is_dropped_after_a_while() -> None:
    with Listener("Server", kept=0.0) as listener, greet(listener.address, "Ghost") as raw:
        assert b"Ghost" in answered(raw)  # greeted, and then closed


def test_who_is_waited_for_is_not_dropped() -> None:
    with Listener("Server", kept=0.0) as listener, Party("Server") as server:
        found: list[Any] = []
        waiting = threading.Thread(target=lambda: found.append(listener.accept(server, "Client").com()))
        waiting.start()
        with Party("Client") as client:  # where it comes too early it is dropped, and comes again
            while not found and waiting.is_alive():
                outcome(lambda: connect(client, "Server", listener.address).com("hello"))
                waiting.join(1.0)
        waiting.join()
        assert found == ["hello"]


PROTOCOLS = [("a" * 32, "b" * 32), ("a" * 32, ""), ("", "b" * 32)]


@pytest.mark.parametrize(("client", "server"), PROTOCOLS)
def test_another_choreography_is_refused_and_both_are_told(client: str, server: str) -> None:
    with Listener("Server", protocol=server) as listener:
        with Party("Client", protocol=client) as party:
            refused = outcome(lambda: connect(party, "Server", listener.address))
        assert isinstance(refused, PartyError)
        with Party("Server", protocol=server, timeout=0.1) as party:
            told = outcome(lambda: listener.accept(party, "Client"))
        assert isinstance(told, Timeout)
    for error in (refused, told):
        assert "Client has a choreography with" in str(error)
        assert "fingerprint" in str(error)


def test_who_listens_for_another_choreography_is_an_error_too() -> None:
    """Also where the one who listens does not look at fingerprints."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            raw, _ = server.accept()
            with raw:
                SocketLink(raw, 4096).receive(None)
                SocketLink(raw, 4096).send(Codec().encode(("distml.choreo 2", "Server", "Client", "", "other")), None)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(PartyError, match="Server has a choreography"), Party("Client", protocol="mine") as party:
            connect(party, "Server", server.getsockname())
        thread.join()


def test_a_party_and_its_listener_mean_the_same() -> None:
    party = Party("Server", protocol="b")
    with Listener("Server", protocol="a") as listener, pytest.raises(ValueError, match="different fingerprints"):
        listener.accept(party, "Client")


@pytest.mark.requires("openssl")
def test_a_proved_peer_with_another_choreography_ends_the_wait(tmp_path: Path) -> None:
    known = identities(tmp_path, ["Client", "Server"])
    with Listener("Server", protocol="a" * 32, tls=known["Server"]) as listener:
        with Party("Client", protocol="b" * 32) as party:
            refused = outcome(lambda: connect(party, "Server", listener.address, tls=known["Client"]))
        with Party("Server", protocol="a" * 32, timeout=None) as party:  # blocks indefinitely, unless told
            told = outcome(lambda: listener.accept(party, "Client"))
    assert isinstance(refused, PartyError)
    assert isinstance(told, ProtocolError)
    assert "Client has a choreography" in str(told)


@pytest.mark.requires("openssl")
def test_nobody_takes_the_place_of_a_role_under_tls(tmp_path: Path) -> None:
    """A party that is known, but not as this role, is refused and told; the role itself still gets in."""
    known = identities(tmp_path, ["Client", "Server", "Mallory"])
    with Listener("Server", tls=known["Server"]) as listener, Party("Server") as server:
        with Party("Client") as impostor:
            refused = outcome(lambda: connect(impostor, "Server", listener.address, tls=known["Mallory"]))
        assert "the certificate shown is not one of Client" in str(refused)
        with Party("Client") as client:
            connect(client, "Server", listener.address, tls=known["Client"]).com("hello")
            assert listener.accept(server, "Client").com() == "hello"


FROZEN = """
import os, signal, sys
from distml.choreo.runtime import Party
from distml.choreo.runtime.tcp import connect
with Party("Client") as party:
    end = connect(party, "Server", ("127.0.0.1", int(sys.argv[1])))
    end.com("hello")
    os.kill(os.getpid(), signal.SIGSTOP)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="not run: needs SIGSTOP")
def test_a_frozen_peer_is_an_error() -> None:
    with Listener("Server") as listener:
        process = subprocess.Popen([sys.executable, "-P", "-c", FROZEN, str(listener.address[1])])
        with pytest.raises(Timeout, match="Server waited for a value from Client"), Party("Server") as party:
            end = listener.accept(party, "Client")
            assert end.com() == "hello"
            party._timeout = 0.1  # what is waited for does not come: no need to wait a minute for that
            end.com()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def test_nothing_is_waited_for_for_ever_unless_asked_for() -> None:
    assert Party("Alice").deadline() is not None
    assert Party("Alice", timeout=None).deadline() is None
    with Listener("Server") as listener, Party("Server") as server, Party("Client") as client:
        ends = [connect(client, "Server", listener.address), listener.accept(server, "Client")]
        for end in ends:
            connection = end._link.connection  # type: ignore[attr-defined]
            assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


TEXT = """from distml.choreo import At, Channel, Role
class A(Role): ...
class B(Role): ...
def give(ch: Channel[int, A, B], n: At[int, A]) -> At[int, B]:
    return ch.com(n + 1)
"""


def programs(text: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for role, program in project_source(text, "p.py").files.items():
        found[role] = {}
        exec(compile(program, f"{role}.py", "exec"), found[role])
    return found


def test_the_fingerprint_is_of_the_choreography_and_not_of_its_layout() -> None:
    def fingerprints(text: str) -> set[str]:
        return {program["__protocol__"] for program in programs(text).values()}

    (known,) = fingerprints(TEXT)
    same = '"""Gives."""\n# a comment\n' + TEXT.replace("(ch: ", "(\n    ch: ").replace("...", '"""A party."""')
    assert fingerprints(same.replace('"""A party."""', "...")) == {known}
    assert fingerprints(TEXT.replace("n + 1", "n + 2")) != {known}


def test_what_arrives_is_what_the_channel_is_declared_for() -> None:
    """A hostile peer sends a text over a channel of numbers: the projected program does not get it."""
    receiver = programs(TEXT)["B"]
    for value, wrong in ((3, False), (True, False), ("3", True), ([3], True), (None, True), (3.0, True)):
        with Listener("B") as listener, Party("A") as one, Party("B") as other:
            connect(one, "B", listener.address).com(value)
            end = listener.accept(other, "A")
            got = outcome(partial(receiver["give_B"], end))
        assert isinstance(got, ProtocolError) is wrong
        assert wrong or got == value
        assert not wrong or "B expected a value of type int" in str(got)
