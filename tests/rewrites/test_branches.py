"""Programs without their dead branches do what they did, and nothing else of them has changed."""

from __future__ import annotations

import ast

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from rewrites.expected import branches, dump, removed
from rewrites.programs import FALSE, TRUE, Image, programs

pytest.importorskip("libcst", reason="not run: needs libcst")

from distml.rewrites.branches import remove_branches
from distml.rewrites.model import Decision, Rewritten

KNOWN = {ast.unparse(ast.parse(text)): "always" for text in TRUE} | {ast.unparse(ast.parse(t)): "never" for t in FALSE}
few = settings(max_examples=60, suppress_health_check=list(HealthCheck))


def compiles(program: str) -> bool:
    try:
        compile(program, "program.py", "exec")
    except SyntaxError:
        return False
    return True


def decisions(program: str) -> list[Decision]:
    """What is known of the branches of a generated program."""
    found = []
    for node in ast.walk(ast.parse(program)):
        tests = [(node, node.test)] if isinstance(node, ast.If | ast.While | ast.Assert | ast.IfExp) else []
        tests += [(value, value) for value in node.values] if isinstance(node, ast.BoolOp) else []
        for place, test in tests:
            verdict = KNOWN.get(ast.unparse(test))
            if verdict:
                kinds = {ast.If: "if", ast.While: "while", ast.Assert: "assert", ast.IfExp: "ternary"}
                kind = "boolean" if isinstance(node, ast.BoolOp) else kinds[type(node)]
                found.append(Decision(place.lineno, place.col_offset, kind, verdict))  # type: ignore[arg-type]
    return found


def outcome(program: str, n: int) -> list[object]:
    """What a program does: what it logs, what it returns or raises."""
    said: list[object] = []
    scope: dict[str, object] = {"Image": Image}
    exec(compile(program, "program.py", "exec"), scope)
    try:
        said.append(scope["f"](Image(), n, lambda value: said.append(_shown(value))))  # type: ignore[operator]
    except (NameError, TypeError) as error:
        said.append(type(error).__name__)
    return [*map(_shown, said), scope.get("d")]


def _shown(value: object) -> object:
    return "function" if callable(value) else repr(value)


def done(asked: list[Decision], rewritten: Rewritten) -> list[Decision]:
    places = {(each.line, each.column, each.what) for each in rewritten.edits}
    return [each for each in asked if (each.line, each.column, f"{each.kind}: {each.verdict}") in places]


@few
@given(programs(), st.integers(0, 3))
def test_it_does_what_it_did(program: str, n: int) -> None:
    assume(compiles(program))
    rewritten = remove_branches(program, decisions(program))
    assert outcome(rewritten.source, n) == outcome(program, n)


@few
@given(programs())
@example("def f(x, n, log):\r\n  if x.dim() == 4: log(1)\r\n  # end")
def test_it_is_what_is_expected(program: str) -> None:
    assume(compiles(program))
    asked = decisions(program)
    rewritten = remove_branches(program, asked)
    assert dump(ast.parse(rewritten.source)) == removed(program, done(asked, rewritten))
    assert {refusal.code for refusal in rewritten.refusals} <= {"meaning", "value", "last"}
    again = remove_branches(rewritten.source, decisions(rewritten.source))
    assert rewritten.refusals or (again.source, again.edits) == (rewritten.source, ())


@few
@given(programs(), st.data())
def test_what_is_outside_keeps_its_bytes(program: str, data: st.DataObject) -> None:
    assume(compiles(program))
    places = sorted(set(branches(ast.parse(program))))
    assume(places)
    line, column, kind = data.draw(st.sampled_from(places))
    asked = Decision(line, column, kind, data.draw(st.sampled_from(("always", "never"))))
    rewritten = remove_branches(program, [asked])
    if not rewritten.edits:
        assert rewritten.source == program
        return
    ends = [getattr(n, "end_lineno", line) for n in ast.walk(ast.parse(program)) if getattr(n, "lineno", 0) == line]
    old, new = program.splitlines(keepends=True), rewritten.source.splitlines(keepends=True)
    before, after = old[: line - 1], old[max(ends) :]
    # Blank lines and comments beside the branch may go with it, or move with its arm.
    top = next((n for n, text in reversed(list(enumerate(before, 1))) if _is_code(text)), 0)
    kept = after[next((n for n, text in enumerate(after) if _is_code(text)), len(after)) :]
    assert new[:top] == before[:top]
    assert new[len(new) - len(kept) :] == kept


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


@pytest.mark.parametrize("source", ["if x:\n  pass\n else", "def f(:", "\0", "if 1:\n\tpass\n        pass\n"])
def test_what_does_not_parse_is_refused(source: str) -> None:
    rewritten = remove_branches(source, [Decision(1, 0, "if", "always")])
    assert (rewritten.source, rewritten.edits) == (source, ())
    assert [refusal.code for refusal in rewritten.refusals] == ["syntax"]


def test_a_byte_order_mark_stays() -> None:
    rewritten = remove_branches("\ufeffif x.dim() == 4: y\n", [Decision(1, 0, "if", "always")])
    assert rewritten.source == "\ufeffy\n"


def test_columns_are_those_of_ast() -> None:
    program = 's = "äöü", 1 if x.dim() == 4 else 2\n'
    (place,) = branches(ast.parse(program))
    assert place[1] == 14
    assert remove_branches(program, [Decision(*place, "never")]).source == 's = "äöü", 2\n'
