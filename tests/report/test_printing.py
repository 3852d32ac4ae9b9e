"""Nothing that a checked file, a path or an argument holds reaches a terminal or a report as anything but itself."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import TextIO, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.cli.main import main
from distml.diagnostics.printable import is_seen, safe, safe_text
from distml.report.printing import Screen, hand_over, say
from distml.rewrites.model import Rewritten
from distml.rewrites.writing import unified

INVISIBLE = "\u00ad\u200b\u2060\ufe0f\U000e0041\U000e0100\u3164\u034f"
ODD = f"a\x1b[31m\x07\u202e{INVISIBLE}\u2028\x85\n::error::injected"
HIDDEN = "\ufe0f\u034f\U000e0100"  # allowed in names of Python, and seen as nothing
STRING = "\x07\x1b[31m\u202e\u00ad\u200b\U000e0041\u2066"
SHAPES = f"""import numpy as np
import torch

def mul{HIDDEN}(x: torch.Tensor, text: str = "{STRING}"):
    if x.dim() == 77:
        return x
    return np.ones((2, 3)) @ np.ones((2, 3)), "{STRING}", x.view(2, 3){HIDDEN and ""}

mul{HIDDEN}(open("{STRING}"))  # distml: ignore[SHP999] {STRING}
"""
PARTIES = f"""from distml.choreo import At, Channel, Role
class A{HIDDEN}(Role): ...
class B(Role): ...
def give(ch: Channel[str, A{HIDDEN}, B], n: At[str, A{HIDDEN}]) -> At[str, B]:
    if n == "{STRING}":
        ch.com("{STRING}" @ A{HIDDEN}())
    return n
"""
TRAINING = f"""import torch
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader([1, 2], batch_size=1)
for x{HIDDEN} in loader:
    optimizer.zero_grad(); model(x{HIDDEN}).sum().backward(); optimizer.step(); print("{STRING}")
"""
FORMS = ("text", "concise", "json", "sarif", "github", "markdown", "junit", "gitlab")
COMMANDS = [
    *(["check", "--format", form] for form in FORMS),
    ["check", "--verbose", "--no-cache", "--color", "never"],
    ["check", "--fix"],
    ["check", ODD],
    ["check", "--select", ODD],
    ["check", "--config", ODD],
    ["check", f"--{ODD}"],
    ["check", "--jobs", ODD],
    *(["horovod", "--check", "--format", form] for form in FORMS),
    ["horovod"],
    ["horovod", "--diff", "--format", "json"],
    ["horovod", "--write"],
    ["horovod", ODD],
    ["project", f"{ODD}_parties.py"],
    ["project", ODD],
    ["project", f"{ODD}_parties.py", "--role", ODD],
    ["run", f"{ODD}_parties.py"],
    ["run", f"{ODD}_parties.py", "--arg", ODD],
    ["migrate", f"{ODD}_shapes.py"],
    ["migrate", f"{ODD}_shapes.py", "--format", "json"],
    ["migrate", f"{ODD}_shapes.py", "--write"],
    ["migrate", ODD],
    ["migrate", f"{ODD}_shapes.py", "--where", ODD],
    ["branches", f"{ODD}_shapes.py"],
    ["branches", f"{ODD}_shapes.py", "--format", "json"],
    ["branches", f"{ODD}_shapes.py", "--write"],
    ["explain", ODD],
    ["rules", ODD],
    [ODD],
    ["autofix", "--repo", ODD],
    ["autofix", "--repo", "a/b", "--dry-run", "--base", ODD],
    ["autofix", "--repo", "a/b", "--dry-run", "--apply", ODD],
    ["smoke", ODD],
]


@pytest.fixture
def hostile(folder: Path) -> Path:
    for name, text in (("shapes", SHAPES), ("parties", PARTIES), ("training", TRAINING), ("broken", "def f(:\n")):
        (folder / f"{ODD}_{name}.py").write_text(text, "utf-8")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\x9b31m.py")).write_text("def f(:\n")
    return folder


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda each: safe(" ".join(each)))
def test_every_command_and_form(arguments: list[str], hostile: Path, capfd: pytest.CaptureFixture[str]) -> None:
    try:
        assert main(arguments) in (0, 1, 2)
    except SystemExit as left:
        assert left.code == 2
    told = capfd.readouterr()
    assert told.out + told.err
    assert [char for char in told.out + told.err if char not in "\n\t" and not is_seen(char)] == []
    lines = (told.out + told.err).split("\n")
    assert [line for line in lines if line.lstrip().startswith("::error::injected")] == []


def test_the_worker_answers_in_safe_text(hostile: Path) -> None:
    from distml.cli.worker import carry_out

    code, output = carry_out([f"--check={ODD}", "--text=out.txt"])
    assert code == 2
    assert safe_text(output) == output
    assert output.count("\n") == 1
    code, output = carry_out([f"--check={ODD}_broken.py", "--text=out.txt"])
    assert code == 0, output
    text = (hostile / "out.txt").read_text("utf-8")
    assert text == safe_text(text)


@settings(max_examples=150)
@given(st.text())
def test_safe_text_is_seen_as_itself(text: str) -> None:
    shown = safe(text)
    assert all(is_seen(char) or char == "\t" for char in shown)
    assert safe(shown) == shown
    assert shown == text or any(not is_seen(char) for char in text)
    stream = io.StringIO()
    say(text, to=cast("TextIO", Screen(stream)))
    assert stream.getvalue() == shown + "\n"


@pytest.mark.requires("perl")
def test_what_is_seen_is_what_unicode_says() -> None:
    """Perl has the properties of Unicode, of a version of its own."""
    program = r'for (0..0x10ffff) { next if 0xd800 <= $_ <= 0xdfff; print "$_\n" if chr =~ /\p{DI}|\p{Bidi_C}/ }'
    program = program.replace("0xd800 <= $_ <= 0xdfff", "$_ >= 0xd800 && $_ <= 0xdfff")
    done = subprocess.run(["perl", "-CS", "-e", program], capture_output=True, text=True, check=True)
    ignorable = {int(line) for line in done.stdout.split()}
    assert len(ignorable) > 4000
    assert [hex(point) for point in ignorable if is_seen(chr(point))] == []
    for point in range(sys.maxunicode + 1):
        if unicodedata.category(chr(point))[0] not in "CZ" and point not in ignorable:
            assert is_seen(chr(point)), hex(point)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_programs_read_is_as_it_is_but_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, shown in ((io.StringIO(), STRING), (Terminal(), safe(STRING))):
        monkeypatch.setattr(sys, "stdout", Screen(stream))
        hand_over(STRING)
        assert stream.getvalue() == shown


NAMES = st.text(
    st.sampled_from([*'ab "\\\t\n', "\x1b", "\u202e", "\u00ad", "ü", "日", "\udcff"]), min_size=1, max_size=8
).filter(lambda name: name.strip() == name and name not in (".", ".."))


@pytest.mark.requires("git")
@settings(max_examples=40)
@given(NAMES)
def test_patches_apply_to_files_of_any_name(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    folder = tmp_path_factory.mktemp("patched")
    (folder / name).write_text(f"one {STRING}\n", "utf-8")
    patch = unified(name, Rewritten(f"one {STRING}\n", f"two {STRING}\n"))
    headers = [line for line in patch.split("\n") if line.startswith(("---", "+++"))]
    assert [safe(line) for line in headers] == headers
    done = subprocess.run(
        ["git", "apply", "-"], cwd=folder, input=patch.encode("utf-8", "surrogateescape"), capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert (folder / name).read_text("utf-8") == f"two {STRING}\n"
