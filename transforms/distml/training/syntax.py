"""What stands in a piece of Python, by its syntax alone: the nodes of a kind, names, what a call is given."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import Any, TypeGuard, TypeVar

from distml.source.nodes import walk

_Node = TypeVar("_Node", bound=ast.AST)
_Start = TypeVar("_Start", bound=Hashable)
_Thing = TypeVar("_Thing", bound=Hashable)


def nodes_in(node: ast.AST, kind: type[_Node]) -> Iterator[_Node]:
    """A node and the nodes below it that are of one kind."""
    return (each for each in walk(node) if isinstance(each, kind))


def closure(starts: Iterable[_Start], further: Callable[[Any], Iterable[_Thing]]) -> Iterator[_Start | _Thing]:
    """Some things and whatever they lead to, each once, the nearest first."""
    waiting, seen = deque[_Start | _Thing](starts), set[_Start | _Thing]()
    while waiting:
        each = waiting.popleft()
        if each not in seen:
            seen.add(each)
            yield each
            waiting += further(each)


def names_in(node: ast.AST) -> set[str]:
    """The names of the variables in a node, read or set."""
    return {each.id for each in nodes_in(node, ast.Name)}


def mentions(node: ast.AST, names: Collection[str]) -> bool:
    """Whether a node reads or sets one of these variables."""
    return any(each.id in names for each in nodes_in(node, ast.Name))


def yields(node: ast.AST) -> bool:
    """Whether something in a node makes a function a generator."""
    return any(isinstance(each, ast.Yield | ast.YieldFrom) for each in walk(node))


def holds_grad(node: ast.AST) -> bool:
    """Whether something in a node is the `.grad` of a tensor, by its name."""
    return any(each.attr == "grad" for each in nodes_in(node, ast.Attribute))


def values_given(call: ast.Call) -> list[ast.expr]:
    """What a call is given, by place and by keyword."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def receiver_of(call: ast.Call) -> ast.expr | None:
    """What a method is called on; None for a call that names no method."""
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def method_name(call: ast.AST | None) -> str:
    """The method that a call names, as it is spelled; nothing for what else there is."""
    return call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""


def targets_of(statement: ast.AST) -> list[ast.expr]:
    """What an assignment, a loop, a part of a comprehension or `:=` sets; nothing for what else there is."""
    if isinstance(statement, ast.Assign):
        return [*statement.targets]
    target = getattr(statement, "target", None)
    return [target] if isinstance(target, ast.expr) else []


def root_of(place: ast.expr) -> ast.Name | None:
    """The name with which a place begins: `a` of `a.b[0].c`."""
    while isinstance(place, ast.Attribute | ast.Subscript):
        place = place.value
    return place if isinstance(place, ast.Name) else None


_REMAINDERS = frozenset({"mod", "fmod", "remainder", "floormod"})


def remainder_of(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """What is divided by what, where an expression is the remainder: `a % b`, `np.mod(a, b)`, `divmod(a, b)[1]`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return node.left, node.right
    if isinstance(node, ast.Subscript) and is_literal(node.slice, 1) and isinstance(node.value, ast.Call):
        call, both = node.value, isinstance(node.value.func, ast.Name) and node.value.func.id == "divmod"
    elif isinstance(node, ast.Call):
        call, both = node, method_name(node) in _REMAINDERS
    else:
        return None
    return (call.args[0], call.args[1]) if both and len(call.args) == 2 else None


def runs_as_script(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether the body of a statement runs in the script only: `if __name__ == "__main__":`, also with more by `and`."""
    return isinstance(node, ast.If) and _asks_for_script(node.test)


def only_in_script(tree: ast.Module) -> set[ast.AST]:
    """What runs in the script only, and not where a module is imported: what its `__main__` guards begin."""
    return {node for each in tree.body if runs_as_script(each) for part in each.body for node in walk(part)}


def _asks_for_script(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(_asks_for_script, test.values))
    equal = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq | ast.In)
    return equal and any(isinstance(each, ast.Name) and each.id == "__name__" for each in ast.iter_child_nodes(test))


def is_literal(node: ast.AST | None, value: object) -> bool:
    """Whether something is written as this constant: `False` is no `0`."""
    return isinstance(node, ast.Constant) and type(node.value) is type(value) and node.value == value


def is_false(node: ast.AST | None) -> bool:
    """Whether something is written out as what counts as false: `False`, `0`, `None`, an empty text."""
    return isinstance(node, ast.Constant) and not node.value


def place_of(node: ast.AST) -> tuple[int, int]:
    """Where an expression or statement begins, for an order."""
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def stores(node: ast.AST, name: str) -> Iterator[ast.Name]:
    """Where something in a node sets the variable of this name."""
    return (each for each in nodes_in(node, ast.Name) if each.id == name and isinstance(each.ctx, ast.Store))


def elements(node: ast.expr) -> list[ast.expr]:
    """What a tuple or list that is written out holds; what is neither is its own element."""
    return [*node.elts] if isinstance(node, ast.Tuple | ast.List) else [node]


def is_given(node: ast.expr | None) -> TypeGuard[ast.expr]:
    """Whether something is there, and is not `None` as it is written."""
    return node is not None and not (isinstance(node, ast.Constant) and node.value is None)


def size_of(node: ast.AST) -> tuple[ast.expr, int] | None:
    """The tensor and dimension in `x.size(1)`, `x.shape[1]`, `len(x)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size" and node.args:
        if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, int):
            return node.func.value, node.args[0].value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
        return node.args[0], 0
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            return node.value.value, node.slice.value
    return None
