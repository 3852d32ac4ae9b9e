"""What several parties hold stays the same at all of them, by whatever name or means one of them could change it.

A program is refused, or its parties come to the same when they are run. Each begins with something that A does alone; then
both read what they agree on.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distml.choreo.project import project_source
from distml.choreo.runtime import PartiesFailed, run_parties

HEAD = """
import collections, copy, functools, itertools
from dataclasses import dataclass
from enum import Enum
from distml.choreo import At, Channel, Role
class A(Role): ...
class B(Role): ...
NAMES = ["a"]
ITEMS = iter([1, 2, 3])
@dataclass
class Box:
    n: int
class Tally:
    def __init__(self) -> None:
        self.n = 0
    def hit(self) -> int:
        self.n += 1
        return self.n
    def twice(self) -> int:
        self.hit()
        return self.hit()
class Asked:
    def __init__(self) -> None:
        self.n = 0
    @property
    def value(self) -> int:
        self.n += 1
        return self.n
    def __len__(self) -> int:
        self.n += 1
        return self.n
    def __bool__(self) -> bool:
        self.n += 1
        return True
    def __getitem__(self, key: int) -> int:
        self.n += 1
        return self.n
    def __add__(self, other: int) -> int:
        self.n += 1
        return self.n
    def __str__(self) -> str:
        self.n += 1
        return str(self.n)
    def __contains__(self, other: int) -> bool:
        self.n += 1
        return True
    def __enter__(self) -> int:
        self.n += 1
        return self.n
    def __exit__(self, *raised: object) -> None:
        return None
class Called:
    def __init__(self) -> None:
        self.n = 0
    def __call__(self) -> int:
        self.n += 1
        return self.n
class Kept:
    items: list[int] = []
    total = 0
    count = 0
    def add(self, n: int) -> int:
        self.items.append(n)
        return len(self.items)
    @classmethod
    def sum(cls, n: int) -> int:
        cls.total += n
        return cls.total
    def up(self, n: int) -> int:
        type(self).count += n
        return self.count
TALLY, ASKED = Tally(), Asked()
def remember(n: int, seen: list[int] = []) -> int:
    seen.append(n)
    return len(seen)
def names() -> list[str]:
    return NAMES
def note(n: int) -> int:
    names().append("b")
    return n
def tally(n: int) -> int:
    return TALLY.hit() + n
def same(values: list[int]) -> list[int]:
    return values
def used(values) -> int:
    return len(list(values))
def run(ch: Channel[object, A, B], n: At[int, A], held: At[list[int], A], board: At[list[int], A, B],
        table: At[dict[str, list[int]], A, B], box: At[Box, A, B]) -> At[object, A, B]:
"""
GIVEN = {"board": [3, 1, 2], "table": {"a": [1]}}

CHANGED = """
mine: At[list[int], A] = board; mine.append(n); return len(board)
mine: At[list[int], A] = board; mine += [n]; return len(board)
mine: At[list[int], A] = board; mine[0] = n; return board[0]
mine: At[list[int], A] = board; del mine[0]; return len(board)
mine: At[list[int], A] = board; other: At[list[int], A] = mine; other.append(n); return len(board)
mine: At[list[int], A] = table['a']; mine.append(n); return len(table['a'])
mine: At[list[int], A] = table.get('a'); mine.append(n); return len(table['a'])
mine: At[list[int], A] = same(board); mine.append(n); return len(board)
mine: At[list[int], A] = board if n else []; mine.append(n); return len(board)
mine: At[list[int], A] = board or []; mine.append(n); return len(board)
mine: At[list[list[int]], A] = [board]; mine[0].append(n); return len(board)
mine: At[dict[str, list[int]], A] = {'x': board}; mine['x'].append(n); return len(board)
mine: At[dict[str, list[int]], A] = dict(table); mine['a'].append(n); return len(table['a'])
mine: At[list[list[int]], A] = list(table.values()); mine[0].append(n); return len(table['a'])
mine: At[dict[str, list[int]], A] = copy.copy(table); mine['a'].append(n); return len(table['a'])
mine: At[Box, A] = box; mine.n = n; return box.n
mine: At[list[int], A] = board @ A(); mine.append(n); return len(board)
mine: At[list[list[int]], A] = []; mine.append(board); mine[0].append(n); return len(board)
mine: At[list[list[int]], A] = [board]; [e.append(n) for e in mine]; return len(board)
mine: At[list[str], A] = NAMES; mine.append('b'); return len(NAMES)
mine: At[list[str], A] = names(); mine.append('b'); return len(names())
f = lambda: board.append(1); own: At[object, A] = f(); return len(board)
f = board.append; own: At[object, A] = f(n); return len(board)
own: At[int, A] = note(n); return len(NAMES)
own: At[int, A] = tally(n); return TALLY.n
own: At[int, A] = TALLY.hit() + n; return TALLY.n
own: At[int, A] = TALLY.twice() + n; return TALLY.n
c = Tally(); own: At[int, A] = c.hit() + n; return c.n
c = Tally(); mine: At[Tally, A] = c; own: At[int, A] = mine.hit() + n; return c.n
c = Called(); own: At[int, A] = c() + n; return c.n
c = Asked(); own: At[int, A] = c.value + n; return c.n
c = Asked(); own: At[int, A] = len(c) + n; return c.n
c = Asked(); own: At[int, A] = c[n]; return c.n
c = Asked(); own: At[str, A] = f'{c} {n}'; return c.n
own: At[int, A] = len(ASKED) + n; return ASKED.n
own: At[int, A] = 1 if ASKED else n; return ASKED.n
own: At[int, A] = ASKED + n; return ASKED.n
own: At[bool, A] = n in ASKED; return ASKED.n
own: At[int, A] = Kept().add(n); return len(Kept.items)
own: At[int, A] = Kept().add(n); return Kept().add(1)
own: At[int, A] = Kept.sum(n); return Kept.total
own: At[int, A] = Kept.sum(n); return Kept.sum(1)
own: At[int, A] = Kept().up(n); return Kept.count
own: At[int, A] = remember(n); return remember(1)
it = iter(board); own: At[int, A] = sum(it) + n; return len(list(it))
it = map(str, board); own: At[list[str], A] = list(it); return len(list(it))
it = zip(board, board); own: At[object, A] = dict(it); return len(list(it))
it = (e for e in board); own: At[bool, A] = n in it; return len(list(it))
it = enumerate(board); own: At[int, A] = used(it); return used(it)
it = itertools.chain(board, board); own: At[object, A] = set(it); return len(set(it))
own: At[int, A] = sum(ITEMS) + n; return sum(ITEMS)
d = collections.defaultdict(list); own: At[object, A] = d['x']; return len(d)
got: At[list[int], A, B] = ch.com(held); held.append(n); return len(got)
got: At[list[int], A, B] = ch.com(held); more: At[list[int], A, B] = ch.com(held); got.append(1); return len(more)
x: At[list[list[int]], A] = [held, held]; got: At[list[list[int]], A, B] = ch.com(x); got[0].append(1); return len(got[1])
b: At[Box, A] = Box(n); got: At[Box, A, B] = ch.com(b); b.n = n + 1; return got.n
x: At[list[float], A] = [float('nan')]; a: At[list[float], A, B] = ch.com(x); b: At[float, A, B] = ch.com(x[0]); return b in a
"""
"""Each is refused, or does no harm."""

KEPT = """
mine: At[list[int], A] = sorted(board); mine.append(n); return len(board)
mine: At[list[int], A] = list(board); mine.append(n); return len(board)
mine: At[list[int], A] = [*board]; mine.append(n); return len(board)
mine: At[list[int], A] = board[1:]; mine.append(n); return len(board)
mine: At[list[int], A] = board + [n]; mine.append(n); return len(board)
mine: At[list[int], A] = [e for e in board]; mine += [n]; return len(board)
mine: At[list[int], A] = [n]; mine.append(n); mine[0] = 4; return len(board)
mine: At[list[int], A] = board; mine = [n]; mine.append(n); return len(board)
mine: At[int, A] = board[0]; mine += n; return board[0]
mine: At[int, A] = len(board); mine += n; return len(board)
c: At[Tally, A] = Tally(); own: At[int, A] = c.hit() + n; return len(board)
c = Tally(); c.hit(); return c.n
own: At[int, A] = sum(e for e in board) + n; return sum(e for e in board)
own: At[list[int], A] = list(map(abs, board)); own.append(n); return len(list(map(abs, board)))
board.append(4); board += [5]; return len(board)
got: At[list[int], A, B] = ch.com(held); got.append(1); return len(got)
table['b'] = [2]; table['b'].append(3); return table['b']
own: At[int, A] = n; own += 1; return 0
held += [n]; held.append(n); return len(board)
box.n = 4; return box.n
box.n += 4; return box.n
"""
"""None of these is refused."""


def program(body: str) -> str:
    return HEAD + "".join(f"    {each.strip()}\n" for each in body.split(";"))


def came_out(text: str) -> tuple[str, ...]:
    """What the parties come to, each with its program; nothing where it is refused."""
    projection = project_source(text, "program.py")
    if projection.findings:
        return ()
    modules = {role: _module(role, code) for role, code in projection.files.items()}

    def party(role: str, own: dict[str, Any]) -> Any:
        function = getattr(modules[role], f"run_{role}")
        box = modules[role].Box(1)
        given = {name: eval(repr(value)) for name, value in GIVEN.items()}
        return lambda ends: function(next(iter(ends.values())), **own, **given, box=box)

    parties = {"A": party("A", {"n": 3, "held": [1, 2]}), "B": party("B", {})}
    wire = {role: module.WIRE for role, module in modules.items()}
    try:
        results = run_parties(parties, wire=wire, timeout=20)
    except PartiesFailed:
        return ("all of them were told",)
    return tuple(ascii(results[role]) for role in "AB")


def _module(role: str, code: str) -> ModuleType:
    module = ModuleType(f"sharing_{role.lower()}")
    sys.modules[module.__name__] = module  # dataclasses ask for it
    exec(compile(code, module.__name__, "exec"), module.__dict__)
    return module


def lines(table: str) -> list[str]:
    return table.strip().splitlines()


@pytest.mark.parametrize("body", lines(CHANGED))
def test_no_party_changes_alone_what_others_hold(body: str) -> None:
    assert len(set(came_out(program(body)))) <= 1


@pytest.mark.parametrize("body", lines(KEPT))
def test_what_is_a_partys_own_may_change(body: str) -> None:
    results = came_out(program(body))
    assert len(results) == 2
    assert results[0] == results[1]


NAMING = [each.split("; ")[0] for each in lines(CHANGED) + lines(KEPT)]
ACTING = sorted({part for each in lines(CHANGED) + lines(KEPT) for part in each.split("; ")[:-1]})
READING = sorted({each.rpartition("; ")[2] for each in lines(CHANGED) + lines(KEPT)})


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(NAMING), st.lists(st.sampled_from(ACTING), max_size=3), st.sampled_from(READING))
def test_parties_of_accepted_programs_never_part(first: str, acts: list[str], last: str) -> None:
    results = came_out(program("; ".join([first, *acts, last])))
    assert len(set(results)) <= 1


def test_chains_of_functions_that_call_each_other_twice_take_time_by_their_length() -> None:
    chain = "".join(f"def f{i}(x: int) -> int:\n    return f{i + 1}(x) + f{i + 1}(x + 1)\n" for i in range(40))
    methods = "".join(f"    def __{name}__(self) -> int:\n        return self.n\n" for name in OPERATORS)
    several = f"class Many:\n    def __init__(self) -> None:\n        self.n = 0\n{methods}MANY = Many()\n"
    head, _, rest = HEAD.partition("def run(")
    text = f"{head}{chain}def f40(x: int) -> int:\n    return x\n{several}def run({rest}    return f0(1) + MANY.n\n"
    assert project_source(text, "program.py").findings == ()


OPERATORS = "len bool neg pos abs invert int index float complex round trunc ceil floor hash sizeof".split()
