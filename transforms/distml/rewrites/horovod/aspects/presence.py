"""Whether a variable has a value at a statement, whatever branches were taken: a model made under an `if` may not be there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from distml.source.bindings import arguments, binds, bound_names
from distml.training.around import arms, block_of, owner_of
from distml.training.program import Program
from distml.training.syntax import is_literal, nodes_in, targets_of

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def is_set_before(program: Program, name: str, statement: ast.stmt) -> bool:
    """Whether each path to a statement gives the variable that an expression begins with a value, other than None.

    A variable that its function does not set comes from elsewhere, as an attribute does: then it is there.
    """
    root, dot, _ = name.partition(".")
    owner = owner_of(statement, program)
    if dot or not any(root in _names(each) for each in nodes_in(owner, ast.stmt)):
        return True
    if not isinstance(owner, ast.Module) and any(each.arg == root for each in arguments(owner)):
        return True
    return _set_between(program, root, statement, owner)


def may_be_none(program: Program, name: str, statement: ast.stmt) -> bool:
    """Whether a variable is None at a statement unless a condition has given it another value: `net = None` in front of it."""
    if is_set_before(program, name, statement):
        return False
    made = nodes_in(owner_of(statement, program), ast.Assign)
    return any(is_literal(each.value, None) and name in map(ast.unparse, each.targets) for each in made)


def set_in_turn(program: Program, name: ast.Name, loop: ast.AST) -> bool:
    """Whether each turn of a loop gives a variable a value before it comes to where it is read."""
    return _set_between(program, name.id, program.statement(name), loop)


def only_where(program: Program, names: Sequence[ast.Name], loop: ast.stmt) -> list[ast.expr]:
    """The conditions under which alone a loop reads a variable, by all of these names, if it may not be set otherwise."""
    owner = program.owner(names[0]) if names else None
    if not names or (owner is owner_of(loop, program) and is_set_before(program, names[0].id, loop)):
        return []
    if owner is not owner_of(loop, program) and (not isinstance(owner, ast.Module) or _sets(owner.body, names[0].id)):
        return []
    found = [{ast.unparse(each): each for each in _tests(name, loop, program)} for name in names]
    return [test for text, test in found[0].items() if all(text in each for each in found)]


def _tests(node: ast.AST, loop: ast.stmt, program: Program) -> list[ast.expr]:
    """What holds where a node stands in a loop, outermost first."""
    branches = [
        each for each in arms(node, program) if isinstance(each[0], ast.If) and loop in program.ancestors(each[0])
    ]
    return [branch.test if holds else ast.UnaryOp(ast.Not(), branch.test) for branch, holds in reversed(branches)]


def _set_between(program: Program, root: str, statement: ast.stmt, outer: ast.AST) -> bool:
    """Whether each path from the beginning of `outer`, a function or loop, to a statement gives a variable a value."""
    current: ast.AST | None = statement
    while isinstance(current, ast.stmt | ast.ExceptHandler) and current is not outer:
        if isinstance(current, ast.stmt):
            block = block_of(current, program)
            if _sets(block[: block.index(current)], root):
                return True
        if isinstance(current, ast.For | ast.With) and root in _names(current):
            return True
        current = program.parent(current)
    return False


def _sets(block: list[ast.stmt], name: str) -> bool:
    """Whether what comes behind a block finds the variable set: it sets it, or nothing comes behind it."""
    for statement in block:
        if isinstance(statement, _ENDS) or name in _names(statement):
            return True
        if isinstance(statement, ast.If):
            if statement.orelse and _sets(statement.body, name) and _sets(statement.orelse, name):
                return True
        elif isinstance(statement, ast.Try):
            handled = all(_sets(each.body, name) for each in statement.handlers)
            if _sets(statement.finalbody, name) or (handled and _sets([*statement.body, *statement.orelse], name)):
                return True
        elif isinstance(statement, ast.With) and _sets(statement.body, name):
            return True
    return False


def _names(statement: ast.stmt) -> Iterator[str]:
    """The variables that a statement itself gives a value other than None."""
    yield from binds(statement)
    for target in _targets(statement):
        yield from bound_names(target)


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.With):
        return [each.optional_vars for each in statement.items if each.optional_vars is not None]
    nothing = isinstance(statement, ast.Assign | ast.AnnAssign) and (
        statement.value is None or is_literal(statement.value, None)
    )
    return targets_of(statement) if isinstance(statement, ast.For | ast.Assign | ast.AnnAssign) and not nothing else []
