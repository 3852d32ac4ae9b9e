"""Random choreographies: what the checker accepts ends, and computes what a sequential reading computes.

A program is a list of statements over one integer variable a role. `sequential` reads it as one program; the projections
run in threads, each party on its own variables.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distml.choreo.project import project_source
from distml.choreo.runtime import Timeout, run_parties

ROLES = ("A", "B", "C")
HEAD = """
from enum import Enum
from distml.choreo import *
class A(Role): ...
class B(Role): ...
class C(Role): ...
class Way(Enum):
    THEN = 1
    ELSE = 2
"""
PARAMETERS = "ab: Channel[object, A, B], ac: Channel[object, A, C], bc: Channel[object, B, C], " + ", ".join(
    f"{role.lower()}: At[int, {role}]" for role in ROLES
)
roles = st.sampled_from(ROLES)
Statement = tuple[Any, ...]


def statements(depth: int) -> st.SearchStrategy[list[Statement]]:
    simple = st.one_of(
        st.tuples(st.just("com"), roles, roles),
        st.tuples(st.just("add"), roles, st.integers(-3, 3)),
        st.tuples(st.just("sum"), roles, roles),
    )
    if depth == 0:
        return st.lists(simple, min_size=1, max_size=3)
    inner = statements(depth - 1)
    compound = st.one_of(
        st.tuples(st.just("if"), roles, st.sets(roles), inner, inner, st.booleans(), st.booleans()),
        st.tuples(st.just("while"), roles, st.sets(roles), inner),
        st.tuples(st.just("agreed"), roles, roles, inner, inner),
    )
    return st.lists(st.one_of(simple, compound), min_size=1, max_size=4)


def channel(one: str, other: str) -> str:
    return "".join(sorted((one.lower(), other.lower())))


def tell(sender: str, told: set[str], label: str) -> list[str]:
    return [f"{channel(sender, each)}.select(Way.{label} @ {sender}())" for each in sorted(told - {sender})]


def written(body: list[Statement], path: str = "") -> list[str]:
    lines: list[str] = []
    for position, statement in enumerate(body):
        lines += _one(statement, f"{path}{position}")
    return lines


def _one(statement: Statement, path: str) -> list[str]:
    match statement:
        case ("com", one, other):
            if one == other:
                return ["pass"]
            return [f"{other.lower()} = {channel(one, other)}.com({one.lower()})"]
        case ("add", role, number):
            return [f"{role.lower()} += {number}"]
        case ("sum", one, other):
            sent = one.lower() if one == other else f"{channel(one, other)}.com({other.lower()})"
            return [f"{one.lower()} = ({one.lower()} + {sent}) % 1000"]
        case ("if", role, told, then, orelse, then_ends, else_ends):
            result = ["return (a @ A()) * 0 + a"]
            return [
                f"if {role.lower()} % 2 == 0:",
                *indented(tell(role, told, "THEN") + written(then, path + "t") + (result if then_ends else [])),
                "else:",
                *indented(tell(role, told, "ELSE") + written(orelse, path + "e") + (result if else_ends else [])),
            ]
        case ("while", role, told, inner):
            count = f"n{path}"
            return [
                f"{count}: At[int, {role}] = 0",
                f"while {count} < abs({role.lower()}) % 3:",
                *indented([*tell(role, told, "THEN"), f"{count} += 1", *written(inner, path + "w")]),
                "else:",
                *indented([*tell(role, told, "ELSE"), "pass"]),
            ]
        case ("agreed", one, other, then, orelse):
            if one == other:
                return ["pass"]
            known = f"g{path}"
            return [
                f"{known}: At[bool, {one}, {other}] = {channel(one, other)}.com({one.lower()} > 0)",
                f"if {known}:",
                *indented(written(then, path + "t")),
                "else:",
                *indented(written(orelse, path + "e")),
            ]
    raise AssertionError(statement)


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines or ["pass"]]


def program(body: list[Statement]) -> str:
    lines = [*written(body), "return a"]
    return f"{HEAD}\ndef run({PARAMETERS}) -> At[int, A]:\n" + "\n".join(indented(lines)) + "\n"


class Direct:
    """A channel of the sequential reading: what is sent is there."""

    def com(self, value: Any) -> Any:
        return value

    def select(self, label: Any) -> Any:
        return label


def sequential(text: str, numbers: tuple[int, int, int]) -> int:
    space: dict[str, Any] = {}
    exec(text, space)
    return space["run"](Direct(), Direct(), Direct(), *numbers)


def projected(files: dict[str, str], numbers: tuple[int, int, int]) -> int:
    spaces: dict[str, dict[str, Any]] = {}
    for role, text in files.items():
        spaces[role] = {}
        exec(compile(text, role, "exec", dont_inherit=True), spaces[role])

    def party(role: str) -> Any:
        given = dict(zip("abc", numbers))[role.lower()]
        run = spaces[role][f"run_{role}"]
        peers = {
            channel(role, peer): peer for pair in combinations(ROLES, 2) if role in pair for peer in {*pair} - {role}
        }
        return lambda ends: run(**{name: ends[peer] for name, peer in peers.items()}, **{role.lower(): given})

    wire = {role: space.get("WIRE", ()) for role, space in spaces.items()}
    return run_parties({role: party(role) for role in ROLES}, wire=wire, timeout=10.0)["A"]


def test_what_is_accepted_ends_with_the_sequential_result() -> None:
    accepted = [0, 0]

    @settings(max_examples=250, suppress_health_check=list(HealthCheck))
    @given(statements(2), st.tuples(*[st.integers(-5, 5)] * 3))
    def ends_so(body: list[Statement], numbers: tuple[int, int, int]) -> None:
        text = program(body)
        found = project_source(text, "random.py")
        accepted[bool(found.findings)] += 1
        if not found.findings:
            try:
                assert projected(found.files, numbers) == sequential(text, numbers)
            except Timeout:
                raise AssertionError(f"deadlock in\n{text}") from None

    ends_so()
    assert min(accepted) > 50  # many were accepted, and many refused


def without_selects(body: list[Statement]) -> list[Statement]:
    def bare(part: Any) -> Any:
        if isinstance(part, list):
            return [bare(each) for each in part]
        if isinstance(part, tuple):
            return tuple(map(bare, part))
        return set() if isinstance(part, set) else part

    return bare(body)


def test_inferred_selects_keep_the_meaning() -> None:
    completed = [0, 0]

    @settings(max_examples=100, suppress_health_check=list(HealthCheck))
    @given(statements(2).map(without_selects), st.tuples(*[st.integers(-5, 5)] * 3))
    def keep_it(body: list[Statement], numbers: tuple[int, int, int]) -> None:
        text = program(body)
        found = project_source(text, "random.py", infer_selects=True)
        completed[bool(found.findings)] += 1
        if not found.findings:
            assert projected(found.files, numbers) == sequential(text, numbers)

    keep_it()
    assert completed[0] > completed[1]  # most are completed
