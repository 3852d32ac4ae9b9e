"""What counts as agreed is the same at every party: programs with pure and impure calls, checked, projected and run.

Each party has a clock, random numbers, files, an environment, answers of a user and an order of sets of its own. What is
accepted must not tell.
"""

from __future__ import annotations

import builtins
import io
import random
from functools import partial
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distml.choreo.project import project_source
from distml.choreo.runtime import PartiesFailed, ProtocolError, Timeout, run_parties

HEAD = """
import bisect, calendar, collections, datetime, heapq, math, operator, os, random, string, sys, textwrap, time, uuid
import random as rnd
from collections import Counter, deque
from dataclasses import dataclass
from enum import Enum
from os import environ
from random import choice as pick
from time import monotonic
from distml.choreo import At, Channel, Role
class A(Role): ...
class B(Role): ...
START = time.time()
LIMIT = 3
STATE: list[int] = []
NAMES = ["one", "two"]
@dataclass
class Point:
    x: int
    y: int = 0
    def far(self) -> bool:
        return self.x + self.y > LIMIT
    def lucky(self) -> bool:
        return self.x > random.random()
class Thing:
    def __init__(self, n: int) -> None:
        self.n = n
def read() -> str:
    with open("own.txt") as file:
        return file.read()
def first(values):
    return list(values)[0]
def total(values: list[int]) -> int:
    result = 0
    for each in values:
        result += each
    return result
def late(n: int) -> bool:
    return n < clock()
def clock() -> float:
    return time.monotonic()
def until(n: int, end=time.time()) -> bool:
    return n < end
class Own:
    start = time.time()
    limit = 4
def count(n: int) -> int:
    STATE.append(n)
    return len(STATE)
class Sized:
    def __len__(self) -> int:
        return random.randrange(9)
class Shown(Sized):
    limit = 3
class Any:
    def __getattr__(self, name):
        return time.time()
class Sum:
    def __add__(self, other):
        return random.random()
class Doubtful:
    def __bool__(self) -> bool:
        return late(LIMIT)
class Items:
    def __iter__(self):
        return iter({"a", "b"})
    def __contains__(self, other) -> bool:
        return late(other)
class Order:
    def __lt__(self, other) -> bool:
        return id(self) < id(other)
class Pair:
    def __init__(self, left: int) -> None:
        self.left = left
    def __add__(self, other: int) -> int:
        return self.left + other
    def __len__(self) -> int:
        return self.left
class Found(Enum):
    ONE = 1
    TWO = 2
class Guessed(Enum):
    ONE = 1
    @classmethod
    def _missing_(cls, value):
        return cls.ONE if late(1) else None
def failed(n: int):
    try:
        return 1 // n
    except ZeroDivisionError as error:
        return error.__traceback__
def add(board: list[int], n: int) -> None:
    heapq.heappush(board, n)
def add_twice(board: list[int], n: int) -> None:
    add(board, n)
    board += [n]
def run(ch: Channel[object, A, B], n: At[int, A], k: At[int, A, B], s: At[set[str], A, B], words: At[list[str], A, B],
        board: At[list[int], A, B], table: At[dict[str, set[str]], A, B], text: At[str, A, B]) -> At[int, A]:
    agreed: At[object, A, B] = 0
"""
TAIL = """
    if agreed or board:
        ch.com(n)
    return n
"""
IMPURE = [
    *("time.monotonic()", "monotonic()", "random.random()", "rnd.random()", "pick(words)", "random.choice(words)"),
    *("os.environ.get('WHO')", "environ['WHO']", "os.getenv('WHO')", "os.getpid()", "sys.argv", "os.getcwd()"),
    *("input()", "open('own.txt').read()", "read()", "START", "late(k)", "clock()", "count(k)", "STATE"),
    *("id(k)", "hash(text)", "object()", "vars()", "repr(Thing(k))", "f'{Thing(k)}'", "Point(k).lucky()"),
    *("list(s)[0]", "','.join(s)", "[e for e in s]", "sorted(s, key=len)", "list(set(words))", "tuple(s)", "str(s)"),
    *("f'{s}'", "next(iter(s))", "first(s)", "first(set(words))", "[*s]", "list(table['a'])", "max(s, key=len)"),
    *("{e: 1 for e in s}", "dict.fromkeys(s)", "list(s | {'x'})", "list(s.union(words))", "list(zip(s, words))"),
    *(
        "list(map(str, s))",
        "list(enumerate(s))",
        "list(reversed(list(s)))",
        "str(table)",
        "s.pop()",
        "list(e for e in s)",
    ),
    *("sorted(words, key=lambda w: random.random())", "list(map(clock, words))", "[random.random() for w in words]"),
    *("(lambda: time.time())()", "max(words, key=hash)", "unknown(k)", "k < time.time()", "k + len(os.environ)"),
    *(
        "list(Counter(s))",
        "deque(s)[0]",
        "bytes(range(k)) + os.urandom(1)",
        "k.__hash__()",
        "until(k)",
        "Own.start",
        "'%s' % s",
        "uuid.uuid4()",
        "''.join(e for e in s)",
        "string.Template.x(os)",
    ),
    *(
        "len(Sized())",
        "len(Shown())",
        "Shown().limit",
        "Any().x",
        "Sum() + 1",
        "1 if Doubtful() else 2",
        "not Doubtful()",
    ),
    *("list(Items())", "1 in Items()", "[e for e in Items()]", "sorted([Order(), Order()])", "min(Order(), Order())"),
    *("[a for a, *b in [s]]", "{a for a, *b in [s]}", "[a for (a, *b), c in zip([s], [1])]", "failed(0)", "__file__"),
    *(
        "datetime.date.today().day",
        "datetime.datetime.now().year",
        "datetime.datetime.now()",
        "Guessed(k)",
        "Guessed(2)",
    ),
    *("calendar.timegm(time.gmtime())", "textwrap.wrap(str(s))", "datetime.datetime.fromtimestamp(k).hour"),
    *("k is 257", "text is words[0]", "str([Thing(k)])", "f'{[Thing(k)]}'", "str((Thing(k), 1))", "words.__class__"),
]
PURE = [
    *("k + 1", "len(s)", "sorted(s)", "'a' in s", "s == {'a'}", "s | {'x'}", "set(words)", "max(s)", "min(words)"),
    *("','.join(words)", "[w.upper() for w in words]", "sorted(words, key=len)", "sorted(words, key=lambda w: w[-1])"),
    *("len(table)", "Own.limit < k", "'%s' % text", "total(board)", "total([k, 1])", "math.sqrt(k * k)", "abs(k) % 7"),
    *("text.strip().split(',')", "text.upper() + words[0].lower()", "{w: len(w) for w in words}", "f'{k:>3} {text}'"),
    *("sum(board)", "sum(len(e) for e in s)", "any(e > 'b' for e in s)", "all(e for e in s)", "list(range(k % 5))"),
    *("Point(k).far()", "Point(k, 2).x", "NAMES[k % 2]", "LIMIT + k", "operator.add(k, 1)", "list(zip(words, board))"),
    *("sorted(table)", "list(table.items()) == []", "len(table['a'])", "sorted(table['a'])", "Counter(words)['a']"),
    *("{e for e in s if e > 'a'}", "sorted(e for e in s)", "frozenset(s)", "s.issubset(set(words))", "deque(words)[0]"),
    *("'-'.join(sorted(s))", "words.count('a')", "words.index(words[0])", "text.find('a')", "list(map(len, words))"),
    *("Pair(k) + 1", "len(Pair(k))", "k is None", "k is not True", "[a for a, *b in [words, text]]"),
    *(
        "datetime.date(2020, 1, k).weekday()",
        "datetime.timedelta(days=k).total_seconds()",
        "Found(k % 2 + 1) is Found.ONE",
    ),
    *("datetime.date.fromisoformat('2020-01-02').replace(day=k).isoformat()", "calendar.isleap(2000 + k)"),
    *("textwrap.wrap(text, 4)[0]", "[line for line in textwrap.wrap(text)]", "text.translate(str.maketrans('a', 'b'))"),
    *("uuid.uuid5(uuid.NAMESPACE_DNS, text).hex", "datetime.datetime(2020, 1, 2).date().day + k"),
    *("bisect.bisect(board, k)", "heapq.nlargest(2, board)", "k if k > 2 else -k", "not s", "bool(s) and k > 1"),
]
CHANGES = [
    *("heapq.heappush(board, n)", "add(board, n)", "add_twice(board, n)", "board.append(n)", "list.append(board, n)"),
    *("board += [n]", "board[0] = n", "del board[n]", "bisect.insort(board, n)", "operator.setitem(board, 0, n)"),
    *("board.__setitem__(0, n)", "random.shuffle(board)", "unknown(board, n)", "board.append(random.random())"),
    *(
        "board[0] = time.time()",
        "board[int(random.random())] = 1",
        "board.insert(0, unknown(k))",
        "setattr(board, 'x', n)",
    ),
    *("mine = [1, 2]\n    mine.append(n)\n    if len(mine) > 2:\n        ch.com(n)", "s.pop()", "table['a'].add(n)"),
    *(
        "x, y = s\n    agreed = x",
        "p = 0\n    p += random.random()\n    agreed = p",
        "late_ = late(k)\n    agreed = late_",
    ),
    *(
        "for e in s:\n        agreed = e",
        "with open('own.txt') as f:\n        agreed = f.read()",
        "while late(k):\n        ch.com(n)",
    ),
    *("(x, *y), z = s, 1\n    agreed = x", "for x, *y in [s]:\n        agreed = x"),
    *("if environ['WHO'] == 'x':\n        ch.com(n)", "NAMES.append(n)\n    agreed = len(NAMES)"),
]


def codes(body: str) -> list[str]:
    return [each.code for each in project_source(f"{HEAD}    {body}{TAIL}", "program.py").findings]


@pytest.mark.parametrize("expression", IMPURE)
def test_what_each_party_computes_for_itself_is_not_agreed(expression: str) -> None:
    assert codes(f"agreed = {expression}")
    assert codes(f"if {expression}:\n        ch.com(n)")
    assert not codes(f"mine: At[object, A] = {expression}") or "pop()" in expression


@pytest.mark.parametrize("expression", PURE)
def test_pure_functions_of_what_is_agreed_are_agreed(expression: str) -> None:
    assert codes(f"agreed = {expression}") == []
    assert codes(f"if {expression}:\n        ch.com(n)") == []


@pytest.mark.parametrize("line", CHANGES)
def test_what_is_agreed_is_not_changed_by_what_is_not(line: str) -> None:
    assert set(codes(line)) & {"CHO101", "CHO104", "CHO108", "CHO110", "CHO111"}


@pytest.mark.parametrize(
    ("test", "part"),
    [
        ("k > 3 and text and not late(k)", "late(k)"),
        ("len(text) + len(list(map(clock, words)))", "map(clock, words)"),
        ("[k, [1, time.time()]]", "time.time()"),
        ("late(k)", ""),
    ],
)
def test_the_part_that_is_not_known_to_be_the_same_is_shown(test: str, part: str) -> None:
    [found] = project_source(f"{HEAD}    if {test}:\n        ch.com(n)\n    return n\n", "program.py").findings
    shown = [f"nothing shows that `{part}` is the same at A and B"] if part else []
    assert [each.message for each in found.related] == shown


def party(text: str, role: str, seed: int, arguments: dict[str, Any], end: Any) -> Any:
    """The part of one party, whose clock, random numbers, environment and user are its own."""
    own = random.Random(seed)
    space: dict[str, Any] = {"__name__": "__main__"}  # dataclasses look their module up
    real = __import__

    class Clock:
        def __getattr__(self, name: str) -> Any:
            return lambda *given: own.random() * 10**6

    class System:
        environ: ClassVar = {"WHO": role}
        getpid = staticmethod(lambda: own.randrange(10**6))
        getenv = staticmethod(lambda name: role)
        getcwd = staticmethod(lambda: role)
        urandom = staticmethod(own.randbytes)

    def imported(name: str, *given: Any) -> Any:
        return {"time": Clock(), "random": own, "os": System()}.get(name) or real(name, *given)

    class Own(frozenset[str]):
        """A set that everybody goes through in another order."""

        def __iter__(self) -> Any:
            return iter(own.sample(sorted(super().__iter__()), len(self)))

    space["__builtins__"] = {
        **vars(builtins), "__import__": imported, "input": lambda: role, "id": lambda _: seed, "hash": lambda _: seed,
        "open": lambda *_: io.StringIO(role),
    }  # fmt: skip
    exec(compile(text, f"{role}.py", "exec", dont_inherit=True), space)
    given = {name: Own(value) if name == "s" else value for name, value in arguments.items()}
    return space[f"run_{role}"](end, **given)


AGREED = {
    "k": 3,
    "s": ["a", "b", "c", "dd"],
    "words": ["b", "a"],
    "board": [2, 5],
    "table": {"a": {"x"}},
    "text": "a,b",
}


def outcomes(files: dict[str, str], transport: str) -> dict[str, Any]:
    parties = {role: partial(_act, files[role], role, seed) for seed, role in enumerate(("A", "B"), start=1)}
    return run_parties(parties, transport=transport, timeout=30.0)  # type: ignore[arg-type]


def _act(text: str, role: str, seed: int, ends: Any) -> Any:
    peer = "B" if role == "A" else "A"
    given = {name: value.copy() if hasattr(value, "copy") else value for name, value in AGREED.items()}
    return party(text, role, seed, given | ({"n": 7} if role == "A" else {}), ends[peer])


expressions = st.recursive(
    st.one_of(*map(st.sampled_from, (PURE, PURE, ["k", "agreed", "words", "board"], IMPURE))).map(lambda e: f"({e})"),
    lambda inner: st.one_of(
        st.tuples(inner, inner, inner).map(lambda e: f"({e[0]} if {e[1]} else {e[2]})"),
        st.tuples(inner, inner).map(lambda e: f"({e[0]} and {e[1]})"),
        st.tuples(inner, inner).map(lambda e: f"({e[0]} == {e[1]})"),
        st.tuples(inner, inner).map(lambda e: f"[{e[0]}, {e[1]}]"),
        inner.map(lambda e: f"(not {e})"),
    ),
    max_leaves=4,
).filter(lambda e: "unknown" not in e and "Template" not in e and "copy" not in e and "setattr" not in e)
lines = st.one_of(
    expressions.map(lambda e: f"agreed = {e}"),
    expressions.map(lambda e: f"board.append(1 if {e} else 2)"),
    expressions.map(lambda e: f"if {e}:\n        ch.com(n)\n        agreed = 1"),
    expressions.map(lambda e: f"for each in [1, {e}]:\n        agreed = [agreed, each]"),
    expressions.map(lambda e: f"own: At[object, A] = {e}"),
    expressions.map(lambda e: f"agreed = ch.com(({e}) @ A()) is None"),
    st.sampled_from([each for each in CHANGES if "unknown" not in each and "setattr" not in each]),
)
RESULT = """
    return [agreed, board, words, k]
"""


def accepted(body: list[str]) -> dict[str, str]:
    head = HEAD.replace(
        "-> At[int, A]:\n    agreed: At[object, A, B] = 0", "-> At[object, A, B]:\n    agreed: At[object, A, B] = 0"
    )
    return project_source(head + "".join(f"    {line}\n" for line in body) + RESULT, "program.py").files


def test_what_is_accepted_never_diverges() -> None:
    counted = [0, 0]

    @settings(max_examples=200, suppress_health_check=list(HealthCheck))
    @given(st.lists(lines, min_size=1, max_size=3))
    def does_not_diverge(body: list[str]) -> None:
        files = accepted(body)
        counted[bool(files)] += 1
        if files:
            found = _ended(files, "threads")
            assert found is None or found["A"] == found["B"], body

    does_not_diverge()
    assert min(counted) > 20  # many were accepted, and many refused


def _ended(files: dict[str, str], transport: str) -> dict[str, Any] | None:
    """The results; None where the program failed, which all parties notice."""
    try:
        return outcomes(files, transport)
    except PartiesFailed as failure:
        assert not [each for each in failure.errors.values() if isinstance(each, Timeout | ProtocolError)]
        return None


def test_parties_in_processes_of_their_own_do_not_diverge() -> None:
    """All pure functions, each party with an order of hashes of its own; as many at once as a result may be deep."""
    for part in (PURE[:40], PURE[40:80], PURE[80:]):
        files = accepted([f"agreed = [agreed, {each}]" for each in part])
        assert files
        found = _ended(files, "processes")
        assert found is not None
        assert found["A"] == found["B"]
