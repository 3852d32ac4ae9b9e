"""Projected functions: defaults stay with their parameters, and names are declared once."""

from __future__ import annotations

import inspect
from typing import Any

from distml.choreo.project import project_source

HEAD = """
from enum import Enum
from distml.choreo import At, Channel, Role
class A(Role): ...
class B(Role): ...
class Way(Enum):
    LEFT = 1
    RIGHT = 2
"""


def program(body: str, role: str) -> tuple[str, dict[str, Any]]:
    found = project_source(HEAD + body, "program.py")
    assert found.findings == ()
    space: dict[str, Any] = {}
    exec(compile(found.files[role], role, "exec", dont_inherit=True), space)
    return found.files[role], space


def test_defaults_stay_with_their_parameters() -> None:
    body = """
def give(ch: Channel[int, A, B], a: At[int, A], b: At[int, B] = 3, *, c: At[int, B], d: At[int, B] = 4) -> At[int, B]:
    return ch.com(a) + b + c + d
"""
    _, space = program(body, "B")
    given = inspect.signature(space["give_B"]).parameters
    empty = inspect.Parameter.empty
    assert {name: each.default for name, each in given.items()} == {"ch": empty, "b": 3, "c": empty, "d": 4}
    assert given["c"].kind is given["d"].kind is inspect.Parameter.KEYWORD_ONLY
    assert inspect.signature(program(body, "A")[1]["give_A"]).parameters.keys() == {"ch", "a"}


def test_names_are_declared_once_though_two_branches_receive() -> None:
    body = """
def pick(ab: Channel[object, A, B], back: Channel[object, B, A], a: At[int, A]) -> At[int, B]:
    if a > 0:
        ab.select(Way.LEFT @ A())
        return ab.com(a)
    ab.select(Way.RIGHT @ A())
    return back.com(-a)
"""
    text, _ = program(body, "B")
    assert text.count("received_: int = ") == 1
    assert text.count("received_ = ") == 1


def test_labels_of_two_enums_have_two_names() -> None:
    body = """
class More(Enum):
    YES = 1
    NO = 2

def ask(ab: Channel[object, A, B], a: At[int, A], other: At[int, B]) -> At[int, B]:
    if a > 0:
        ab.select(Way.LEFT @ A())
    else:
        ab.select(Way.RIGHT @ A())
        if a < -5:
            ab.select(More.YES @ A())
        else:
            ab.select(More.NO @ A())
    return 0
"""
    text, _ = program(body, "B")
    assert "case other_way:" in text
    assert "case other_more:" in text
    renamed, _ = program(body.replace("other:", "rest:"), "B")
    assert "case other:" in renamed
    assert "case other_more:" in renamed
