"""What several hold is changed by all of them or by none, by whatever names and under whatever conditions.

Each way of changing a list is run for real, so that the tables say what Python does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from distml.choreo.project import project_source

HEAD = """
import copy, functools, heapq, itertools, operator
from distml.choreo import At, Channel, Role
class A(Role): ...
class B(Role): ...
STATE: list[int] = [3]
OTHER: list[int] = [1]
class Keep:
    def __init__(self, items: list[int]) -> None:
        self.items = items
def same(x: list[int]) -> list[int]:
    return x
def put(to: list[int], n: int) -> None:
    to.append(n)
"""
CHANGING = """
X.append(n) ;; X += [n] ;; X[:] = [n] ;; X[0] = n ;; del X[:] ;; x = X; x.append(n) ;; x, y = X, 1; x.append(n)
x = y = X; x.append(n) ;; (x := X).append(n) ;; x = [X]; x[0].append(n) ;; x = {1: X}; x[1].append(n)
x = {1: X}; x.get(1).append(n) ;; x = Keep(X); x.items.append(n) ;; Keep(X).items.append(n) ;; for x in [X]: x.append(n)
[x.append(n) for x in [X]] ;; [X.append(n) for _ in [1]] ;; (X or OTHER).append(n) ;; (X if n else OTHER).append(n)
same(X).append(n) ;; max([X]).append(n) ;; next(iter([X])).append(n) ;; getattr(X, 'append')(n) ;; f = X.append; f(n)
list(map(X.append, [n])) ;; (lambda: X.append(n))() ;; (lambda x: x.append(n))(X) ;; f = lambda: X.append(n); f()
f = functools.partial(X.append, n); f() ;; put(X, n) ;; put(to=X, n=n) ;; put(same(X), n) ;; put(*[X, n])
put(**{'to': X, 'n': n}) ;; list(map(put, [X], [n])) ;; f = put; f(X, n) ;; X.__iadd__([n]) ;; operator.iadd(X, [n])
operator.methodcaller('append', n)(X) ;; heapq.heappush(X, n) ;; X.append(n) if n else None ;; n and X.append(n)
match X:|    case x: x.append(n) ;; match [X]:|    case [x]: x.append(n) ;; match {1: X}:|    case {1: x}: x.append(n)
try: pass|finally: X.append(n) ;; while X.append(n): pass ;; return X.append(n) ;; assert X.append(n) is None
f'{X.append(n)}' ;; {X.append(n): 1} ;; def inner(): X.append(n)|inner() ;; def inner(x): x.append(n)|inner(X)
def inner(x=X): x.append(n)|inner() ;; class L:|    x = X|L.x.append(n) ;; x = copy.copy([X]); x[0].append(n)
x = [*[X]]; x[0].append(n) ;; x = itertools.chain([X]); next(x).append(n) ;; vars(Keep(X))['items'].append(n)
list.append(X, n) ;; type(X).append(X, n) ;; X.__class__.append(X, n) ;; X.sort(reverse=True); X.append(n) ;; X.clear()
X.extend(OTHER) ;; X.insert(0, n) ;; x = []; x.append(X); x[0].append(n) ;; x = {}; x[1] = X; x[1].append(n)
x = Keep([]); x.items = X; x.items.append(n) ;; x = Keep([]); setattr(x, 'items', X); x.items.append(n)
x = list(zip([X])); x[0][0].append(n) ;; (x,) = [X]; x.append(n) ;; x, *y = [1, X]; y[0].append(n)
"""
"""Ways in which a function changes `X`, a parameter or a variable of the file."""
LEAVING = """
x = list(X); x.append(n) ;; x = X[:]; x.append(n) ;; x = X + [n]; x.append(n) ;; x = [*X]; x.append(n)
x = sorted(X); x.append(n) ;; x = []; x.append(n) ;; x = []; x.extend(X) ;; x = [e for e in X]; x.append(n)
x = copy.copy(X); x.append(n) ;; x = X.copy(); x.append(n) ;; X.copy().append(n) ;; x = [X]; x.append(OTHER)
x = len(X); x += n ;; x = X[0]; x += n ;; x = {1: X}; x[2] = OTHER ;; x = Keep(X); x.items = OTHER ;; x = []; put(x, n)
x = []; list(map(x.append, X)) ;; x = []|for e in X:|    x.append(e) ;; x = Keep([]); x.items.append(n) ;; x = sum(X); x -= 1
f = X.index; f(3) ;; getattr(X, 'count')(n) ;; next(iter(X)) ;; x = iter(X); next(x) ;; max(X, key=lambda e: e + n)
x = reversed(X); next(x) ;; x = dict(enumerate(X)); x[0] = n ;; x = set(X); x.add(n) ;; sorted(X, key=lambda e: -e)
match X:|    case [x]: x += n ;; x = tuple(X); x += (n,) ;; x = str(X); x += 'n' ;; x = list(map(str, X)); x.append('n')
"""
"""What leaves it as it is."""
SIGNATURE = (
    "def run(ch: Channel[object, A, B], n: At[int, A], k: At[int, A, B], board: At[list[int], A, B]) -> At[int, A]:\n"
)
TAIL = "    if agreed:\n        ch.com(n)\n    return n\n"


def ways(table: str) -> list[str]:
    return [each for line in table.strip().splitlines() for each in line.split(" ;; ")]


def function(way: str, name: str) -> str:
    """The function `act`, which does this to its parameter or to a variable of the file."""
    lines = way.replace("X", name).replace("; ", "|").split("|") if ":" not in way.split("; ", maxsplit=1)[0] else None
    lines = way.replace("X", name).split("|") if lines is None else lines
    lines = ["global STATE", *lines] if name == "STATE" and lines[0].startswith("STATE +=") else lines
    given = "to: list[int], n: int" if name == "to" else "n: int"
    return f"def act({given}) -> None:\n" + "".join(f"    {line}\n" for line in lines)


def codes(text: str, body: str) -> set[str]:
    whole = f"{HEAD}{text}{SIGNATURE}    agreed: At[object, A, B] = 0\n{body}{TAIL}"
    return {each.code for each in project_source(whole, "program.py").findings}


def held(way: str, name: str) -> bool:
    """Whether running it leaves the list as it was."""
    space: dict[str, Any] = {"__name__": "program"}
    exec(HEAD + function(way, name), space)
    board = [3] if name == "to" else space["STATE"]
    act: Callable[..., None] = space["act"]
    act(*([board] if name == "to" else []), 7)
    return (board if name == "to" else space["STATE"]) == [3]


CALLS = {
    "to": "    mine: At[object, A] = act(board, n)\n    agreed = len(board)\n",
    "STATE": "    mine: At[object, A] = act(n)\n    agreed = len(STATE)\n",
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("way", ways(CHANGING))
def test_a_function_changes_what_it_reaches_by_any_name(way: str, name: str) -> None:
    assert not held(way, name)
    assert codes(function(way, name), CALLS[name])


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("way", ways(LEAVING))
def test_a_function_leaves_what_it_copies(way: str, name: str) -> None:
    assert held(way, name)
    assert codes(function(way, name), CALLS[name]) == set()


@pytest.mark.parametrize("name", ["board", "STATE"])
@pytest.mark.parametrize("way", [each for each in ways(CHANGING) if "|" not in each and each.count("; ") < 2])
def test_so_does_a_party_in_the_choreography(way: str, name: str) -> None:
    first, _, then = way.replace("X", name).rpartition("; ")
    if then.startswith(("return", "for", "while", "assert", "del", f"{name} +=", f"{name}[")):
        then = "for _ in range(n): board.append(k)"  # such a statement needs a party's value to be one party's
    else:
        then = f"mine: At[object, A] = {then}"
    assert codes("", "".join(f"    {line}\n" for line in (first, then) if line) + f"    agreed = len({name})\n")


OWN = "import random, time\ndef late(n: int) -> bool:\n    return n < time.time()\n"
DECIDED = {
    "board.append(k) if late(k) else None": True,
    "late(k) and board.append(k)": True,
    "late(k) or put(board, k)": True,
    "[board.append(1) for e in OTHER if late(k)]": True,
    "[board.append(1) for e in range(k) for d in range(int(time.time()))]": True,
    "[board.append(e) for e in {'a', 'b'}]": True,
    "x = [board.append(1) if late(k) else 0]": True,
    "print(board.append(1) if late(k) else 0)": True,
    "all(board.append(1) for e in OTHER if late(k))": True,
    "1 < time.time() < board.pop()": True,
    "late(k) and (k := 5)": True,
    "[(k := e) for e in board if late(e)]": True,
    "mine: At[int, A] = (k := n)": True,
    "mine: At[int, A] = n and (k := 5)": True,
    "board.append(k) if k > 2 else None": False,
    "k > 2 and board.append(k)": False,
    "[board.append(e) for e in range(k) if e > 1]": False,
    "1 < k < board.pop()": False,
    "k > 2 and (k := 5)": False,
    "mine: At[list[int], A] = [n]\n    mine.append(k) if late(n) else None": False,
    "mine: At[list[int], A] = [n]\n    late(n) and mine.append(k)": False,
    "mine: At[list[int], A] = [n]\n    [mine.append(1) for e in OTHER if late(n)]": False,
    "mine: At[int, A] = (x := n)": False,
}


@pytest.mark.parametrize("line", DECIDED)
def test_whether_it_is_changed_is_agreed_on(line: str) -> None:
    assert bool(codes(OWN, f"    {line}\n    agreed = len(board)\n    agreed = k\n")) == DECIDED[line]


AROUND = """
import decimal, math, os, sys, time, urllib.parse
from dataclasses import dataclass
from decimal import Decimal
LIMIT = 3
class Thing:
    def __init__(self, n: int) -> None:
        self.n = n
@dataclass
class Point:
    x: int
class Timed:
    @property
    def when(self) -> float:
        return time.time()
def precise(n: int) -> int:
    decimal.getcontext().prec = n
    return n
def reset(n: int) -> int:
    globals()["LIMIT"] = n
    return n
def run_it(n: int) -> int:
    exec("LIMIT = 7", globals())
    return n
def through(n: int) -> int:
    sys.modules[__name__].LIMIT = n
    return n
def pi(n: int) -> int:
    math.pi = n
    return n
def pi_by_name(n: int) -> int:
    setattr(math, "pi", n)
    return n
def pi_in_all(n: int) -> int:
    vars(math).update(pi=n)
    return n
def first(values):
    return list(values)[0]
"""
SETTING = {
    "precise": "agreed = str(Decimal(1) / 3)",
    "reset": "agreed = LIMIT",
    "run_it": "agreed = LIMIT",
    "through": "agreed = LIMIT",
    "pi": "agreed = math.pi",
    "pi_by_name": "agreed = math.pi",
    "pi_in_all": "agreed = math.pi",
}


def alone(name: str) -> str:
    """The surroundings with one of these functions; `first` has no body of two lines."""
    blocks = AROUND.split("\ndef ")
    return "\n".join([blocks[0], *(f"def {each}" for each in blocks[1:] if each.startswith((f"{name}(", "first(")))])


@pytest.mark.parametrize("name", SETTING)
def test_what_one_party_sets_for_its_whole_program_is_its_own(name: str) -> None:
    line = f"    {SETTING[name]}\n"
    assert codes(alone(name) + "\n", f"    mine: At[object, A] = {name}(n)\n{line}") == {"CHO110"}
    assert codes(alone("nothing") + "\n", line) == set()


SETS = "    s: At[set[str], A, B] = {'a', 'b'}\n"
TAKEN = {
    "agreed = list(*[s])": True,
    "agreed = list(zip(*[s, s]))": True,
    "agreed = str.join(*['a', s])": True,
    "agreed = first(*[s])": True,
    "agreed = urllib.parse.urlencode({'a': s}, True)": True,
    "agreed = urllib.parse.urlencode({'a': Thing(k)})": True,
    "match {'a': s}:\n        case {'a': x}:\n            agreed = list(x)": True,
    "match [s]:\n        case [x]:\n            agreed = list(x)": True,
    "match (k, s):\n        case (1 | 3, x):\n            agreed = [e for e in x]": True,
    "match Timed():\n        case Timed(when=q):\n            agreed = 1": True,
    "match k:\n        case time.timezone:\n            agreed = 1": True,
    "match {1: k}:\n        case {os.pid: x}:\n            agreed = 1": True,
    "agreed = max(*board)": False,
    "agreed = list(zip(*[board, board]))": False,
    "agreed = urllib.parse.urlencode({'a': k})": False,
    "match (k, board):\n        case (1 | 3, x):\n            agreed = [e for e in x]": False,
    "match board:\n        case [x, *y]:\n            agreed = ','.join(map(str, y))": False,
    "match k:\n        case math.pi:\n            agreed = 1": False,
    "match Point(k):\n        case Point(x):\n            agreed = 1": False,
    "match Point(k):\n        case Point(x=3):\n            agreed = 1": False,
    "match k:\n        case int(x) | x:\n            agreed = x": False,
}


@pytest.mark.parametrize("line", TAKEN)
def test_parts_of_what_is_agreed_are_judged_by_what_is_known_of_them(line: str) -> None:
    assert bool(codes(alone("nothing") + "\n", f"{SETS}    {line}\n")) == TAKEN[line]
