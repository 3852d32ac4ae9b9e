"""Removing the arms of branches that are never taken.

What stays keeps its bytes: only lines of the arm that takes the place of its branch move to the left.
Comments of what stays are kept, those in front of a branch and those behind its condition too.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst
from libcst.metadata import PositionProvider

from distml.rewrites.blocks import Piece, join, layer, unwrap, without, without_from_suite
from distml.rewrites.model import BOM, Decision, Edit, Rewritten, Verdict
from distml.rewrites.operands import chain, rebuild
from distml.rewrites.plan import Plan, Planner
from distml.rewrites.tree import Places, Unreadable, parse


def remove_branches(source: str, decisions: Sequence[Decision]) -> Rewritten:
    """`source` without the arms that `decisions` say are dead.

    Keeps what the program does: refused are conditions that may do more than be true or false, and removals that would
    change the meaning of a name, end a generator or make a docstring. A branch inside a dead arm goes with it and is
    neither an edit nor a refusal. A file that does not parse gives one refusal.
    """
    mark = BOM if source.startswith(BOM) else ""
    text = source[len(mark) :]
    try:
        wrapper = parse(text)
        plan = Planner(text).plan(decisions)
        remover = _Remover(plan, Places(text))
        result = wrapper.visit(remover).code if plan.done else text
    except Unreadable as error:
        return Rewritten(source, source, (), (error.refusal,))
    except (SyntaxError, ValueError, RecursionError) as error:
        return Rewritten(
            source, source, (), (Unreadable("syntax", getattr(error, "lineno", 1) or 1, str(error)).refusal,)
        )
    edits = tuple(Edit(d.line, d.column, f"{d.kind}: {d.verdict}", d.reason) for d in plan.done)
    return Rewritten(source, mark + result, edits, tuple(plan.refusals))


class _Remover(cst.CSTTransformer):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, plan: Plan, places: Places) -> None:
        super().__init__()
        self._plan = plan
        self._places = places
        self._inner: set[cst.CSTNode] = set()

    # --- statements ---------------------------------------------------------------------

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        pieces = self._pieces(original_node.body, updated_node.body)
        if pieces is None:
            return updated_node
        body, rest = join(pieces)
        return updated_node.with_changes(body=body, footer=[*rest, *updated_node.footer])

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        pieces = self._pieces(original_node.body, updated_node.body)
        if pieces is None:
            return updated_node
        body, rest = join(pieces)
        if not body:
            body, rest = [cst.SimpleStatementLine([cst.Pass()], leading_lines=rest)], []
        return updated_node.with_changes(body=body, footer=[*rest, *updated_node.footer])

    def leave_SimpleStatementSuite(
        self, original_node: cst.SimpleStatementSuite, updated_node: cst.SimpleStatementSuite
    ) -> cst.SimpleStatementSuite:
        dead = [self._verdict(statement) is not None for statement in original_node.body]
        return without_from_suite(updated_node, dead) if any(dead) else updated_node

    def _pieces(self, original: Sequence[cst.CSTNode], updated: Sequence[cst.CSTNode]) -> list[Piece] | None:
        """What becomes of the statements of a block; None where all of them stay."""
        if not any(self._concerns(statement) for statement in original):
            return None
        return [self._piece(before, after) for before, after in zip(original, updated, strict=True)]

    def _concerns(self, statement: cst.CSTNode) -> bool:
        if isinstance(statement, cst.SimpleStatementLine):
            return any(self._verdict(small) is not None for small in statement.body)
        if isinstance(statement, cst.If) and statement.orelse is not None and self._concerns(statement.orelse):
            return True
        return self._verdict(statement) is not None

    def _piece(self, original: cst.CSTNode, updated: cst.CSTNode) -> Piece:
        if isinstance(updated, cst.SimpleStatementLine) and isinstance(original, cst.SimpleStatementLine):
            return without(updated, [self._verdict(small) is not None for small in original.body])
        if isinstance(updated, cst.If) and isinstance(original, cst.If):
            return self._branch(original, updated)
        if isinstance(updated, cst.While) and self._concerns(original):
            if self._verdict(original) == "always":
                return Piece([updated.with_changes(orelse=None)])
            return unwrap(updated.leading_lines, updated.orelse)
        assert isinstance(updated, cst.BaseStatement)
        return Piece([updated])

    def _branch(self, original: cst.If, updated: cst.If) -> Piece:
        outer = updated.leading_lines
        settled = self._settled(original, updated.with_changes(leading_lines=()))
        if isinstance(settled, cst.If):
            return Piece([settled.with_changes(leading_lines=layer(outer, settled.leading_lines))])
        return unwrap(outer, settled)

    def _settled(self, original: cst.If, updated: cst.If) -> cst.If | cst.Else | None:
        """What is left of an `if` or `elif`: a condition, an arm without one, or nothing."""
        verdict, rest = self._verdict(original), updated.orelse
        if isinstance(rest, cst.If) and isinstance(original.orelse, cst.If) and verdict != "always":
            rest = self._settled(original.orelse, rest)
        if verdict == "always":
            return cst.Else(body=updated.body, leading_lines=updated.leading_lines)
        if verdict == "never":
            return rest
        return updated if rest is updated.orelse else updated.with_changes(orelse=rest)

    def _verdict(self, node: cst.CSTNode) -> Verdict | None:
        if not isinstance(node, cst.If | cst.While | cst.Assert | cst.IfExp):
            return None
        start = self.get_metadata(PositionProvider, node).start
        return self._plan.branches.get((start.line, start.column))

    # --- expressions --------------------------------------------------------------------

    def leave_IfExp(self, original_node: cst.IfExp, updated_node: cst.IfExp) -> cst.BaseExpression:
        verdict = self._verdict(original_node)
        if verdict is None:
            return updated_node
        kept = updated_node.body if verdict == "always" else updated_node.orelse
        return self._instead(original_node, updated_node, kept)

    def visit_BooleanOperation(self, node: cst.BooleanOperation) -> None:
        left = node.left
        if isinstance(left, cst.BooleanOperation) and not left.lpar and type(left.operator) is type(node.operator):
            self._inner.add(left)

    def leave_BooleanOperation(
        self, original_node: cst.BooleanOperation, updated_node: cst.BooleanOperation
    ) -> cst.BaseExpression:
        if original_node in self._inner or not self._plan.operands:
            return updated_node
        where = self.get_metadata(PositionProvider, original_node)
        key = ((where.start.line, where.start.column), (where.end.line, where.end.column))
        verdicts = self._plan.operands.get(key)
        if verdicts is None:
            return updated_node
        kept = rebuild(chain(updated_node), verdicts, isinstance(updated_node.operator, cst.And))
        return self._instead(original_node, updated_node, kept)

    def _instead(
        self, original: cst.BaseExpression, updated: cst.BaseExpression, kept: cst.BaseExpression
    ) -> cst.BaseExpression:
        """`kept` in the parentheses of what it replaces, or in new ones where it would touch a word beside it."""
        if updated.lpar:
            return kept.with_changes(lpar=[*updated.lpar, *kept.lpar], rpar=[*kept.rpar, *updated.rpar])
        where = self.get_metadata(PositionProvider, original)
        code = cst.Module([]).code_for_node(kept)
        before = self._places.at(where.start.line, where.start.column - 1)
        after = self._places.at(where.end.line, where.end.column)
        if _words(before, code[:1]) or _words(code[-1:], after):
            return kept.with_changes(lpar=[cst.LeftParen(), *kept.lpar], rpar=[*kept.rpar, cst.RightParen()])
        return kept


def _words(left: str, right: str) -> bool:
    """Whether two characters side by side would be read as one word, or as a string with a prefix."""
    return bool(left) and (left.isalnum() or left == "_") and bool(right) and (right.isalnum() or right in "_'\"")
