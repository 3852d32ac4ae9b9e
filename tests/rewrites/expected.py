"""What removing branches must give, on Python's own syntax tree: small, slow and without layout."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from distml.rewrites.model import Decision, Kind

KINDS: dict[type[ast.AST], Kind] = {ast.If: "if", ast.While: "while", ast.Assert: "assert", ast.IfExp: "ternary"}


def branches(tree: ast.AST) -> Iterator[tuple[int, int, Kind]]:
    """The places of everything that can be decided."""
    for node in ast.walk(tree):
        if type(node) in KINDS:
            yield node.lineno, node.col_offset, KINDS[type(node)]  # type: ignore[attr-defined]
        elif isinstance(node, ast.BoolOp):
            for operand in node.values:
                yield operand.lineno, operand.col_offset, "boolean"


def branches_of(source: str) -> list[tuple[int, int, Kind]]:
    """The places of everything that can be decided in a program."""
    return list(dict.fromkeys(branches(ast.parse(source))))


def removed(source: str, decisions: Iterable[Decision]) -> str:
    """The dump of `source` without what is dead; superfluous `pass` apart."""
    tree = ast.parse(source)
    return dump(_Remover(tree, decisions).visit(tree))


def dump(tree: ast.AST) -> str:
    """A tree as text, without places and without `pass` beside other statements."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                kept = [each for each in body if not isinstance(each, ast.Pass)]
                setattr(node, name, kept)
    return ast.dump(tree)


class _Remover(ast.NodeTransformer):
    def __init__(self, tree: ast.AST, decisions: Iterable[Decision]) -> None:
        self.verdicts: dict[tuple[ast.AST, int], str] = {}
        for each in decisions:
            self.verdicts[_find(tree, each)] = each.verdict

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        verdict = self.verdicts.get((node, 0))
        return node if verdict is None else node.body if verdict == "always" else node.orelse

    def visit_While(self, node: ast.While) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        verdict = self.verdicts.get((node, 0))
        if verdict == "always":
            node.orelse = []
        return node.orelse if verdict == "never" else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        verdict = self.verdicts.get((node, 0))
        return node if verdict is None else node.body if verdict == "always" else node.orelse

    def visit_Assert(self, node: ast.Assert) -> ast.AST | None:
        self.generic_visit(node)
        return None if (node, 0) in self.verdicts else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        conjunction = isinstance(node.op, ast.And)
        verdicts = [self.verdicts.get((node, number)) for number in range(len(node.values))]
        self.generic_visit(node)
        kept = []
        for value, verdict in zip(node.values, verdicts, strict=True):
            if verdict is None or (verdict == "always") is not conjunction:
                kept.append(value)
            if verdict is not None and (verdict == "always") is not conjunction:
                break
        kept = kept or node.values[-1:]
        return kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept)


def _find(tree: ast.AST, decision: Decision) -> tuple[ast.AST, int]:
    place = (decision.line, decision.column)
    found: list[tuple[int, ast.AST, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BoolOp) and decision.kind == "boolean":
            size = len(ast.unparse(node))
            found += [(size, node, 0)] if (node.lineno, node.col_offset) == place else []
            found += [(size, node, i) for i, v in enumerate(node.values) if (v.lineno, v.col_offset) == place]
        elif KINDS.get(type(node)) == decision.kind and (node.lineno, node.col_offset) == place:  # type: ignore[attr-defined]
            found.append((0, node, 0))
    _, node, number = min(found, key=lambda each: each[0])
    return node, number
