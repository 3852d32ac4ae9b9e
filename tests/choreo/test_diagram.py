"""Sequence diagrams of choreographies."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from distml.choreo.diagram import diagrams
from distml.choreo.facts import Transfer
from distml.choreo.project import project_source
from distml.cli.main import main

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "choreographies").glob("*.py"))
PARTICIPANT = re.compile(r"participant (\w+) as (\w+)")
ARROW = re.compile(r"(\w+)-?->>(\w+): .")
HEAD = """
from enum import Enum
from distml.choreo import At, Channel, Role


class Ann(Role): ...


class End(Role): ...


class Way(Enum):
    ON = 1
    OFF = 2


"""


def drawn(body: str) -> dict[str, str]:
    found = project_source(HEAD + body, "case.py")
    assert not found.findings, found.findings
    return diagrams(found.checked)


def lines(body: str) -> list[str]:
    """The lines below the participants of the only diagram."""
    (text,) = drawn(body).values()
    return [line[4:] for line in text.splitlines()[6:]]


def test_a_diagram_has_the_roles_and_the_arrows_in_order() -> None:
    text = drawn(
        "def f(ch: Channel[object, Ann, End], n: At[int, Ann]) -> At[int, Ann]:\n    return ch.com(ch.com(n) + 1)\n"
    )
    assert text == {
        "f": "---\ntitle: f\n---\nsequenceDiagram\n    participant Ann as Ann\n    participant End_ as End\n"
        "    Ann->>End_: n\n    End_->>Ann: ch.com(n) + 1\n"
    }


def test_branches_and_loops_are_blocks() -> None:
    assert lines("""
def f(ch: Channel[object, Ann, End], n: At[list[int], Ann]) -> At[int, End]:
    while n:
        ch.select(Way.ON @ Ann())
        if n[0] < 3:
            ch.select(Way.ON @ Ann())
            n.pop()
        elif n[0] == 5:
            ch.select(Way.OFF @ Ann())
            return ch.com(n[0])
        else:
            ch.select(Way.OFF @ Ann())
            return ch.com(0 @ Ann())
    else:
        ch.select(Way.OFF @ Ann())
    return ch.com(1 @ Ann())
""") == [
        "loop Ann: while n",
        "    Ann-->>End_: Way.ON",
        "    alt Ann: n[0] #60; 3",
        "        Ann-->>End_: Way.ON",
        "    else n[0] == 5",
        "        Ann-->>End_: Way.OFF",
        "        Ann->>End_: n[0]",
        "        Note over End_: return ch.com(n[0])",
        "    else otherwise",
        "        Ann-->>End_: Way.OFF",
        "        Ann->>End_: 0",
        "        Note over End_: return ch.com(0 @ Ann())",
        "    end",
        "end",
        "Ann-->>End_: Way.OFF",
        "Ann->>End_: 1",
    ]


def test_calls_of_choreographies_are_notes_and_marks_are_written_out() -> None:
    found = drawn("""
def g(ch: Channel[object, Ann, End], n: At[str, Ann]) -> At[str, End]:
    return ch.com(n + "; # <b>")


def f(ch: Channel[object, Ann, End], n: At[str, Ann]) -> At[str, End]:
    return g(ch, n)
""")
    assert found["f"].splitlines()[-1] == "    Note over Ann,End_: g(ch, n)"
    assert found["g"].splitlines()[-1] == "    Ann->>End_: n + '#59; #35; #60;b#62;'"


def test_without_communication_there_is_no_diagram() -> None:
    assert drawn("def f(n: At[int, Ann], m: At[int, End]) -> At[int, Ann]:\n    return n\n") == {}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_communication_is_one_arrow(path: Path) -> None:
    found = project_source(path.read_text("utf-8"), path.name)
    assert not found.findings
    sent = sorted((x.sender, x.receiver) for x in found.checked.facts.calls.values() if isinstance(x, Transfer))
    text = "".join(diagrams(found.checked).values())
    role = dict(PARTICIPANT.findall(text))
    assert sorted((role[one], role[other]) for one, other in ARROW.findall(text)) == sent
    assert sent


def test_from_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text(HEAD + "def f(ch: Channel[int, Ann, End], n: At[int, Ann]) -> None:\n    ch.com(n)\n")
    assert main(["project", "a.py", "--diagram"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("```mermaid\n---\ntitle: f\n")
    assert main(["project", "a.py", "--diagram", "-o", "out"]) == 0
    mark, _, text = (folder / "out" / "a_f.mmd").read_text().partition("\n")
    assert mark == "%% f of a.py, drawn by distml"
    assert f"```mermaid\n{text}```\n" == printed
    assert main(["project", "a.py", "--diagram", "--role", "Ann"]) == 2
