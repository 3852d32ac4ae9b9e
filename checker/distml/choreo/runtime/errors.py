"""What a party is told when a choreography cannot go on.

All of them are `ChoreographyError`, so that a handler for that one class is entered by every party. After one of them no
channel of the party works any more: each later operation raises the same error.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from distml.choreo.language import ChoreographyError


class PartyError(ChoreographyError):
    """Another party failed or vanished: its role, and what it said or how it left."""

    def __init__(self, role: str, message: str) -> None:
        super().__init__(f"{role}: {message}")
        self.role = role
        self.message = message


class PartiesFailed(PartyError):
    """What `run_parties` raises: the failure that came first, and in `errors` what each failed role raised."""

    def __init__(self, role: str, message: str, errors: Mapping[str, BaseException]) -> None:
        super().__init__(role, message)
        self.errors = dict(errors)


class ProtocolError(ChoreographyError):
    """A peer sent what the choreography does not allow here, or bytes that are no message at all."""


class Timeout(ChoreographyError):
    """A peer did not send, read or connect in the time allowed."""


class Malformed(ValueError):
    """Bytes that are no message. Where the sender is known this becomes a `ProtocolError` that names it."""


def unexpected(label: Enum) -> ProtocolError:
    """The error for a label that no case of a projected `match` names."""
    return ProtocolError(f"no case for the label {type(label).__name__}.{label.name}")


def describe(error: BaseException) -> str:
    """An exception as peers are told of it: its class and its message, without its traceback."""
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
