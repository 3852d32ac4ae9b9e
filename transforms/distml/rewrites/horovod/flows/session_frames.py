"""From a training step outwards: the functions and loops around it, and what its batch is computed from in each."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from distml.source.nodes import walk
from distml.training.around import Looping, loops_around, own_nodes, owner_of
from distml.training.callsites import given_by
from distml.training.program import Program
from distml.training.syntax import method_name

_ADDS = frozenset({"append", "extend", "add", "update", "insert"})
_DEEPEST = 6


@dataclass(frozen=True, eq=False)
class Frame:
    """One function, or the top of a module: the expression that leads to the step, and what the batch depends on here."""

    owner: ast.AST
    node: ast.expr
    feeds: tuple[ast.expr, ...]


def frames(node: ast.expr, feeds: Iterable[ast.expr], program: Program) -> list[Frame]:
    """The frame a step stands in, that of a caller of its function, and so on. Of several callers one in a loop is taken."""
    found = [Frame(owner_of(node, program), node, tuple(feeds))]
    while len(found) < _DEEPEST and isinstance(found[-1].owner, ast.FunctionDef):
        function = found[-1].owner
        callers = [call for call in program.calling(function) if owner_of(call, program) is not function]
        if not callers:
            break
        caller = next((call for call in callers if any(loops_around(call, program))), callers[0])
        if any(caller is each.node for each in found):
            break
        given = given_by(caller, function, program)
        names = reached(found[-1].feeds, function).names
        found.append(Frame(owner_of(caller, program), caller, tuple(v for k, v in given.items() if k in names)))
    return found


@dataclass(frozen=True)
class Reach:
    """What expressions are computed from: variables by name (attributes as they are written), and the expressions."""

    names: frozenset[str]
    parts: tuple[ast.expr, ...]


def reached(
    exprs: Iterable[ast.expr], within: ast.AST, bound: Mapping[str, list[ast.expr]] = MappingProxyType({})
) -> Reach:
    """What `exprs` are computed from, by the assignments inside a loop or function, whatever their order.

    Of names that are `bound`, only by what is said there.
    """
    known = {**_assignments(within), **bound}
    names: set[str] = set()
    parts: list[ast.expr] = []
    waiting = list(exprs)
    while waiting:
        current = waiting.pop()
        if any(current is each for each in parts):
            continue
        parts.append(current)
        for name in reads(current) - names:
            names.add(name)
            waiting += known.get(name, [])
    return Reach(frozenset(names), tuple(parts))


def taken(node: ast.expr, program: Program) -> dict[str, list[ast.expr]]:
    """The variables of the loops around an expression, and what they are given there: what they held before is gone."""
    found: dict[str, list[ast.expr]] = {}
    for loop in loops_around(node, program):
        if isinstance(loop, ast.For):
            own = _assignments(loop)
            for name in targets(loop.target) - found.keys():
                found[name] = [loop.iter, *own.get(name, [])]
    return found


def reads(node: ast.AST) -> set[str]:
    """The variables an expression reads: names, and attributes as they are written."""
    found = set()
    for each in walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            found.add(each.id)
        elif isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load):
            found.add(ast.unparse(each))
    return found


def _assignments(within: ast.AST) -> dict[str, list[ast.expr]]:
    """What each variable is given inside a loop or function, its nested functions left out."""
    found: dict[str, list[ast.expr]] = {}
    for node in own_nodes(within):
        for target, value in _binds(node, within):
            for name in targets(target):
                found.setdefault(name, []).append(value)
    return found


def _binds(node: ast.AST, within: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.For) and node is not within:
        yield node.target, node.iter
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield node.optional_vars, node.context_expr
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDS:
        yield from ((node.func.value, value) for value in node.args)


def targets(node: ast.expr) -> set[str]:
    """The variables that assigning to `node` changes."""
    if isinstance(node, ast.Tuple | ast.List):
        return {name for each in node.elts for name in targets(each)}
    if isinstance(node, ast.Subscript | ast.Starred):
        return targets(node.value)
    return {ast.unparse(node)} if isinstance(node, ast.Name | ast.Attribute) else set()


def set_in(loop: Looping) -> set[str]:
    """The variables that a loop sets in each iteration."""
    own = targets(loop.target) if isinstance(loop, ast.For) else set()
    return own.union(*(targets(target) for each in own_nodes(loop, ast.Assign) for target in each.targets))


def runs_session(node: ast.AST) -> bool:
    """Whether something is called that has a session compute: `run` or `eval`."""
    return method_name(node) in ("run", "eval")
