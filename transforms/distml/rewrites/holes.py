"""Code written as text with `{}` where an expression of the file is to stand."""

from __future__ import annotations

import libcst as cst

from distml.rewrites.snippets import expression_of

_HOLE = "distml_hole_"
_LOOSE = (
    cst.BinaryOperation,
    cst.BooleanOperation,
    cst.Comparison,
    cst.UnaryOperation,
    cst.IfExp,
    cst.Lambda,
    cst.Await,
)
_ALWAYS = (cst.NamedExpr, cst.Yield, cst.Tuple, cst.GeneratorExp)


def filled(template: str, node: cst.BaseExpression | None, config: cst.PartialParserConfig) -> cst.BaseExpression:
    """The expression `template` with `node` for each `{}`, in parentheses where it needs them."""
    if template == "{}" and node is not None:
        return node
    # In brackets, as an assignment expression is written as an argument; they are no part of the result.
    call = expression_of(f"f({template.replace('{}', _HOLE)})", config)
    assert isinstance(call, cst.Call)
    tree = call.args[0].value
    if node is None:
        return tree
    found = tree.visit(_Fill(node))
    assert isinstance(found, cst.BaseExpression)
    return found


class _Fill(cst.CSTTransformer):
    def __init__(self, node: cst.BaseExpression) -> None:
        super().__init__()
        self._node = node

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        """An argument needs no parentheses of its own."""
        bare = self._bare(original_node.value)
        return updated_node.with_changes(value=bare) if bare is not None else updated_node

    def leave_Element(self, original_node: cst.Element, updated_node: cst.Element) -> cst.Element:
        """Nor does an item of a list."""
        bare = self._bare(original_node.value)
        return updated_node.with_changes(value=bare) if bare is not None else updated_node

    def leave_GeneratorExp(self, original_node: cst.GeneratorExp, updated_node: cst.GeneratorExp) -> cst.GeneratorExp:
        """Nor does what a generator gives."""
        bare = self._bare(original_node.elt)
        return updated_node.with_changes(elt=bare) if bare is not None else updated_node

    def _bare(self, value: cst.BaseExpression) -> cst.BaseExpression | None:
        """What stands for a hole as it is, where it may."""
        hole = isinstance(value, cst.Name) and value.value == _HOLE
        return self._node.deep_clone() if hole and not isinstance(self._node, _ALWAYS) else None

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        """Anywhere else an operator does."""
        if original_node.value != _HOLE:
            return updated_node
        node = self._node.deep_clone()
        if isinstance(node, (*_LOOSE, *_ALWAYS)) and not node.lpar:
            node = node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        return node
