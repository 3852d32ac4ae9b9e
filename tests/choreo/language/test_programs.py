"""The program of each party, as text: what the rules of projection make of whole choreographies."""

from __future__ import annotations

from textwrap import dedent

import pytest

from distml.choreo.infer import with_selects
from distml.choreo.project import UnknownRoleError, project_source

HEAD = """
from __future__ import annotations
from enum import Enum
from distml.choreo import At, Ch2, Channel, ChoreographyError, Role
class P(Role): ...
class C(Role): ...
class More(Enum):
    NEXT = "next"
    STOP = "stop"
"""


def projected(text: str, role: str) -> str:
    found = project_source(HEAD + dedent(text), "programs.py", role=role)
    assert found.findings == ()
    program = found.files[role]
    starts = [program.index(mark) for mark in ("\nclass ", "\ndef ") if mark in program]
    return (
        program[min(starts) :].partition("WIRE")[0].partition('STOP = "stop"')[2].strip()
        or program[min(starts) :].strip()
    )


def test_a_loop_that_one_party_decides() -> None:
    text = """
    def consume(ch: Channel[object, P, C], items: At[list[int], P], sink: At[list[int], C]) -> None:
        while items:
            ch.select(More.NEXT @ P())
            sink.append(ch.com(items.pop()))
        else:
            ch.select(More.STOP @ P())
    """
    assert projected(text, "C") == dedent("""\
        def consume_C(ch: ChannelEnd, sink: list[int]) -> None:
            while True:
                match ch.select(More):
                    case More.NEXT:
                        sink.append(ch.com())
                    case More.STOP:
                        break
                    case other:
                        raise unexpected(other)""")


def test_units_are_left_out() -> None:
    text = """
    class Double(Ch2[P, C]):
        def __init__(self, ch: Channel[object, P, C], factor: At[int, C]) -> None:
            self.ch = ch
            self.factor = factor

        def hidden(self, x: At[int, P]) -> At[int, P]:
            return x + 1

        def call(self, x: At[int, P]) -> At[int, P]:
            return self.ch.com(self.factor * self.ch.com(self.hidden(x)))
    """
    program = project_source(HEAD + dedent(text), "programs.py").files["C"]
    assert "hidden" not in program
    assert "self.ch.com(self.factor * self.ch.com())" in program
    assert "def call(self) -> None:" in program


def test_what_comes_after_a_value_does_not_overtake_it() -> None:
    text = """
    def pair(ch: Channel[object, P, C], x: At[int, P], y: At[int, C]) -> At[int, C]:
        return both(ch.com(x), ch.com(y), ch.com(x + 1))

    def both(first: At[int, C], second: At[int, P], third: At[int, C]) -> At[int, C]:
        return first - third
    """
    program = project_source(HEAD + dedent(text), "programs.py").files["C"]
    assert program.index("_1 = ch.com()") < program.index("ch.com(y)") < program.index("both_C(_1, ch.com())")


def test_missing_selects_are_written_once() -> None:
    text = HEAD + dedent("""
    def f(ch: Channel[object, P, C], x: At[int, P]) -> At[int, C]:
        if x > 3: return ch.com(x)
        return 2
    """)
    completed = with_selects(text)
    assert completed.count("ch.select(Choice.THEN @ P())") == completed.count("ch.select(Choice.ELSE @ P())") == 1
    assert with_selects(completed) == completed
    assert project_source(completed, "programs.py").findings == ()


def test_an_unknown_role_is_refused() -> None:
    with pytest.raises(UnknownRoleError):
        project_source(HEAD + "def f(ch: Channel[object, P, C]) -> None: ...", "programs.py", role="X")
