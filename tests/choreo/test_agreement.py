"""What several parties hold stays the same at each of them: what would bring it apart is refused."""

from __future__ import annotations

import pytest

from distml.choreo.project import project_source

HEAD = """
from distml.choreo import At, Channel, Role
class A(Role): ...
class B(Role): ...
STATE: list[int] = []
NAMES = ["one", "two"]
def put(board: list[int], number: int) -> None:
    board.append(number)
def put_first(board: list[int], number: int) -> None:
    board[0] = number
def remember(number: int) -> int:
    STATE.append(number)
    return len(STATE)
def longest(numbers: list[int]) -> str:
    found: list[str] = []
    for number in numbers:
        found.append(NAMES[number])
    return max(found)
def run(ch: Channel[object, A, B], n: At[int, A], many: At[list[int], A], k: At[int, A, B]) -> At[int, A]:
    board: At[list[int], A, B] = [1, 2]
"""
TAIL = """
    if board:
        ch.com(n)
    return n
"""
REFUSED = {
    "put(board, n)": "CHO111",
    "put_first(number=n, board=board)": "CHO111",
    "mine: At[int, A] = board.pop()": "CHO111",
    "mine: At[int, A] = 1 + board.pop()": "CHO111",
    "mine: At[int, A] = n + board.pop()": "CHO111",
    "many.append(board.pop())": "CHO111",
    "if remember(k) > 1:\n        board.append(k)": "CHO110",
    "for k in many:\n        many = many[1:]": "CHO101",
}
KEPT = [
    "put(board, k)",
    "both: At[int, A, B] = board.pop()",
    "k = board.pop() + k",
    "board.append(board.pop())",
    "k = ch.com(many.pop())",
    "k = ch.com(n + many.pop())",
    "put(many, n)",
    "put(many, k)",
    "mine: At[int, A] = remember(n)",
    "board.append(k) if longest(board) else None",
    "for each in many:\n        put(many, each)",
    "for each in board:\n        k += each",
    "for each in many:\n        put(many, each)\n    for each in board:\n        k += each",
]


def test_what_is_sent_is_not_changed_at_the_sender_alone() -> None:
    body = """
class C(Role): ...
def tell(ac: Channel[object, A, C], board: At[list[int], A, B]) -> At[int, C]:
    return ac.com(board.pop())
"""
    assert [each.code for each in project_source(HEAD[: HEAD.index("def run")] + body, "program.py").findings] == [
        "CHO111"
    ]


def codes(line: str) -> list[str]:
    return [each.code for each in project_source(f"{HEAD}    {line}{TAIL}", "program.py").findings]


@pytest.mark.parametrize("line", REFUSED)
def test_what_parties_agree_on_is_changed_by_all_or_none(line: str) -> None:
    assert codes(line) == [REFUSED[line]]


@pytest.mark.parametrize("line", KEPT)
def test_what_all_change_alike_or_one_holds_alone_is_kept(line: str) -> None:
    assert codes(line) == []
