"""The messages between Bazel and a persistent worker, as protocol buffers: the one form that every Bazel uses unasked.

A message is preceded by its length. The fields are those of Bazel's `worker_protocol.proto`, described at
https://bazel.build/remote/creating; only those that a worker of this kind needs are read, the others are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO, NamedTuple

ARGUMENTS, REQUEST_ID = 1, 3  # of a WorkRequest
_FIXED = {1: 8, 5: 4}  # bytes of a value by its wire type, where that is a constant


class Request(NamedTuple):
    """A WorkRequest: the arguments, and the number by which Bazel knows the answer."""

    arguments: list[str]
    identity: int


def requests(incoming: int) -> Iterator[Request]:
    """The requests on a stream, until it ends; one that is cut short is not carried out."""
    with open(incoming, "rb", closefd=False) as stream:
        while (size := _number(stream)) is not None:
            data = stream.read(size)
            if len(data) < size:
                return
            yield _request(data)


def decoded(data: bytes) -> str:
    """Arguments. Bazel keeps the bytes of a name as characters of Latin-1, and many versions encode those anew."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def answer(outgoing: int, identity: int, code: int, output: str) -> None:
    """Write a WorkResponse: the exit code and what is shown to the user."""
    text = output.encode("utf-8", "backslashreplace")
    fields = b"\x08" + _encoded(code) + b"\x12" + _encoded(len(text)) + text + b"\x18" + _encoded(identity)
    data = _encoded(len(fields)) + fields
    while data:
        data = data[os.write(outgoing, data) :]


def _request(data: bytes) -> Request:
    arguments, identity = [], 0
    for field, value in _fields(data):
        if field == ARGUMENTS and isinstance(value, bytes):
            arguments.append(decoded(value))
        elif field == REQUEST_ID and isinstance(value, int):
            identity = value
    return Request(arguments, identity)


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    stream = BytesIO(data)
    while (tag := _number(stream)) is not None:
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, _number(stream) or 0
        else:
            yield tag >> 3, stream.read(_FIXED[kind] if kind in _FIXED else _number(stream) or 0)


def _number(stream: BinaryIO) -> int | None:
    """A number in groups of seven bits, the lowest first; None at the end of the stream."""
    found = shift = 0
    while byte := stream.read(1):
        found |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            return found
    return None


def _encoded(number: int) -> bytes:
    groups = [number & 0x7F]
    while number := number >> 7:
        groups.append(number & 0x7F)
    return bytes([*(group | 0x80 for group in groups[:-1]), groups[-1]])
