"""The exception that ends the work on one thing that was asked for."""

from __future__ import annotations


class Refused(Exception):
    """Something cannot be done; the message says why, `code` in one word."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
