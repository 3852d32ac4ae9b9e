"""Operators, formats, comprehensions and assignments: what of them parties agree on that agree on the operands.

An operation without a call depends on more than its operands where it goes through something that has no order, writes a
text that says more than the value, or asks which of several equal objects something is.
"""

from __future__ import annotations

import ast

from distml.choreo.hints import Hints, element
from distml.choreo.kinds import Hint, Kinds
from distml.choreo.surroundings import Surroundings

_NOT_FILLED = frozenset("int float bool complex str bytes tuple Decimal Fraction timedelta".split())
"""Types that `+=` does not fill."""


class Operations:
    """Judges operations on variables whose types are known to `hints`."""

    module: Surroundings
    hints: Hints
    kinds: Kinds

    def _binop(self, node: ast.BinOp) -> bool:
        written = isinstance(node.op, ast.Mod) and self.hints.kind(node.left) not in (
            "int",
            "float",
            "bool",
            "Fraction",
        )
        if not written:
            return False
        given = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        return any(not self._has_text(each, False) for each in given)

    def _joinedstr(self, node: ast.JoinedStr) -> bool:
        return any(self._shown(each) for each in node.values if isinstance(each, ast.FormattedValue))

    def _shown(self, node: ast.FormattedValue) -> bool:
        """Whether a value in an f-string is shown in a way of a party's own."""
        written = node.conversion in (ord("r"), ord("a"))
        return not self._has_text(node.value, not written) or not self._is_format(node.format_spec)

    def _is_format(self, node: ast.expr | None) -> bool:
        """Whether a format means the same everywhere: `n` asks the machine how numbers are written."""
        if isinstance(node, ast.JoinedStr) and node.values:
            end = node.values[-1]
            inner = [each.value for each in node.values if isinstance(each, ast.FormattedValue)]
            return all(self.hints.kind(each) == "int" for each in inner) and (
                not isinstance(end, ast.Constant) or self._is_format(end)
            )
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and not node.value.endswith("n") and "%" not in node.value[:-1]
        return node is None or isinstance(node, ast.JoinedStr)

    def _has_text(self, node: ast.expr, whole: bool) -> bool:
        return self.kinds.has_text(self.hints.of(node), whole)

    def _starred(self, node: ast.Starred) -> bool:
        return not self.hints.is_ordered(node.value)

    def _listcomp(self, node: ast.ListComp | ast.DictComp) -> bool:
        inner = self.hints.within(node)
        return self._setcomp(node) or any(not inner.is_ordered(each.iter) for each in node.generators)

    _dictcomp = _listcomp

    def _setcomp(self, node: ast.ListComp | ast.DictComp | ast.SetComp | ast.GeneratorExp) -> bool:
        inner = self.hints.within(node)
        return any(self._unpacked(each.target, element(inner.of(each.iter))) for each in node.generators)

    _generatorexp = _setcomp

    def _for(self, node: ast.For) -> bool:
        return not self.hints.is_ordered(node.iter) or self._unpacked(node.target, element(self.hints.of(node.iter)))

    def _assign(self, node: ast.Assign) -> bool:
        filled = [
            each for each in node.targets if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Slice)
        ]
        if filled and not self.hints.is_ordered(node.value):
            return True
        return any(self._unpacked(each, self.hints.of(node.value), node.value) for each in node.targets)

    def _augassign(self, node: ast.AugAssign) -> bool:
        """Whether a list is made longer by what has no order: `+=` takes whatever can be gone through."""
        return (
            isinstance(node.op, ast.Add)
            and self.hints.kind(node.target) not in _NOT_FILLED
            and self.hints.kind(node.value) not in _NOT_FILLED
            and not self.hints.is_ordered(node.value)
        )

    def _unpacked(self, target: ast.expr, hint: Hint, value: ast.expr | None = None) -> bool:
        """Whether a set is taken apart into variables, one after the other."""
        if not isinstance(target, ast.Tuple | ast.List):
            return False
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            return any(self._unpacked(one, self.hints.of(each), each) for one, each in zip(target.elts, value.elts))
        inner = [each for each in target.elts if isinstance(each, ast.Tuple | ast.List)]
        if inner and element(hint) is None:
            return True  # whether a set is taken apart there cannot be told
        return self.module.is_set(hint) or any(self._unpacked(each, element(hint)) for each in inner)

    def _compare(self, node: ast.Compare) -> bool:
        """Whether it is asked which of several equal objects something is: one that arrived is another."""
        sides = [node.left, *node.comparators]
        return any(
            isinstance(op, ast.Is | ast.IsNot) and not (_is_one(left) or _is_one(right))
            for op, left, right in zip(node.ops, sides, sides[1:])
        )


def _is_one(node: ast.expr) -> bool:
    """Whether there is but one such object in a program: None, a truth value, a member of an enum."""
    constant = isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool | type(...)))
    return constant or isinstance(node, ast.Attribute)
