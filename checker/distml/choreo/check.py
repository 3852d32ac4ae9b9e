"""Checks the choreographies of a file: roles first, then whether every party can be projected."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import NamedTuple

from distml.choreo.bindings import Origin, outside, report_unseen, resolve, spoken
from distml.choreo.facts import Facts, Problem
from distml.choreo.mending import mended
from distml.choreo.merge import waits_for_label
from distml.choreo.model import Definition, Function, Module
from distml.choreo.parties import Parties
from distml.choreo.projection import Behavior, ChoiceError
from distml.choreo.read import BASES, last, read
from distml.choreo.statements import check_function
from distml.diagnostics.model import Diagnostic, Related
from distml.source.file import SourceFile

NOWHERE: Mapping[str, Origin] = {}
Bodies = dict[tuple[Function, str], list[ast.stmt]]


class Checked(NamedTuple):
    """A file as checked: `bodies` are the projections, complete where there are no problems."""

    module: Module
    facts: Facts
    parties: Parties
    bodies: Bodies


def check_source(source: SourceFile, origins: Mapping[str, Origin] = NOWHERE) -> tuple[Diagnostic, ...]:
    """The CHO findings of a file, on its data types where nothing else is wrong; `origins` are its names from other files.

    Raises `UnreadableError` where it cannot be parsed.
    """
    from distml.choreo.datatypes import check_types

    checked = check_tree(source.tree, origins)
    found = diagnostics(source, checked)
    abroad = any(each.word or each.what for each in origins.values())
    if found or abroad or not (checked.module.classes or checked.module.functions):
        return found  # to mypy, words from other files are unknown
    return check_types(source, checked.module)


def diagnostics(source: SourceFile, checked: Checked) -> tuple[Diagnostic, ...]:
    """The problems of a checked file as findings, in its order."""
    return tuple(sorted((_diagnostic(source, each) for each in checked.facts.problems), key=lambda each: each.span))


def check_tree(tree: ast.Module, origins: Mapping[str, Origin] = NOWHERE) -> Checked:
    """Check and project every choreography of a file."""
    resolve(tree, origins)
    module, facts = read(tree), Facts()
    module.outside |= outside(origins)
    module.constants |= {name for name, each in origins.items() if not each.word and not each.what}
    module.words |= spoken(tree, origins)
    report_unseen(module, facts)
    functions = [*module.functions.values()]
    functions += [method for each in module.classes.values() for method in each.methods.values()]
    for definition in module.classes.values():
        _header(definition, facts)
        _overrides(module, definition.name, facts)
    for function in functions:
        check_function(function, module, facts)
    parties, bodies = Parties(module, facts), Bodies()
    if not facts.problems:
        for function in functions:
            for role in function.roles:
                if parties.acts(function, role):
                    _project(module, facts, parties, function, role, bodies)
    return Checked(module, facts, parties, bodies)


def _project(module: Module, facts: Facts, parties: Parties, function: Function, role: str, bodies: Bodies) -> None:
    try:
        bodies[function, role] = Behavior(module, facts, role, parties, function).body()
    except ChoiceError as error:
        code, why = _why(error)
        message = f"{error.role} {why}\n{_beside(error)}"
        hint = f"tell {error.role} with `select` at the start of each branch, or send it the condition"
        facts.say(code, error.node, message, hint)


def _why(error: ChoiceError) -> tuple[str, str]:
    left, right = error.left, error.right
    told = [bool(side) and isinstance(side[0], ast.Match) for side in (left, right)]
    if isinstance(error.node, ast.While | ast.For):
        return "CHO207", "acts in this loop, but does not know whether there is another iteration"
    if error.after_label or (all(told) and _subject(left) == _subject(right)):
        return "CHO204", "receives the same label in two branches in which it acts differently"
    if any(told) and not (waits_for_label(left) and waits_for_label(right)):
        return "CHO205", "is told of one branch only"
    if all(told):
        return "CHO202", "is told which branch was taken over different channels or by labels of different enums"
    if waits_for_label(left) or waits_for_label(right):
        return "CHO203", "acts before it is told which branch was taken"
    leaves = [bool(side) and isinstance(side[0], ast.Return | ast.Break | ast.Continue) for side in (left, right)]
    if left and right and leaves[0] == leaves[1]:
        return "CHO202", "acts differently in two branches and is not told which was taken"
    return "CHO201", "acts in one branch only and is not told which was taken"


def _subject(body: list[ast.stmt]) -> str:
    """What a party that is told listens to: a channel, and the enum of the labels."""
    return ast.dump(body[0].subject) if isinstance(body[0], ast.Match) else ""


def _beside(error: ChoiceError) -> str:
    left, right = (_shown(side) for side in (error.left, error.right))
    width = max(map(len, left))
    rows = max(len(left), len(right))
    left += [""] * (rows - len(left))
    right += [""] * (rows - len(right))
    return "\n".join(f"    {one:<{width}} | {other}".rstrip() for one, other in zip(left, right))


def _shown(body: list[ast.stmt], limit: int = 6) -> list[str]:
    lines = [line for each in body for line in ast.unparse(ast.fix_missing_locations(each)).splitlines()]
    lines = lines or ["(nothing)"]
    return lines if len(lines) <= limit else [*lines[: limit - 1], "..."]


def _header(definition: Definition, facts: Facts) -> None:
    """What the bases of a class say of its roles."""
    for base in definition.node.bases:
        if isinstance(base, ast.Subscript) and last(base.value) in BASES:
            count, given = last(base.value)[2:], len(definition.roles)
            if count and int(count) != given:
                facts.say("CHO107", base, f"Ch{count} has {count} roles, but {given} are given")
            for role in {role for role in definition.roles if definition.roles.count(role) > 1}:
                facts.say("CHO105", base, f"{role} is listed twice")


def _overrides(module: Module, name: str, facts: Facts) -> None:
    definition = module.classes[name]
    for base, roles in definition.bases:
        if base not in module.classes:
            continue
        parent = module.classes[base]
        if len(roles) != len(parent.roles):
            facts.say("CHO107", definition.node, f"{base} has {len(parent.roles)} roles, but {len(roles)} are given")
        given = dict(zip(parent.roles, roles))
        for method in definition.methods.values():
            known = parent.methods.get(method.node.name)
            if known is None or method.node.name == "__init__":
                continue
            ours = [each.type.roles for each in method.parameters[1:]] + [method.returns and method.returns.roles]
            theirs = [each.type.renamed(given).roles for each in known.parameters[1:]]
            theirs.append(known.returns.renamed(given).roles if known.returns else None)
            if ours != theirs:
                message = f"`{method.node.name}` has different roles from the method of {base} that it overrides"
                facts.say("CHO112", method.node, message, None, (("that one", known.node),))


def _diagnostic(source: SourceFile, problem: Problem) -> Diagnostic:
    node = problem.node
    related = tuple(Related(text, source.span(where)) for text, where in problem.related)  # type: ignore[arg-type]
    span = source.span(node)  # type: ignore[arg-type]
    if isinstance(node, ast.stmt) and hasattr(node, "body"):
        first = source.lines[span.line - 1]
        span = span._replace(end_line=span.line, end_column=len(first.rstrip()) + 1)
    fix = problem.mend and mended(source, problem.mend)
    return Diagnostic(problem.code, problem.message, span, related, problem.hint, fix)
