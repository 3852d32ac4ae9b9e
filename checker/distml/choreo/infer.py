"""Select inference: tells each party that has to know which branch was taken, and was not told.

Works on the text of a choreography, one `if` at a time: the party that decides tells the one that does not know, over a
channel in scope, with a label enum made for the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.choreo.check import Checked, check_tree
from distml.choreo.facts import Problem
from distml.choreo.model import Function, Kind

ENOUGH = 200
"""Selects that are written for one file at most."""
CHOICE = '\n\nclass Choice(Enum):\n    """Which branch was taken."""\n\n    THEN = "then"\n    ELSE = "else"\n'


def with_selects(text: str) -> str:
    """The choreography with the missing selects written; unchanged where none can be."""
    for _ in range(ENOUGH):
        better = _one_more(text)
        if better is None:
            break
        text = better
    return text


def _one_more(text: str) -> str | None:
    tree = ast.parse(text)
    checked = check_tree(tree)
    for problem in checked.facts.problems:
        if problem.code in ("CHO201", "CHO202", "CHO205") and isinstance(problem.node, ast.If):
            found = _channel(checked, problem, problem.node)
            if found is not None:
                return _written(text, tree, problem.node, *found)
    return None


def _channel(checked: Checked, problem: Problem, node: ast.If) -> tuple[str, str] | None:
    """A channel over which somebody who knows the condition reaches the party that does not."""
    receiver = problem.message.split(maxsplit=1)[0]
    known = checked.facts.types[node.test].place or frozenset()
    for function in _functions(checked):
        if any(each is node for each in ast.walk(function.node)):
            for text, directed, ends in _channels(checked, function):
                for sender in sorted(known):
                    if ends == (sender, receiver) or (not directed and ends == (receiver, sender)):
                        return text, sender
    return None


def _functions(checked: Checked) -> Iterator[Function]:
    yield from checked.module.functions.values()
    for definition in checked.module.classes.values():
        yield from definition.methods.values()


def _channels(checked: Checked, function: Function) -> Iterator[tuple[str, bool, tuple[str, ...]]]:
    for each in function.parameters:
        if each.type.kind is Kind.CHANNEL:
            yield each.name, each.type.name == "DiChannel", each.type.roles or ()
    if function.owner is not None:
        for name, kind in function.owner.fields.items():
            if kind.kind is Kind.CHANNEL:
                yield f"self.{name}", kind.name == "DiChannel", kind.roles or ()


def _written(text: str, tree: ast.Module, node: ast.If, channel: str, sender: str) -> str:
    lines = text.splitlines()
    then, other = (f"{channel}.select(Choice.{label} @ {sender}())" for label in ("THEN", "ELSE"))
    margin = " " * node.body[0].col_offset
    if not node.orelse:
        end = node.end_lineno or node.lineno
        lines[end:end] = [f"{' ' * node.col_offset}else:", margin + other]
    elif isinstance(node.orelse[0], ast.If) and lines[node.orelse[0].lineno - 1].lstrip().startswith("elif"):
        first = node.orelse[0].lineno - 1
        end = node.end_lineno or node.lineno
        nested = [f"    {line}" for line in lines[first:end]]
        nested[0] = nested[0].replace("elif", "if", 1)
        lines[first:end] = [f"{' ' * node.col_offset}else:", margin + other, *nested]
    else:
        lines.insert(node.orelse[0].lineno - 1, margin + other)
    lines.insert(node.body[0].lineno - 1, margin + then)
    if not any(isinstance(each, ast.ClassDef) and each.name == "Choice" for each in tree.body):
        last = max(
            (each.end_lineno or 0 for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)), default=0
        )
        lines[last:last] = ["from enum import Enum", *CHOICE.splitlines()]
    return "\n".join(lines) + "\n"
