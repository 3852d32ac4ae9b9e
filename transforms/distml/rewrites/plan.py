"""From decisions to what can be removed.

Works on Python's own syntax tree: finds the branch each decision is about, refuses where removing it
would change more than the branch, and says by place what the rewriter is to do.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from distml.rewrites.effects import effect
from distml.rewrites.model import Decision, Refusal, Verdict, excerpt
from distml.rewrites.refused import Refused
from distml.rewrites.scopes import Scopes
from distml.rewrites.tree import Places
from distml.source.bindings import bound_names
from distml.source.nodes import walk

Place = tuple[int, int]
Range = tuple[Place, Place]
Branch = ast.If | ast.While | ast.Assert | ast.IfExp

_NODES: dict[str, type[ast.AST]] = {
    "if": ast.If,
    "elif": ast.If,
    "while": ast.While,
    "assert": ast.Assert,
    "ternary": ast.IfExp,
}


@dataclass
class Plan:
    """What to do, by place (columns in characters): statements and conditional expressions, operands of `and`/`or`."""

    branches: dict[Place, Verdict] = field(default_factory=dict)
    operands: dict[Range, dict[int, Verdict]] = field(default_factory=dict)
    done: list[Decision] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


@dataclass(frozen=True)
class _Step:
    """One removal: the node it is about, the operand if it is `and` or `or`, and what would go."""

    decision: Decision
    node: Branch | ast.BoolOp
    operand: int
    dead: tuple[ast.AST, ...]


class Planner:
    """Plans the removals in one file."""

    def __init__(self, source: str) -> None:
        """Raises `SyntaxError` and what else `ast.parse` raises."""
        self.tree = ast.parse(source)
        self.places = Places(source)
        self._bound = bound_names(self.tree)
        self._parents = {child: node for node in walk(self.tree) for child in ast.iter_child_nodes(node)}
        self._by_place: dict[Place, list[ast.AST]] = defaultdict(list)
        for node in walk(self.tree):
            if isinstance(node, Branch | ast.BoolOp):
                self._by_place[node.lineno, node.col_offset].append(node)
            if isinstance(node, ast.BoolOp):
                for operand in node.values:
                    self._by_place[operand.lineno, operand.col_offset].append(node)

    def plan(self, decisions: Iterable[Decision]) -> Plan:
        """What can be done of `decisions`, and why the rest cannot."""
        plan = Plan()
        steps = list(self._steps(decisions, plan))
        while problems := self._problems(_effective(steps)):
            for step, reason in problems.items():
                plan.refusals.append(_refusal(step.decision, "meaning", reason))
            steps = [step for step in steps if step not in problems]
        for step in _effective(steps):
            self._add(plan, step)
        plan.refusals.sort(key=lambda refusal: (refusal.line, refusal.column))
        return plan

    def _steps(self, decisions: Iterable[Decision], plan: Plan) -> Iterator[_Step]:
        verdicts: dict[tuple[ast.AST, int], Verdict] = {}
        for decision in decisions:
            try:
                step = self._step(decision)
            except Refused as error:
                plan.refusals.append(_refusal(decision, error.code, str(error)))
                continue
            if verdicts.setdefault((step.node, step.operand), decision.verdict) == decision.verdict:
                yield step
            else:
                plan.refusals.append(_refusal(decision, "contradiction", "it was said to hold always and never"))

    def _step(self, decision: Decision) -> _Step:
        if decision.kind == "boolean":
            return self._boolean(decision)
        found = [n for n in self._at(decision) if isinstance(n, _NODES[decision.kind])]
        if not found:
            raise Refused("absent", f"there is no such branch at line {decision.line}, column {decision.column + 1}")
        node = found[0]
        assert isinstance(node, Branch)
        self._not_in_a_string(node)
        always = decision.verdict == "always"
        if isinstance(node, ast.Assert) and not always:
            raise Refused("fails", "the assertion never holds: there is nothing to remove")
        if isinstance(node, ast.While) and always:
            if not node.orelse:
                raise Refused("endless", "the loop has no `else` that could be removed")
            return _Step(decision, node, 0, tuple(node.orelse))
        self._pure(node.test)
        if isinstance(node, ast.Assert):
            return _Step(decision, node, 0, (node,))
        arm = node.orelse if always else node.body
        return _Step(decision, node, 0, (node.test, *(arm if isinstance(arm, list) else [arm])))

    def _boolean(self, decision: Decision) -> _Step:
        """The operand at a place: of several nested `and`/`or` that begin there, that of the innermost."""
        place = (decision.line, decision.column)
        found: list[tuple[ast.BoolOp, int]] = []
        for node in self._at(decision):
            if isinstance(node, ast.BoolOp):
                places = [(value.lineno, value.col_offset) for value in node.values]
                found.append((node, places.index(place) if place in places else 0))
        if not found:
            raise Refused("absent", f"there is no such operand at line {decision.line}, column {decision.column + 1}")
        node, number = found[-1]
        self._not_in_a_string(node)
        last = number == len(node.values) - 1
        if (decision.verdict == "always") is not isinstance(node.op, ast.And):
            if last:
                raise Refused("last", "nothing stands behind the operand that could be removed")
            return _Step(decision, node, number, tuple(node.values[number + 1 :]))
        if last and not self._is_test(node):
            raise Refused("value", "the operand is the value of the expression, not only its truth")
        self._pure(node.values[number])
        return _Step(decision, node, number, (node.values[number],))

    def _at(self, decision: Decision) -> list[ast.AST]:
        return self._by_place.get((decision.line, decision.column), [])

    def _is_test(self, node: ast.expr) -> bool:
        """Whether only the truth of an expression matters."""
        parent = self._parents.get(node)
        if isinstance(parent, ast.UnaryOp):
            return isinstance(parent.op, ast.Not)
        if isinstance(parent, ast.BoolOp):
            return self._is_test(parent)
        return isinstance(parent, ast.If | ast.While | ast.Assert | ast.IfExp) and parent.test is node

    def _pure(self, condition: ast.expr) -> None:
        found = effect(condition, self._bound)
        if found:
            raise Refused("effect", f"evaluating `{excerpt(ast.unparse(condition))}` may have an effect: it {found}")

    def _not_in_a_string(self, node: ast.AST) -> None:
        above = self._parents.get(node)
        while above is not None and not isinstance(above, ast.stmt):
            if isinstance(above, ast.JoinedStr):
                raise Refused("string", "it is inside an f-string")
            above = self._parents.get(above)

    def _problems(self, steps: Sequence[_Step]) -> dict[_Step, str]:
        dead: dict[ast.AST, int] = {}
        for number, step in enumerate(steps):
            dead |= dict.fromkeys(step.dead, number)
        found = [*_docstrings(self.tree, steps), *Scopes(dead).read(self.tree)]
        return {steps[number]: reason for number, reason in found}

    def _add(self, plan: Plan, step: _Step) -> None:
        plan.done.append(step.decision)
        node, verdict = step.node, step.decision.verdict
        start = (node.lineno, self.places.column(node.lineno, node.col_offset))
        if isinstance(node, ast.BoolOp):
            assert node.end_lineno is not None and node.end_col_offset is not None
            end = (node.end_lineno, self.places.column(node.end_lineno, node.end_col_offset))
            plan.operands.setdefault((start, end), {})[step.operand] = verdict
        else:
            plan.branches[start] = verdict


def _effective(steps: Sequence[_Step]) -> list[_Step]:
    """Without the steps inside what others remove, and without repetitions."""
    gone = {inner for s in steps for node in s.dead for inner in walk(node) if inner is not s.node}
    return list({(s.node, s.operand): s for s in steps if s.node not in gone}.values())


def _docstrings(tree: ast.Module, steps: Sequence[_Step]) -> Iterator[tuple[int, str]]:
    """The removals after which a string that stood further down would be a docstring."""
    numbers: dict[ast.AST, int] = {step.node: number for number, step in enumerate(steps)}
    for node in walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            passed: list[int] = []
            first = _first(node.body, numbers, steps, passed)
            if passed and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                if isinstance(first.value.value, str):
                    yield from ((number, "a string behind it would become a docstring") for number in passed)


def _first(
    body: Sequence[ast.stmt], numbers: dict[ast.AST, int], steps: Sequence[_Step], passed: list[int]
) -> ast.stmt | None:
    """The first statement of a body when the removals are done; `passed` collects those that stand before it."""
    for statement in body:
        if statement not in numbers or (isinstance(statement, ast.While) and _verdict(statement, numbers, steps)):
            return statement
        passed.append(numbers[statement])
        if isinstance(statement, ast.If | ast.While):
            kept = statement.body if _verdict(statement, numbers, steps) else statement.orelse
            found = _first(kept, numbers, steps, passed)
            if found is not None:
                return found
    return None


def _verdict(statement: ast.stmt, numbers: dict[ast.AST, int], steps: Sequence[_Step]) -> bool:
    return steps[numbers[statement]].decision.verdict == "always"


def _refusal(decision: Decision, code: str, reason: str) -> Refusal:
    return Refusal(code, decision.line, decision.column, f"{decision.kind}: {decision.verdict}", reason)
