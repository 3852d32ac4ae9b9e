"""Which assignments reach a use of a variable: the order of statements, which points-to analysis leaves out.

Pipelines are built by assigning to one name again and again (`ds = ds.map(f)`); where to change one depends on which of
these assignments a use reads. Where control flow leaves several, all are given; nothing means nobody knows.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from distml.training.around import own_nodes
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.syntax import closure, nodes_in
from distml.training.unit import Unit
from distml.training.values import Function, Instance, Module, Values

_CONDITIONAL = (ast.If, ast.Try, ast.For, ast.While, ast.Match)


class Origin(NamedTuple):
    """An assignment to a name or attribute: the statement, the expression it takes its value from, and by which target.

    `whole` tells whether the target takes all of the value, not an item of it.
    """

    statement: ast.stmt
    value: ast.expr
    target: ast.expr
    whole: bool


def origins(use: ast.expr, program: Program) -> list[Origin]:
    """The assignments whose value a name or attribute can have where it is read."""
    if isinstance(use, ast.Name):
        owner = program.owner(use)
        return _of_name(use, owner, program) if owner is not None else []
    if isinstance(use, ast.Attribute):
        return _of_attribute(use, program)
    return []


def wholes(use: ast.expr, program: Program) -> list[ast.expr]:
    """The expressions that these assignments give a name or attribute as a whole."""
    return [each.value for each in origins(use, program) if each.whole]


def values_at(use: ast.expr, program: Program) -> Values:
    """What a variable can hold by the assignments that reach this use of it; else whatever it holds anywhere."""
    found = origins(use, program)
    if found and all(each.whole for each in found):
        return frozenset(value for each in found for value in program.of(each.value))
    return program.of(use)


def computed_from(nodes: Iterable[ast.expr], program: Program) -> list[ast.expr]:
    """Expressions and those that the variables in them were assigned, back to where nothing more is known."""

    def behind(node: ast.expr) -> Iterator[ast.expr]:
        loads = (each for each in nodes_in(node, ast.Name) if isinstance(each.ctx, ast.Load))
        return (origin.value for each in loads for origin in origins(each, program))

    return [*closure(nodes, behind)]


def parameter(use: ast.Name, program: Program) -> Function | None:
    """The function whose parameter a name is, if nothing assigns to it before it is read."""
    owner = program.owner(use)
    if not isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return None
    args = owner.args
    named = {each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    return owner if use.id in named else None


def _of_name(use: ast.Name, owner: ast.AST, program: Program) -> list[Origin]:
    unit = program.unit(use)
    found = _assignments(owner, unit).get(use.id, [])
    if unit.lexical.scope(use) is not owner:
        found = _before_calls(found, use, owner, program)
        return _last(found, None, program) or _imported(use, owner, unit, program)
    before = [each for each in found if _ends(each.statement) < (use.lineno, use.col_offset)]
    is_parameter = parameter(use, program) is not None
    if before:
        return _last(before, use, program)
    return [] if is_parameter else _last(found, None, program) or _imported(use, owner, unit, program)


def _before_calls(found: list[Origin], use: ast.Name, owner: ast.AST, program: Program) -> list[Origin]:
    """Of the assignments of an outer scope, those in front of the last call that leads to a use in a function."""
    if len(found) < 2:
        return found

    def inside(call: ast.Call) -> bool:
        return program.unit(call).lexical.scope(call) is owner

    def leading(function: ast.AST | None) -> Iterator[ast.AST | None]:
        return (program.function(call) for call in program.calling(function) if not inside(call))

    functions = closure([program.function(use)], leading)
    lines = [call.lineno for each in functions for call in program.calling(each) if inside(call)]
    before = [each for each in found if lines and each.statement.lineno <= max(lines)]
    return before or found


def _ends(statement: ast.stmt) -> tuple[int, int]:
    return (statement.end_lineno or statement.lineno, statement.end_col_offset or 0)


def _last(found: list[Origin], use: ast.expr | None, program: Program) -> list[Origin]:
    """The last assignment, and those before it that it may leave in force."""
    around = set(program.ancestors(use)) if use is not None else set()
    kept: list[Origin] = []
    for each in reversed(found):
        if use is not None and _other_arm(each.statement, use, program):
            continue
        kept.append(each)
        conditional = [a for a in program.ancestors(each.statement) if isinstance(a, _CONDITIONAL)]
        if all(above in around for above in conditional):
            break
    return kept


def _other_arm(statement: ast.stmt, use: ast.expr, program: Program) -> bool:
    """Whether a statement stands in the arm of an `if` that is not taken where something is read, in no loop around both."""
    arms = {above: below for below, above in program.around(use) if isinstance(above, ast.If)}
    for below, above in program.around(statement):
        if isinstance(above, ast.For | ast.While) and any(each is above for each in program.ancestors(use)):
            return False
        if above in arms and {below in above.body, arms[above] in above.body} == {True, False}:
            looped = any(isinstance(each, ast.For | ast.While) for each in program.ancestors(above))
            return not looped and (below in above.orelse or arms[above] in above.orelse)
    return False


@remembered
def _assignments(owner: ast.AST, unit: Unit) -> dict[str, list[Origin]]:
    """The assignments to each name of a scope, in the order they are written."""
    found: dict[str, list[Origin]] = {}
    for origin in sorted(
        (o for node in own_nodes(owner, ast.stmt) for o in _made(node)), key=lambda each: _ends(each.statement)
    ):
        if isinstance(origin.target, ast.Name):
            found.setdefault(origin.target.id, []).append(origin)
    return found


def _made(statement: ast.stmt) -> Iterator[Origin]:
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from _bound(statement, target, statement.value, True)
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        yield Origin(statement, statement.value, statement.target, True)


def _bound(statement: ast.stmt, target: ast.expr, value: ast.expr, whole: bool) -> Iterator[Origin]:
    """What an assignment gives to each of its targets; tuples of equal length are taken apart."""
    if not isinstance(target, ast.Tuple | ast.List):
        yield Origin(statement, value, target, whole)
        return
    same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
    for number, element in enumerate(target.elts):
        if same and whole:
            assert isinstance(value, ast.Tuple | ast.List)
            yield from _bound(statement, element, value.elts[number], True)
        else:
            yield from _bound(statement, element, value, False)


def _of_attribute(use: ast.Attribute, program: Program) -> list[Origin]:
    owners = program.of(use.value)
    found: list[Origin] = []
    for owner in owners:
        if isinstance(owner, Module):
            unit = program.units.get(owner.source.location)
            found += [] if unit is None else _top(unit, use.attr, program)
        elif isinstance(owner, Instance):
            found += _of_instance(owner, use, program)
    return found


def _of_instance(owner: Instance, use: ast.Attribute, program: Program) -> list[Origin]:
    """The assignments to an attribute of an object that methods of its class may leave in force; in its own, up to its use."""
    classes = {base.node for base in program.lineage(owner.type) if hasattr(base, "node")}
    methods: dict[ast.AST | None, list[Origin]] = {}
    for each in _attributes(program).get(use.attr, ()):
        if _is_of(each.target, classes, program):
            methods.setdefault(program.function(each.statement), []).append(each)
    found: list[Origin] = []
    for method, given in methods.items():
        own = method is program.function(use)
        before = [each for each in given if _ends(each.statement) < (use.lineno, use.col_offset)] if own else []
        ordered = sorted(before or given, key=lambda each: _ends(each.statement))
        found += _last(ordered, use if before else None, program)
    return found


@remembered
def _attributes(program: Program) -> dict[str, list[Origin]]:
    """The assignments to attributes of each name."""
    found: dict[str, list[Origin]] = {}
    nodes = program.nodes(ast.stmt)
    for origin in (each for node in nodes for each in _made(node)):
        if isinstance(origin.target, ast.Attribute):
            found.setdefault(origin.target.attr, []).append(origin)
    return found


def _is_of(target: ast.expr, classes: Container[ast.AST | None], program: Program) -> bool:
    """Whether an assignment to an attribute is one to objects of these classes."""
    assert isinstance(target, ast.Attribute)
    return any(isinstance(each, Instance) and each.type.node in classes for each in program.of(target.value))


def _top(unit: Unit, name: str, program: Program) -> list[Origin]:
    return _last(_assignments(unit.tree, unit).get(name, []), None, program)


def _imported(use: ast.Name, owner: ast.AST, unit: Unit, program: Program) -> list[Origin]:
    """What the module of the program that a name is imported from assigns to it."""
    if use.id not in _imports(owner, unit):
        return []
    node, name = _imports(owner, unit)[use.id]
    modules = program.module_of(unit, node.module or "", node.level)
    units = [program.units.get(each.source.location) for each in modules if isinstance(each, Module)]
    return [found for other in units if other for found in _top(other, name, program)]


@remembered
def _imports(owner: ast.AST, unit: Unit) -> dict[str, tuple[ast.ImportFrom, str]]:
    """The first import of each name in a scope, and what the name is called where it comes from."""
    found: dict[str, tuple[ast.ImportFrom, str]] = {}
    for node in nodes_in(owner, ast.ImportFrom):
        for alias in node.names:
            found.setdefault(alias.asname or alias.name, (node, alias.name))
    return found
