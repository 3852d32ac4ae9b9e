"""Runs over declared files: what they find, what they say they read, and that nothing else counts."""

from __future__ import annotations

from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from distml.engine.config import Config
from distml.engine.declared import Outcome, check_declared
from distml.source.essence import essence
from distml.source.file import SourceFile

NET = b"""\
import torch.nn as nn
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, 10)
    def forward(self, x):
        return self.fc(x)
"""
APP = b"""\
import torch
from lib.net import Net
Net(128)(torch.zeros(4, 96))
"""
FINE = APP.replace(b"96", b"128")
BROKEN = b"import torch\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\n"


def check(paths: list[str], config: Config | None = None, roots: tuple[str, ...] = ("",), **files: bytes) -> Outcome:
    contents = {name.replace("__", "/") + ".py": data for name, data in files.items()}
    return check_declared(paths, contents, roots, config or Config(jobs=0))


def codes(outcome: Outcome) -> list[tuple[str, str, int]]:
    return [(finding.span.path, finding.code, finding.span.line) for finding in outcome.report.diagnostics]


def test_a_finding_in_another_file_that_the_target_causes() -> None:
    outcome = check(["app.py"], app=APP, lib__net=NET, lib__more=b"")
    assert codes(outcome) == [("lib/net.py", "SHP401", 7)]
    assert outcome.shown == {"lib/net.py", "app.py"}
    assert outcome.read == {"lib/net.py", "app.py"}


def test_what_is_read_without_a_finding_is_not_shown() -> None:
    outcome = check(["app.py"], app=FINE, lib__net=NET, lib__more=b"import torch\n")
    assert (codes(outcome), outcome.shown) == ([], frozenset())
    assert "lib/net.py" in outcome.read and "lib/more.py" not in outcome.read


def test_a_finding_of_another_file_itself_is_not_said_here() -> None:
    outcome = check(["app.py"], app=b"import lib.broken\nimport torch\n", lib__broken=BROKEN)
    assert codes(outcome) == []
    assert codes(check(["lib/broken.py"], lib__broken=BROKEN)) == [("lib/broken.py", "SHP101", 2)]


def test_a_suppression_that_hides_nothing_may_hide_something_of_a_dependant() -> None:
    hidden = NET.replace(b"self.fc(x)", b"self.fc(x)  # distml: ignore[SHP401]")
    assert codes(check(["lib/net.py"], lib__net=hidden)) == []
    assert codes(check(["app.py"], app=APP, lib__net=hidden)) == []


def test_nothing_on_disk_counts(folder: Path) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "net.py").write_bytes(NET)
    (folder / "app.py").write_bytes(APP)
    assert codes(check(["app.py"], app=APP)) == []


@pytest.mark.parametrize("root", ["vendor", "bazel-out/bin/src"])
def test_roots_say_where_imports_are_looked_up(root: str) -> None:
    files = {f"{root.replace('/', '__')}__lib__net": NET}
    assert codes(check(["app.py"], roots=(root,), app=APP, **files)) == [(f"{root}/lib/net.py", "SHP401", 7)]
    assert codes(check(["app.py"], app=APP, **files)) == []


def test_settings_count_as_in_any_run() -> None:
    one = Config(folder="conf", src=("lib",), jobs=0)
    found = codes(check(["app.py"], one, app=APP.replace(b"lib.", b""), conf__lib__net=NET))
    assert found == [("conf/lib/net.py", "SHP401", 7)]
    assert codes(check(["app.py"], Config(ignore=("SHP4",), jobs=0), app=APP, lib__net=NET)) == []
    assert codes(check(["app.py"], Config(exclude=("app.py",), jobs=0), app=APP, lib__net=NET)) == []


def test_what_may_be_otherwise_next_time_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distml.engine.one._interpreter", lambda: out_of_time)
    outcome = check(["app.py"], app=b"import torch\n", lib__net=NET)
    assert [finding.code for finding in outcome.fleeting] == ["SRC105"]
    assert "lib/net.py" in outcome.read


def out_of_time(_source: SourceFile, _project: object, _deadline: float, _note: object) -> SimpleNamespace:
    """A check that was stopped."""
    return SimpleNamespace(diagnostics=(), lost=(), late=True)


def test_a_file_with_no_syntax_reads_nothing_else() -> None:
    outcome = check(["app.py"], app=b"def (:\n", lib__net=NET)
    assert [code for _, code, _ in codes(outcome)] == ["SRC101"]
    assert (outcome.read, outcome.fleeting) == ({"app.py"}, ())


# What a target above finds depends on a file below only through its essence, places aside.
LIBRARIES = {
    "class": NET,
    "functions": b'"""Doc."""\nimport torch\n\ndef pair(n=4):\n    """Two."""\n    return torch.zeros(n, 2), n  # two\n',
    "suppressed": NET.replace(b"self.fc(x)", b"self.fc(x)  # distml: ignore[SHP401]"),
    "annotated": b"import torch\ndef pair(x):\n    # distml: x: float[4, 3]\n    return x @ torch.zeros(3, 2)\n",
}
USES = {
    "class": APP,
    "functions": b"import torch\nfrom lib.net import pair\nx, n = pair()\nx @ torch.zeros(3, 5)\nx.view(n, 3)\n",
    "suppressed": APP,
    "annotated": b"import torch\nfrom lib.net import pair\npair(torch.zeros(4, 3)) @ torch.zeros(3, 5)\n",
}


@pytest.mark.parametrize("kind", LIBRARIES)
@pytest.mark.parametrize("seed", range(4))
def test_files_of_one_essence_are_the_same_to_those_above(kind: str, seed: int) -> None:
    library = LIBRARIES[kind]
    edited = relaid(library.decode(), seed).encode()
    assert edited != library
    assert digest(edited) == digest(library)
    before, after = (check(["app.py"], app=USES[kind], lib__net=data) for data in (library, edited))
    told = [[(each.code, each.message, each.span.path) for each in done.report.diagnostics] for done in (before, after)]
    assert told[0] == told[1]
    assert before.read == after.read


def relaid(text: str, seed: int) -> str:
    """The program with other comments, blank lines and docstrings."""
    chance = Random(seed)
    lines = [text.split("\n", maxsplit=1)[0]]
    for line in text.split("\n")[1:]:
        lines += chance.choice(([], [], ["    # a comment"], ["", ""]))
        lines.append(line.replace('"""Two."""', '"""Two of them."""') + chance.choice(("", "  ")))
    return "\n".join(lines) + "# the end\n"


def digest(data: bytes) -> str:
    return essence(SourceFile("net.py", "/net.py", data, module="lib.net", is_package=False))
