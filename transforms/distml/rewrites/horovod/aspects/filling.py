"""How statements put values into places, by their text: what is assigned to what, of what something is an item."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.source.bindings import last_name
from distml.source.nodes import walk
from distml.training.around import own_nodes
from distml.training.callsites import argument
from distml.training.syntax import names_in

_AXES = {"append": 2, "concatenate": 1, "concat": 1, "cat": 1, "stack": 1}
"""At which place these are given the axis along which they join."""

_DEEPEST = 4
"""Items of items that are followed."""
_SIZES = frozenset("len size numel nelement".split())


def by_first_axis(call: ast.Call, name: str) -> bool:
    """Whether more samples are joined to some: along another axis, a picture becomes wider."""
    axis = argument(call, _AXES.get(name, -1), "axis", "dim")
    return name != "column_stack" and (axis is None or (isinstance(axis, ast.Constant) and axis.value in (0, None)))


def is_size(node: ast.AST) -> bool:
    """Whether something is the size of a batch, or another length of it."""
    if isinstance(node, ast.Subscript):
        shape = node.value.func if isinstance(node.value, ast.Call) else node.value
        return isinstance(shape, ast.Attribute) and shape.attr == "shape" and not isinstance(node.slice, ast.Slice)
    if isinstance(node, ast.Call) and last_name(node.func) == "int" and len(node.args) == 1:
        return is_size(node.args[0])
    return isinstance(node, ast.Call) and last_name(node.func) in _SIZES


def holder(func: ast.Attribute) -> ast.expr | None:
    """The place that a method is called on; what `setdefault` gives is an item."""
    held: ast.expr = func.value
    if isinstance(held, ast.Call) and isinstance(held.func, ast.Attribute) and held.func.attr == "setdefault":
        held = ast.copy_location(ast.Subscript(held.func.value, held.args[0], ast.Load()), held)
    return held if isinstance(held, ast.Name | ast.Attribute | ast.Subscript) else None


def set_anew(place: ast.expr, body: ast.AST) -> bool:
    """Whether each run of some code makes a place, or what holds it, anew, or empties it: what was there is gone."""
    held = ast.unparse(place)
    for statement in getattr(body, "body", ()):
        simple = isinstance(statement, ast.Expr | ast.Delete | ast.Assign)
        if simple and ast.unparse(statement) in (f"{held}.clear()", f"del {held}[:]", f"{held}[:] = []"):
            return True
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            text = ast.unparse(target)
            if isinstance(target, ast.Attribute) and f"{held}.".startswith((f"{text}.", f"{text}[")):
                return text not in {ast.unparse(each) for each in walk(statement.value)}
    return False


def gone_through(name: str, body: ast.AST) -> ast.expr | None:
    """The container of which a variable only holds items, one in each turn of the loops in `body` that set it."""
    loops = [each for each in own_nodes(body, ast.For) if name in names_in(each.target)]
    stores = [each for each in own_nodes(body, ast.Name) if each.id == name]
    if sum(isinstance(each.ctx, ast.Store) for each in stores) != len(loops):
        return None
    found = {ast.unparse(each): each for loop in loops if (each := item_of(loop.target, loop.iter, name))}
    whole = next(iter(found.values())) if len(found) == 1 else None
    return whole if isinstance(whole, ast.Name | ast.Attribute) else None


def gone_along(iterable: ast.expr) -> list[ast.expr]:
    """What a loop goes through at once: `zip` and `enumerate` go through what they are given."""
    if isinstance(iterable, ast.Call) and ast.unparse(iterable.func) in ("zip", "enumerate"):
        return iterable.args
    return [iterable]


def item_of(target: ast.expr, iterable: ast.expr, name: str) -> ast.expr | None:
    """What a part of a loop's target is an item of: `zip` and `enumerate` give items of what they are given."""
    last = ast.unparse(iterable.func).rpartition(".")[2] if isinstance(iterable, ast.Call) else ""
    if isinstance(iterable, ast.Call) and isinstance(target, ast.Tuple) and last in ("zip", "enumerate"):
        parts = target.elts if last == "zip" else target.elts[1:]
        pairs = [*zip(parts, iterable.args, strict=False)]
        return next((found for part, each in pairs if (found := item_of(part, each, name)) is not None), None)
    if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Attribute) and last in ("values", "items"):
        part = target.elts[-1] if last == "items" and isinstance(target, ast.Tuple) else target
        return item_of(part, iterable.func.value, name)
    return iterable if any(each == name for each in names_in(target)) else None


def default_of(value: ast.expr, container: str) -> ast.expr | None:
    """What is added to an item that may not be there yet, as in `counts.get(key, 0) + 1`."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        for one, other in ((value.left, value.right), (value.right, value.left)):
            if isinstance(one, ast.Call) and ast.unparse(one.func) == f"{container}.get":
                return other
    return None


def items_of(iterable: ast.expr, target: ast.expr) -> ast.expr:
    """The part of a loop's target that holds the items: `enumerate` counts in front of them, `items` names them."""
    counts = isinstance(iterable, ast.Call) and ast.unparse(iterable.func).rpartition(".")[2] in ("enumerate", "items")
    return target.elts[-1] if counts and isinstance(target, ast.Tuple) and len(target.elts) == 2 else target


def stores(body: ast.AST) -> set[str]:
    """The names that are set in code."""
    return {each.id for each in own_nodes(body, ast.Name) if isinstance(each.ctx, ast.Store)}


def assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is assigned to what: `a, b = c, d` are two."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, other in zip(target.elts, value.elts, strict=True):
            yield from assigned(one, other)
    else:
        yield target, value


def is_addition(value: ast.expr, place: str) -> bool:
    """Whether something is added to what a place holds: `total = total + each`."""
    sides = [value.left, value.right] if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) else []
    return place in map(ast.unparse, sides)


def items_filled(method: ast.FunctionDef) -> Iterator[str]:
    """The attributes into whose items a method adds, itself or by variables that hold such items."""
    own = method.args.args[0].arg if method.args.args else ""
    variables = {
        each.targets[0].id: each.value
        for each in own_nodes(method, ast.Assign)
        if isinstance(each.targets[0], ast.Name)
    }
    for node in own_nodes(method, ast.AugAssign):
        place: ast.expr = node.target
        for _ in range(_DEEPEST if isinstance(place, ast.Subscript) else 0):
            place = place.value if isinstance(place, ast.Subscript) else variables.get(ast.unparse(place), place)
        if isinstance(node.target, ast.Subscript) and is_attribute_of(place, own):
            yield ast.unparse(place).partition(".")[2]


def loads_attribute(node: ast.AST, name: str) -> bool:
    """Whether something reads an attribute of a name."""
    return isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)


def is_attribute_of(node: ast.expr, own: str) -> bool:
    """Whether something is an attribute of a variable, such as `self`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own
