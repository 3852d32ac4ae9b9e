"""Which names and places may hold one object.

Parties stay in agreement on an object only if all of them make every change to it, and a change may come by another name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from distml.choreo.aliases import IMMUTABLE, MAKING, holds_values
from distml.choreo.hints import Hints
from distml.choreo.kinds import Hint, head
from distml.choreo.read import last

_ITERATORS = frozenset(("Iterator", "Generator"))
_NEW = ast.List | ast.Tuple | ast.Dict | ast.Set | ast.BinOp | ast.Subscript | ast.ListComp | ast.DictComp | ast.SetComp
"""Expressions that make a container, if they give one."""


def is_iterator(hint: Hint) -> bool:
    """Whether going through a value uses it up."""
    return head(hint) in _ITERATORS


def same_objects(node: ast.expr, hints: Hints) -> Iterator[ast.expr]:
    """The names, attributes and items whose objects the value of an expression may be, or contain."""
    hint = hints.of(node)
    if head(hint) in IMMUTABLE - {"tuple"}:
        return
    is_part = isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice)
    if isinstance(node, ast.Name | ast.Attribute) or is_part:
        yield node
        return
    if isinstance(node, ast.Call):
        yield from _of_call(node, hints, hint)
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):  # `value @ Role()`
        yield from same_objects(node.left, hints)
        return
    if isinstance(node, _NEW) and holds_values(hint):
        return
    for each in _parts(node):
        yield from same_objects(each, hints)


def _parts(node: ast.expr) -> Iterable[ast.expr]:
    if isinstance(node, ast.Subscript):
        return (node.value,)
    if isinstance(node, ast.IfExp):
        return (node.body, node.orelse)
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.NamedExpr | ast.Starred):
        return (node.value,)
    if isinstance(node, ast.List | ast.Tuple):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.BinOp):
        return (node.left, node.right) if isinstance(node.op, ast.Add | ast.BitOr) else ()
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return () if isinstance(node.elt, ast.Constant) else [each.iter for each in node.generators]
    return ()


def _of_call(node: ast.Call, hints: Hints, hint: Hint) -> Iterator[ast.expr]:
    """A call may give what it is given, or a container of it; what its type shows to be new is new."""
    function = hints.module.local_function(node.func.id) if isinstance(node.func, ast.Name) else None
    if function is None and last(node.func) in MAKING and holds_values(hint):
        return
    given = [*node.args, *(each.value for each in node.keywords)]
    given += [node.func.value] if isinstance(node.func, ast.Attribute) else []
    given += [each for each in ast.walk(function) if isinstance(each, ast.Name)] if function is not None else []
    own = {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)} if function is not None else set()
    for each in given:
        if not (isinstance(each, ast.Name) and each.id in own):
            yield from same_objects(each, hints)


def kept_arguments(function: ast.FunctionDef) -> set[str]:
    """The parameters whose defaults are objects that may be changed: there is one for all calls."""
    plain = [*function.args.posonlyargs, *function.args.args]
    pairs = [*zip(plain[::-1], function.args.defaults[::-1]), *zip(function.args.kwonlyargs, function.args.kw_defaults)]
    return {each.arg for each, default in pairs if default is not None and not isinstance(default, ast.Constant)}
