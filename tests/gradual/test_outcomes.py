"""A verdict on a branch holds for every input that reaches its test.

Programs with guards, early returns, assertions, loops and library calls are run on real tensors of every rank and of many
sizes, and each test writes down how it came out. `always` and `never` must hold for all runs, an exact condition for each
input that came by. Without `--where` nothing else is assumed: raising is one way for an input to come out of a branch.
"""

from __future__ import annotations

import ast
import itertools
import math
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from distml.gradual.branches import MIXED, Decision

from gradual.asking import MODULE, decisions

torch = pytest.importorskip("torch", reason="not run: needs torch")

Outcomes = dict[tuple[int, int], list[tuple[Any, bool]]]
"""What each test, by its place, came out as: for which input, and how."""

SIZES = st.sampled_from([0, 1, 2, 3, 4])
COMPARED = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
QUANTITIES = st.sampled_from(
    """x.dim() | len(x.shape) | x.shape[0] | x.shape[-1] | x.shape[1] | x.numel() | x.size(0) | x.shape[0] + 2
    | x.shape[0] % 2 | x.shape[-1] // 2 | x.shape[0] * x.shape[-1] | len(x) | n | n - 1 | 2 * n + 1""".split("|")
).map(str.strip)
COMPARISONS = st.builds("{} {} {}".format, QUANTITIES, COMPARED, SIZES)
OTHER_TESTS = st.sampled_from(
    """x.shape == (2, 3) | x.dim() in (1, 2) | x.shape[0] == x.shape[-1] | 1 < n <= 3 | x.size() == y.size()
    | n == y.shape[0] | x.dim() > 6 | not n | n % 2""".split("|")
).map(str.strip)
TESTS = st.recursive(
    COMPARISONS | OTHER_TESTS,
    lambda inner: (
        st.builds("({} and {})".format, inner, inner)
        | st.builds("({} or {})".format, inner, inner)
        | st.builds("not ({})".format, inner)
    ),
    max_leaves=2,
)
OPERATIONS = st.sampled_from(
    """x = x.sum(0) | x = x[0] | x = x.unsqueeze(0) | x = x.T | x = x.flatten() | x = torch.cat([x, x])
    | x = x @ torch.zeros(3, 2) | x = x + torch.zeros(2, 1) | x = x.reshape(2, -1) | x = x.view(3) | n = x.shape[0]
    | x = x.expand(3, 2) | y = x[:1] | x = F.linear(x, torch.zeros(4, 3)) | b, n = x.shape | x = x[1:]
    | n = n + 1""".split("|")
).map(str.strip)
EXITS = st.sampled_from(
    ["raise ValueError('refused')", "return x", "return None", "assert False", "raise SystemExit(2)"]
)


def _indented(lines: str) -> str:
    return textwrap.indent(lines, "    ")


def _blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, min_size=1, max_size=2).map("\n".join).map(_indented)
    ways = EXITS.map(_indented)
    return st.one_of(
        st.builds("if {}:\n{}".format, TESTS, ways),
        st.builds("if {}:\n{}\nelse:\n{}".format, TESTS, body | ways, body),
        st.builds("if {}:\n{}\nelif {}:\n{}".format, TESTS, body | ways, TESTS, body | ways),
        st.builds("try:\n{}\nexcept (RuntimeError, IndexError, ValueError):\n{}".format, body, body | ways),
        st.builds("for i in range(2):\n{}".format, body),
        st.builds("while {}:\n{}\n    break".format, TESTS, body),
        st.builds("match n:\n    case 2:\n{}\n    case _:\n{}".format, body.map(_indented), body.map(_indented)),
    )


SIMPLE = st.one_of(
    OPERATIONS,
    st.builds("assert {}".format, TESTS),
    st.builds("n = 1 if {} else 2".format, TESTS),
    st.builds("if {}:\n{}".format, TESTS, EXITS.map(_indented)),
)
STATEMENTS = st.recursive(SIMPLE, _blocks, max_leaves=4)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A function of one tensor."""
    body = draw(st.lists(STATEMENTS, min_size=1, max_size=5))
    return "def f(x):\n" + _indented("\n".join(["n = x.dim()", "y = torch.zeros(2)", *body, "return x"])) + "\n"


def inputs() -> list[Any]:
    """Tensors of every rank up to 4 with sizes 0 to 3, and one of rank 7."""
    shapes = [shape for rank in range(4) for shape in itertools.product(range(4), repeat=rank)]
    shapes += [(1, 1, 2, 2), (2, 3, 1, 4), (4, 3), (4, 4), (5, 2), (3, 4, 2), (1,) * 7, (2, 1, 1, 1, 1, 1, 3)]
    return [torch.zeros(shape) for shape in shapes]


class _Written(ast.NodeTransformer):
    """Writes down how each test comes out."""

    def _test(self, node: Any) -> Any:
        self.generic_visit(node)
        place = ast.Constant((node.lineno, node.col_offset + 1))
        node.test = ast.Call(ast.Name("written", ast.Load()), [place, node.test], [])
        return node

    visit_If = visit_While = visit_IfExp = visit_Assert = _test


def real_outcomes(program: str) -> Outcomes:
    """How each test came out when the program was run on all inputs."""
    found: Outcomes = {}
    current: Any = None

    def written(place: tuple[int, int], value: Any) -> bool:
        found.setdefault(place, []).append((current, bool(value)))
        return bool(value)

    tree = ast.fix_missing_locations(_Written().visit(ast.parse(MODULE + program)))
    scope: dict[str, Any] = {"written": written}
    exec(compile(tree, "program.py", "exec"), scope)
    for current in inputs():
        try:
            scope["f"](current)
        except (Exception, SystemExit):  # one way for an input to come out
            continue
    return found


def contradicted(decision: Decision, outcomes: list[tuple[Any, bool]]) -> str:
    """Why real runs contradict a verdict; nothing where they do not."""
    for x, came_out in outcomes:
        expected = {"always": True, "never": False}.get(decision.verdict, came_out)
        if decision.verdict == "depends" and decision.condition != MIXED:
            once = sum(y is x for y, _ in outcomes)
            expected = _holds(decision.condition, x) if once == 1 else came_out
        if expected is not came_out:
            said = f"{decision.line}: {decision.kind} {decision.verdict} {decision.condition}"
            return f"{said}: {tuple(x.shape)} gave {came_out}"
    return ""


def _holds(condition: str, x: Any) -> bool:
    return bool(eval(condition, {"x": x, "len": len, "math": math}))


ENDS_BETWEEN_PASSES = """\
def f(x):
    for i in range(2):
        if x.shape == (2, 3):
            x = x.sum(0)
        else:
            x = x[0]
    return x
"""
ONE_OF_TWO_CALLS = """\
def g(x, size):
    if x.shape[0] == size:
        return x.sum(0)
    return x
def f(x):
    if x.dim() == 2:
        return g(x, 3)
    elif x.dim() == 1:
        return g(x, 2)
    return x[0] if x.shape[1] == 2 else g(x, 1) if x.shape[0] == 2 else g(x, 3)
"""


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=40)
@given(programs())
@example(ENDS_BETWEEN_PASSES)
@example(ONE_OF_TWO_CALLS)
def test_verdicts_hold_for_every_input_that_reaches_them(program: str) -> None:
    outcomes = real_outcomes(program)
    with tempfile.TemporaryDirectory() as folder:
        found = decisions(Path(folder), program, name="f")
    wrong = [why for d in found if (why := contradicted(d, outcomes.get((d.line, d.column), [])))]
    assert not wrong, f"{program}\n" + "\n".join(wrong)
