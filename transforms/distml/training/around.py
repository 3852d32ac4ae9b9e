"""What stands around a node: the function or module, the loops whose turns run it, its block, the branches it is in."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from typing import TypeVar, overload

from distml.source.nodes import SCOPES, own_nodes_of, walk
from distml.training.program import Program
from distml.training.syntax import nodes_in
from distml.training.values import Function

Looping = ast.For | ast.AsyncFor | ast.While
LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
_Node = TypeVar("_Node", bound=ast.AST)
_EXITS = re.compile(r"sys\.exit|os\.(_exit|abort)|builtins\.(exit|quit)")
_BLOCKS = ("body", "orelse", "finalbody")


def owner_of(node: ast.AST, program: Program) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Module:
    """The function a node stands in, or the module."""
    return program.function(node) or program.unit(node).tree


@overload
def own_nodes(owner: ast.AST, *, itself: bool = False) -> Iterator[ast.AST]: ...


@overload
def own_nodes(owner: ast.AST, kind: type[_Node], *, itself: bool = False) -> Iterator[_Node]: ...


def own_nodes(owner: ast.AST, kind: type[ast.AST] = ast.AST, *, itself: bool = False) -> Iterator[ast.AST]:
    """The nodes below one, those of functions and classes in it left out, in the order of the text; `itself` too if asked."""
    nodes = own_nodes_of(owner)
    return (each for each in ([owner, *nodes] if itself else nodes) if isinstance(each, kind))


def turns_around(node: ast.AST, program: Program) -> Iterator[Looping | ast.comprehension]:
    """The loops and parts of comprehensions that run a node in each of their turns, in its own function, innermost first.

    What a loop goes through and its `else` are run once.
    """
    for below, above in program.around(node):
        if isinstance(above, SCOPES):
            return
        if isinstance(above, LOOPS) and below is not getattr(above, "iter", None) and below not in above.orelse:
            yield above
        elif isinstance(above, COMPREHENSIONS) and below is above.elt:
            yield from above.generators


def loops_around(node: ast.AST, program: Program) -> Iterator[Looping]:
    """The loops that run a node in each of their turns, in its own function, innermost first."""
    return (each for each in turns_around(node, program) if isinstance(each, LOOPS))


def leaving(loop: ast.AST, program: Program) -> Iterator[ast.If]:
    """The branches within a loop that end it: by `break`, where no loop in it is nearer, by `return`, or with the process."""
    for branch in own_nodes(loop, ast.If):
        breaks = (
            any(isinstance(each, ast.Break) for each in branch.body)
            and next(loops_around(branch, program), None) is loop
        )
        if breaks or any(isinstance(each, ast.Return) or ends_process(each, program) for each in branch.body):
            yield branch


def ends_process(node: ast.AST, program: Program) -> bool:
    """Whether a statement ends the process: `sys.exit()`, `raise SystemExit`."""
    if isinstance(node, ast.Raise) and node.exc is not None:
        return bool(program.names(node.exc) & {"builtins.SystemExit", "builtins.SystemExit()"})
    return isinstance(node, ast.Expr) and is_exit(node.value, program)


def is_exit(node: ast.AST, program: Program) -> bool:
    """Whether a call ends the process."""
    return isinstance(node, ast.Call) and program.matches(node.func, _EXITS)


def arms(node: ast.AST, program: Program) -> Iterator[tuple[ast.If | ast.IfExp, bool]]:
    """The conditions in an arm of which a node stands, innermost first, and whether they hold there."""
    for below, above in program.around(node):
        if isinstance(above, ast.If | ast.IfExp) and below is not above.test:
            yield above, below in above.body if isinstance(above, ast.If) else below is above.body


def returned(function: Function) -> list[ast.expr]:
    """The expressions that a function gives back."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    return [each.value for each in own_nodes(function, ast.Return) if each.value is not None]


def between(node: ast.AST, outer: ast.AST, program: Program) -> Iterator[ast.AST]:
    """What is around a node within another, innermost first."""
    return itertools.takewhile(lambda above: above is not outer, program.ancestors(node))


def block_of(statement: ast.stmt, program: Program) -> list[ast.stmt]:
    """The block a statement stands in."""
    above = program.parent(statement)
    for name in _BLOCKS:
        block = getattr(above, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return [statement]


def last_given(name: ast.Name, program: Program) -> ast.Assign | None:
    """The statement that certainly gave a variable what is read of it here, if one in its block or around it did."""
    statement: ast.AST | None = program.statement(name)
    while isinstance(statement, ast.stmt):
        block = block_of(statement, program)
        for earlier in reversed(block[: block.index(statement)]):
            if isinstance(earlier, ast.Assign) and any(_is_named(each, name.id) for each in earlier.targets):
                return earlier
            if _sets(earlier, name.id):
                return None
        above = program.parent(statement)
        again = isinstance(above, ast.For | ast.While) and _sets(above, name.id)
        statement = above if isinstance(above, ast.If | ast.With | ast.For | ast.While) and not again else None
    return None


def _is_named(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def _sets(node: ast.AST, name: str) -> bool:
    """Whether running something may give a variable another value."""
    if any(name in each.names for each in walk(node) if isinstance(each, ast.Global | ast.Nonlocal)):
        return True
    return any(each.id == name and not isinstance(each.ctx, ast.Load) for each in nodes_in(node, ast.Name))


def whole_branch(statement: ast.stmt, program: Program) -> ast.stmt:
    """The statement behind which another has run, whatever branch was taken: the outermost `if` or `try` around it behind which
    anything runs.
    """
    found = statement
    for above in program.ancestors(statement):
        if isinstance(above, ast.If | ast.Try) and not leaves([above]):
            found = above
        elif isinstance(above, ast.stmt):
            break
    return found


def leaves(block: list[ast.stmt]) -> bool:
    """Whether nothing behind a block is run after it: its last statement leaves, in each of its branches."""
    last = block[-1] if block else None
    if isinstance(last, ast.If):
        return leaves(last.body) and leaves(last.orelse)
    if isinstance(last, ast.Try | ast.TryStar):
        ways = [last.orelse or last.body, *(handler.body for handler in last.handlers)]
        return leaves(last.finalbody) or all(map(leaves, ways))
    if isinstance(last, ast.With | ast.AsyncWith):
        return leaves(last.body)
    return isinstance(last, ast.Return | ast.Raise | ast.Break | ast.Continue)
