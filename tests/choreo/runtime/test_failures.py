"""A failure at one party is an error at all of them, over every transport, and nothing is left behind."""

from __future__ import annotations

import asyncio
import threading
import time
from itertools import pairwise
from typing import Any

import pytest
from choreo.runtime import programs as p

from distml.choreo.runtime import (
    ChannelEnd,
    ChoreographyError,
    PartiesFailed,
    Party,
    PartyError,
    ProtocolError,
    Timeout,
    queue_pair,
    run_parties,
    unexpected,
)
from distml.choreo.runtime.asynchronous import gather_parties
from distml.choreo.runtime.tcp import connect

TRANSPORTS = ["threads", "tcp", "asyncio"]


def failing(parties: dict[str, Any], **options: Any) -> PartiesFailed:
    with pytest.raises(PartiesFailed) as caught:
        run_parties(parties, **{"timeout": 10, **options})
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("party")]
    return caught.value


@pytest.mark.parametrize("transport", [*TRANSPORTS, "processes"])
def test_an_error_at_one_party_reaches_the_others(transport: str) -> None:
    parties = {"A": p.play_waiting, "B": p.play_failing, "C": p.play_waiting}
    failure = failing(parties, transport=transport)
    assert (failure.role, failure.message) == ("B", "KeyError: 'no such book'")
    for role in ("A", "C"):
        error = failure.errors[role]
        assert isinstance(error, PartyError)
        assert (error.role, error.message) == ("B", "KeyError: 'no such book'")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_error_travels_along_a_chain(transport: str) -> None:
    """A knows only B, B only A and C, and so on: each hears of the failure at the end, with the role that failed."""
    roles = ["A", "B", "C", "D", "E"]
    channels = list(pairwise(roles))
    waiting = {role: lambda ends, at=next_: ends[at].com() for role, next_ in channels}
    failure = failing({**waiting, "E": p.play_failing}, channels=channels, transport=transport)
    assert failure.role == "E"
    assert {role: str(error) for role, error in failure.errors.items() if role != "E"} == dict.fromkeys(
        roles[:-1], "E: KeyError: 'no such book'"
    )


def test_who_has_found_a_party_that_is_refused_later_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """C knows only B, and has connected to it before B is refused by A."""
    connected = threading.Event()

    def in_turn(party: Party, *arguments: Any, **options: Any) -> Any:
        if party.role == "B":
            assert connected.wait(5)
            raise party.fail(PartyError("A", "refused the connection"))
        end = connect(party, *arguments, **options)
        connected.set()
        return end

    monkeypatch.setattr("distml.choreo.runtime.local.connect", in_turn)
    parties = dict.fromkeys(["A", "B", "C"], p.play_waiting)
    failure = failing(parties, channels=[("A", "B"), ("B", "C")], transport="tcp", timeout=4)
    assert set(failure.errors) == {"A", "B", "C"}
    assert not [error for error in failure.errors.values() if isinstance(error, Timeout)]


def test_a_process_that_dies_is_an_error_at_the_others() -> None:
    failure = failing({"A": p.play_waiting, "B": p.play_exit}, transport="processes")
    assert failure.role == "B"
    assert str(failure.errors["A"]) == "B: vanished while A waited for a value"
    assert str(failure.errors["B"]) == "B: its process ended without a report"


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_parties_that_wait_for_each_other_time_out(transport: str) -> None:
    begun = time.monotonic()
    failure = failing({"A": p.play_waiting, "B": p.play_waiting}, transport=transport, timeout=0.5)
    assert time.monotonic() - begun < 3
    assert isinstance(failure.errors[failure.role], Timeout)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_peer_that_has_finished_is_an_error(transport: str) -> None:
    failure = failing({"A": p.play_waiting, "B": lambda ends: None}, transport=transport)
    assert str(failure) == "B: finished while A waited for a value"


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_party_that_only_sends_notices_that_its_peer_failed(transport: str, caplog: pytest.LogCaptureFixture) -> None:
    def endless(ends: p.Ends) -> None:
        while True:
            ends["B"].com(b"x" * 1000)

    failure = failing({"A": endless, "B": p.play_failing}, transport=transport)
    assert str(failure) == str(failure.errors["A"]) == "B: KeyError: 'no such book'"
    assert caplog.messages == []  # where the event loop would complain


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_handler_for_the_error_is_entered_by_every_party(transport: str) -> None:
    def careful(ends: p.Ends) -> str:
        try:
            return str(ends["B"].com())
        except ChoreographyError as error:
            return f"undone: {error}"

    def failing_party(ends: p.Ends) -> Any:
        try:
            raise ends["A"].abort("no stock")
        except ChoreographyError as error:
            return f"undone: {error}"

    results = run_parties({"A": careful, "B": failing_party}, transport=transport, timeout=5)  # type: ignore[arg-type]
    assert results == {"A": "undone: B: no stock", "B": "undone: B: no stock"}


def test_after_a_failure_no_channel_of_the_party_works() -> None:
    def stubborn(ends: p.Ends) -> list[str]:
        heard = []
        for end in p.unique(ends):
            for use in (end.com, lambda end=end: end.com(1), lambda end=end: end.select(p.Answer.BUY)):
                with pytest.raises(PartyError) as caught:
                    use()
                heard.append(str(caught.value))
        return heard

    parties = {"A": stubborn, "B": p.play_failing, "C": p.play_waiting}
    with pytest.raises(PartiesFailed) as caught:
        run_parties(parties, channels=[("A", "B"), ("A", "C")], timeout=5)
    assert "A" not in caught.value.errors
    assert str(caught.value.errors["C"]) == "B: KeyError: 'no such book'"


@pytest.mark.parametrize("transport", [*TRANSPORTS, "processes"])
def test_a_value_that_cannot_be_sent_fails_at_its_sender(transport: str) -> None:
    parties = {"A": p.play_waiting, "B": p.play_unsendable}
    failure = failing(parties, transport=transport)
    assert failure.role == "B"
    assert failure.message.startswith("TypeError: a value of class object cannot be sent")


def test_a_result_that_cannot_leave_its_process_is_an_error() -> None:
    failure = failing({"A": p.play_strange_result}, transport="processes")
    assert failure.message.startswith("TypeError: a value of class object cannot be sent")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_labels_and_values_do_not_pass_for_each_other(transport: str) -> None:
    failure = failing(
        {"A": lambda ends: ends["B"].com(), "B": lambda ends: (ends["A"].select(p.Answer.BUY), ends["A"].com())},
        transport=transport,
    )
    assert isinstance(failure.errors["A"], ProtocolError)
    assert failure.message == "ProtocolError: B sent the label Answer.BUY; A expected a value"
    assert str(failure.errors["B"]) == f"A: {failure.message}"


def test_an_unexpected_label() -> None:
    assert str(unexpected(p.Answer.BUY)) == "no case for the label Answer.BUY"
    assert isinstance(unexpected(p.Answer.BUY), ProtocolError)


def test_a_party_that_is_busy_elsewhere_is_reported() -> None:
    stop = threading.Event()
    with pytest.raises(PartiesFailed, match="A is still busy"):
        run_parties({"A": lambda ends: stop.wait(30)}, timeout=0.1)
    stop.set()


def test_a_busy_process_is_ended() -> None:
    failure = failing({"A": p.play_sleeping}, transport="processes", timeout=0.1)
    assert "A is still busy after 0.1 s" in str(failure)


def test_an_interrupt_reaches_the_peers() -> None:
    mine, theirs = queue_pair()
    peer = Party("B", timeout=2)
    end = ChannelEnd(peer, "A", theirs)
    with pytest.raises(KeyboardInterrupt), Party("A") as party:
        ChannelEnd(party, "B", mine)
        raise KeyboardInterrupt
    with pytest.raises(PartyError, match="A: KeyboardInterrupt"):
        end.com()


def test_closing_a_party_wakes_it() -> None:
    mine, _theirs = queue_pair()
    party = Party("A")
    end = ChannelEnd(party, "B", mine)
    threading.Timer(0.1, party.close).start()
    with pytest.raises(PartyError, match="B: vanished while A waited for a value"):
        end.com()


def test_reasons_are_shown_without_control_characters_and_not_for_ever() -> None:
    def rude(ends: p.Ends) -> None:
        raise ValueError("\x1b[2J" + "x" * 100_000)

    failure = failing({"A": p.play_waiting, "B": rude})
    told = failure.errors["A"]
    assert isinstance(told, PartyError)
    assert told.message.startswith("ValueError: \\x1b[2Jxxx")
    assert len(told.message) < 2100


def test_a_canceled_task_ends_its_parties() -> None:
    async def program() -> None:
        task = asyncio.create_task(gather_parties({"A": p.play_waiting, "B": p.play_waiting}, timeout=20))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    begun = time.monotonic()
    asyncio.run(program())
    assert time.monotonic() - begun < 5
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("party")]
