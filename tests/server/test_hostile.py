"""Nothing that a client sends, and nothing in a document, ends the server, is run, or leaves a process behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.requires("pygls", "pytest_lsp")

BAD = "import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(2, 3)\n"
LONG = "import torch\n" + "".join(f"def f{n}(x):\n    return x @ torch.zeros({n}, 3)\n" for n in range(1, 4000))


def message(**fields: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
    return framed(body)


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


INITIALIZE = message(id=1, method="initialize", params={"processId": None, "rootUri": None, "capabilities": {}})
OPEN = {"uri": "file:///nowhere/a.py", "languageId": "python", "version": 1, "text": BAD}
END = message(id=9, method="shutdown") + message(method="exit")

ODD = {
    "no header": b"hello\r\n\r\n",
    "a header that is none": b"Content-Length: x\r\n\r\n",
    "another header": b"Content-Type: application/json\r\n" + message(method="$/odd"),
    "no JSON": framed(b"{"),
    "no UTF-8": framed(b"\xff\xfe{}"),
    "a number": framed(b"1"),
    "a list": framed(b"[]"),
    "a long number": framed(b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b"}"),
    "nested deeply": framed(b"[" * 100_000 + b"]" * 100_000),
    "no version": framed(b'{"id": 3, "method": "shutdown"}'),
    "another version": framed(b'{"jsonrpc": "1.0", "id": 3, "method": "shutdown"}'),
    "an unknown request": message(id=3, method="no/such"),
    "an unknown notification": message(method="no/such", params=[1]),
    "an answer to nothing": message(id=77, result=1),
    "wrong parameters": message(method="textDocument/didOpen", params={"textDocument": 1}),
    "no parameters": message(method="textDocument/didOpen"),
    "a change of nothing": message(
        method="textDocument/didChange",
        params={"textDocument": {"uri": "file:///no/such.py", "version": 2}, "contentChanges": [{"text": "x"}]},
    ),
    "no file": message(method="textDocument/didOpen", params={"textDocument": {**OPEN, "uri": "untitled:Untitled-1"}}),
    "a broken URI": message(method="textDocument/didOpen", params={"textDocument": {**OPEN, "uri": "http://[::1"}}),
    "another machine": message(
        method="textDocument/didOpen", params={"textDocument": {**OPEN, "uri": "file://host/a.py"}}
    ),
    "a NUL in a path": message(
        method="textDocument/didOpen", params={"textDocument": {**OPEN, "uri": "file:///a%00.py"}}
    ),
    "a path of odd bytes": message(
        method="textDocument/didOpen", params={"textDocument": {**OPEN, "uri": "file:///nowhere/%ff%fe.py"}}
    ),
    "a long path": message(
        method="textDocument/didOpen", params={"textDocument": {**OPEN, "uri": f"file:///{'a' * 9000}.py"}}
    ),
    "a folder": message(method="textDocument/didOpen", params={"textDocument": {**OPEN, "uri": "file:///tmp"}}),
    "a lone surrogate": message(
        method="textDocument/didOpen",
        params={"textDocument": {**OPEN, "uri": "file:///nowhere/s.py", "text": "s = '\ud800'\n" + BAD}},
    ),
    "closed before it was opened": message(
        method="textDocument/didClose", params={"textDocument": {"uri": "file:///no/such.py"}}
    ),
    "cancelled before it was asked": message(method="$/cancelRequest", params={"id": 55}),
}


class Server:
    """A server in a session of its own."""

    def __init__(self, folder: Path) -> None:
        from server.editor import COMMAND

        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            COMMAND, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.incoming, self.outgoing = self.process.stdin, self.process.stdout

    def send(self, data: bytes) -> None:
        self.incoming.write(data)
        self.incoming.flush()

    def receive(self) -> dict[str, Any]:
        length = 0
        while line := self.outgoing.readline().strip():
            name, _, value = line.partition(b": ")
            length = int(value) if name == b"Content-Length" else length
        found: dict[str, Any] = json.loads(self.outgoing.read(length))
        return found

    def until(self, **fields: Any) -> dict[str, Any]:
        while True:
            found = self.receive()
            if fields.items() <= {**found, **found.get("params", {})}.items():
                return found

    def end(self) -> tuple[int, list[str]]:
        """The exit code and what was said on standard error, once no process of the session is left."""
        assert self.process.stderr is not None
        errors = self.process.stderr.read().decode().splitlines()  # until whoever could write to it is gone
        code = self.process.wait()
        while of_session(self.process.pid):  # what has closed its streams may still be on its way out
            os.sched_yield()
        return code, errors


def of_session(leader: int) -> list[int]:
    """The processes of a session that have not ended."""
    found = []
    for each in filter(str.isdecimal, os.listdir("/proc")):
        try:
            fields = Path("/proc", each, "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != b"Z":
            found.append(int(each))
    return found


def test_odd_messages_are_lines_in_the_log(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.send(INITIALIZE)
    server.until(id=1)
    for odd in ODD.values():
        server.send(odd)
    server.send(message(method="textDocument/didOpen", params={"textDocument": OPEN}))
    found = server.until(method="textDocument/publishDiagnostics", uri=OPEN["uri"])
    assert [each["code"] for each in found["params"]["diagnostics"]] == ["SHP101"]
    server.send(END)
    code, errors = server.end()
    assert code == 0
    assert not [line for line in errors if not line.startswith("distml server: ")]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", 1),
        (b"Content-Length: 100\r\n\r\n{", 1),
        (b"x" * 100_000, 1),
        (INITIALIZE, 1),
        (INITIALIZE + message(method="exit"), 1),
        (INITIALIZE + END, 0),
        (message(id=3, method="textDocument/hover", params={}) + message(method="exit"), 1),
    ],
    ids=["nothing", "half a message", "no line end", "closed", "exit", "shutdown and exit", "not begun"],
)
def test_the_exit_code_says_whether_the_client_ended_it(tmp_path: Path, data: bytes, code: int) -> None:
    server = Server(tmp_path)
    server.send(data)
    server.incoming.close()
    assert server.end()[0] == code


@pytest.mark.parametrize("end", ["close", "kill", "terminate"])
def test_the_end_in_the_middle_of_a_check_leaves_no_process(tmp_path: Path, end: str) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.distml]\ntime-limit = 1000\n")
    server = Server(tmp_path)
    server.send(INITIALIZE)
    server.until(id=1)
    document = {**OPEN, "uri": (tmp_path / "a.py").as_uri(), "text": LONG}
    server.send(message(method="textDocument/didOpen", params={"textDocument": document}))
    while len(of_session(server.process.pid)) < 3:  # the server, what checks, a fork of it
        assert server.process.poll() is None
    if end == "close":
        server.incoming.close()
    else:
        server.process.send_signal(signal.SIGKILL if end == "kill" else signal.SIGTERM)
    assert server.end()[0] == {"close": 1, "kill": -signal.SIGKILL, "terminate": 128 + signal.SIGTERM}[end]


def test_when_what_checks_dies_the_next_edit_is_checked(tmp_path: Path) -> None:
    from server.editor import Editor, editing

    async def scenario(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", BAD)
        assert await editor.findings(uri, 1)
        assert editor.client._server is not None
        pid = editor.client._server.pid
        (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        os.kill(int(child), signal.SIGKILL)
        editor.replace(uri, 2, BAD + "\n")
        while not any(each.version == 2 for each in editor.shown[uri]):  # it may have died before or after it was asked
            await editor.until(lambda: len(editor.shown[uri]) > 1 or editor.logged)
            if editor.logged:
                assert "the process that checks ended" in editor.logged.pop()
                editor.replace(uri, 2, BAD + "\n")

    editing(tmp_path, scenario)


@pytest.mark.parametrize(
    ("limit", "code"), [("time-limit = 0.000001", "SRC105"), ("memory-limit = 1", "SRC106")], ids=["time", "memory"]
)
def test_a_check_that_breaks_a_limit_is_one_line_in_the_log(tmp_path: Path, limit: str, code: str) -> None:
    from server.editor import Editor, editing

    (tmp_path / "pyproject.toml").write_text(f"[tool.distml]\n{limit}\n")

    async def scenario(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", LONG)
        assert code in [each.code for each in await editor.findings(uri, 1)]
        (line,) = [each for each in editor.logged if code in each]
        assert "\n" not in line
        (tmp_path / "pyproject.toml").unlink()
        editor.replace(uri, 2, BAD)
        assert [each.code for each in await editor.findings(uri, 2)] == ["SHP101"]

    editing(tmp_path, scenario)


def test_nothing_in_the_workspace_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from server.editor import Editor, editing

    trap = f"open({str(tmp_path / 'sprung')!r}, 'w')\n"
    for name in ("json", "torch", "pygls", "sitecustomize", "usercustomize", "conftest", "setup", "b", "distml"):
        (tmp_path / f"{name}.py").write_text(trap)
    monkeypatch.chdir(tmp_path)

    async def scenario(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", f"import json, torch, b\n{trap}")
        assert await editor.findings(uri, 1) == []

    editing(tmp_path, scenario)
    assert not (tmp_path / "sprung").exists()


def test_without_pygls_it_says_what_to_install(tmp_path: Path) -> None:
    program = "import sys\nsys.modules['pygls'] = None\nfrom distml.cli.main import main\nsys.exit(main(['server']))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=tmp_path, input="", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "distml: error: distml server needs pygls: pip install 'distml[server]'\n"


def test_a_person_who_starts_it_is_told_that_editors_do(tmp_path: Path) -> None:
    from server.editor import COMMAND

    done = subprocess.run(COMMAND, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("distml: error: standard input is no pipe") and done.stderr.count("\n") == 1
