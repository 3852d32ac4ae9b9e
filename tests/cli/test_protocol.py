"""The protocol of persistent workers, against the real library of protocol buffers; tests/bazel has real Bazel."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.cli.protocol import Request, answer, requests

pytestmark = pytest.mark.requires("google.protobuf")

FIELDS = {
    "Input": [("path", 1, "string"), ("digest", 2, "bytes")],
    "WorkRequest": [
        ("arguments", 1, "string*"),
        ("inputs", 2, "Input*"),
        ("request_id", 3, "int32"),
        ("cancel", 4, "bool"),
        ("verbosity", 5, "int32"),
        ("sandbox_dir", 6, "string"),
        ("later", 7, "double"),
        ("still_later", 8, "float"),
    ],
    "WorkResponse": [("exit_code", 1, "int32"), ("output", 2, "string"), ("request_id", 3, "int32")],
}
"""worker_protocol.proto, and in a request two fields that it has not: a worker has to skip what it does not know."""


def message(name: str, **values: Any) -> Any:
    """A message of the real library."""
    return classes()[name](**values)


@cache
def classes() -> dict[str, Any]:
    """The messages of the protocol, as the real library makes classes of them."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="worker.proto", package="w", syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    for each, fields in FIELDS.items():
        made = file.message_type.add(name=each)
        for label, number, kind in fields:
            field = made.field.add(name=label, number=number)
            field.label = kinds.LABEL_REPEATED if kind.endswith("*") else kinds.LABEL_OPTIONAL
            if kind.rstrip("*") in FIELDS:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".w.{kind.rstrip('*')}"
            else:
                field.type = getattr(kinds, f"TYPE_{kind.rstrip('*').upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"w.{name}")) for name in FIELDS}


def delimited(sent: list[Any]) -> bytes:
    from google.protobuf import proto

    stream = BytesIO()
    for each in sent:
        proto.serialize_length_prefixed(each, stream)
    return stream.getvalue()


REQUESTS = st.builds(
    lambda **values: message("WorkRequest", **values),
    arguments=st.lists(st.text("ab-=@ü日\U0001f600", max_size=300), max_size=4),
    request_id=st.integers(-(2**31), 2**31 - 1),
    verbosity=st.integers(0, 9),
    cancel=st.booleans(),
    sandbox_dir=st.text(max_size=5),
    later=st.floats(),
    still_later=st.floats(width=32),
    inputs=st.lists(st.fixed_dictionaries({"path": st.text(max_size=5), "digest": st.binary(max_size=3)}), max_size=2),
)


@settings(max_examples=60)
@given(sent=st.lists(REQUESTS, max_size=3), cut=st.integers(0, 40))
def test_what_the_library_writes_is_read(sent: list[Any], cut: int) -> None:
    """Requests in order; of one that is cut short at the end of the stream, nothing."""
    data = delimited(sent)
    whole = data[: len(data) - cut] if cut < len(data) else data
    complete = [n for n in range(len(sent) + 1) if len(delimited(sent[:n])) <= len(whole)][-1]
    expected = [Request(list(each.arguments), each.request_id % 2**64) for each in sent[:complete]]
    assert read(whole) == expected


def read(data: bytes) -> list[Request]:
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    try:
        return list(requests(reading))
    finally:
        os.close(reading)


@settings(max_examples=60)
@given(code=st.integers(0, 300), output=st.text(max_size=300), identity=st.integers(-(2**31), 2**31 - 1))
def test_the_library_reads_what_is_answered(code: int, output: str, identity: int) -> None:
    from google.protobuf import proto

    reading, writing = os.pipe()
    answer(writing, identity % 2**64, code, output)
    os.close(writing)
    with open(reading, "rb") as stream:
        found = proto.parse_length_prefixed(classes()["WorkResponse"], BytesIO(stream.read()))
    assert (found.exit_code, found.output, found.request_id) == (code, output, identity)


def test_names_as_older_versions_send_them() -> None:
    """The bytes of a name taken for characters of Latin-1, and these encoded again; seen with Bazel 4.2.3."""
    twice = "--check=ü日.py".encode().decode("latin-1")
    (request,) = read(delimited([message("WorkRequest", arguments=[twice])]))
    assert request.arguments == ["--check=ü日.py"]


def test_the_process_serves_one_request_after_the_other(folder: Path) -> None:
    from google.protobuf import proto

    (folder / "app.py").write_text("import torch\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\n")
    (folder / "args").write_text("--check=app.py\n--root=\n--json=out.json\n")
    asked = [
        message("WorkRequest", arguments=["@args"], request_id=3),
        message("WorkRequest", arguments=["--check=gone.py", "--json=x"]),
        message("WorkRequest", arguments=["--essence=out.essence", "--check=app.py"], request_id=4),
    ]
    command = [sys.executable, "-m", "distml.cli.worker", "--persistent_worker"]
    done = subprocess.run(command, input=delimited(asked), capture_output=True, timeout=60)
    stream, kind = BytesIO(done.stdout), classes()["WorkResponse"]
    answers = [proto.parse_length_prefixed(kind, stream) for _ in asked]
    assert [(each.request_id, each.exit_code) for each in answers] == [(3, 0), (0, 2), (4, 0)]
    assert "gone.py" in answers[1].output
    assert (done.returncode, done.stderr, stream.read()) == (0, b"", b"")
    assert "SHP101" in (folder / "out.json").read_text()
