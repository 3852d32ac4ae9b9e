"""Select inference: tells each party that has to know which branch was taken, and was not told.

Works on the text of a choreography, one `if` at a time: the party that decides tells the one that does not know, over a
channel in scope, with a label enum made for the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from distml.choreo.bindings import Origin
from distml.choreo.check import NOWHERE, Checked, check_tree
from distml.choreo.facts import Transfer
from distml.choreo.model import Function, Kind

Fork = ast.If | ast.While | ast.For
MENDED = frozenset({"CHO201", "CHO202", "CHO203", "CHO205", "CHO207"})
ENOUGH = 200
"""Selects that are written for one file at most."""
CHOICE = '\n\nclass Choice(Enum):\n    """Which branch was taken."""\n\n    THEN = "then"\n    ELSE = "else"\n'


def with_selects(text: str, origins: Mapping[str, Origin] = NOWHERE) -> str:
    """The choreography with the missing selects written; unchanged where none can be."""
    for _ in range(ENOUGH):
        better = _one_more(text, origins)
        if better is None:
            break
        text = better
    return text


def _one_more(text: str, origins: Mapping[str, Origin]) -> str | None:
    tree = ast.parse(text)
    checked = check_tree(tree, origins)
    for problem in checked.facts.problems:
        if problem.code in MENDED and isinstance(problem.node, ast.If | ast.While | ast.For):
            found = _channel(checked, problem.message.split(maxsplit=1)[0], problem.node)
            if found is not None:
                return _written(text, tree, problem.node, *found)
    return None


def _channel(checked: Checked, receiver: str, node: Fork) -> tuple[str, str] | None:
    """A channel over which somebody who knows the condition, or was told, reaches the party that does not."""
    told = [{each.receiver for each in _selects(checked, body)} for body in (node.body, node.orelse)]
    if receiver in told[0] | told[1]:
        return None  # told already, in a way that only its author can mend
    condition = node.iter if isinstance(node, ast.For) else node.test
    known = (checked.facts.types[condition].place or frozenset()) | (told[0] & told[1])
    for function in _functions(checked):
        if any(each is node for each in ast.walk(function.node)):
            for text, directed, ends in _channels(checked, function):
                for sender in sorted(known):
                    if ends == (sender, receiver) or (not directed and ends == (receiver, sender)):
                        return text, sender
    return None


def _selects(checked: Checked, body: list[ast.stmt]) -> Iterator[Transfer]:
    for each in body:
        fact = checked.facts.calls.get(each.value) if isinstance(each, ast.Expr) else None
        if isinstance(fact, Transfer) and fact.is_select:
            yield fact


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


def _written(text: str, tree: ast.Module, node: Fork, channel: str, sender: str) -> str:
    lines = text.splitlines()
    for body in (node.orelse, node.body):
        if body and _shares_line(lines, body[0]):
            return _split(lines, body[0], node.col_offset + 4)
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
        lines.insert(_after_selects(node.orelse), margin + other)
    lines.insert(_after_selects(node.body), margin + then)
    if not any(isinstance(each, ast.ClassDef) and each.name == "Choice" for each in tree.body):
        last = max(
            (each.end_lineno or 0 for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)), default=0
        )
        known = any(line.startswith("from enum import") and "Enum" in line for line in lines)
        lines[last:last] = [*([] if known else ["from enum import Enum"]), *CHOICE.splitlines(), "", ""]
    return "\n".join(lines) + "\n"


def _after_selects(body: list[ast.stmt]) -> int:
    """The line before which a select belongs: behind those that the body begins with."""
    for each in body:
        call = each.value if isinstance(each, ast.Expr) else None
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "select"):
            return each.lineno - 1
    return body[-1].end_lineno or body[-1].lineno


def _shares_line(lines: list[str], node: ast.stmt) -> bool:
    before = lines[node.lineno - 1][: node.col_offset].strip()
    return bool(before) and not lines[node.lineno - 1].lstrip().startswith("elif")


def _split(lines: list[str], node: ast.stmt, margin: int) -> str:
    """With a statement that stands behind its `if` or `else` on a line of its own; selects are written in the next round."""
    line = lines[node.lineno - 1]
    lines[node.lineno - 1 : node.lineno] = [line[: node.col_offset].rstrip(), " " * margin + line[node.col_offset :]]
    return "\n".join(lines) + "\n"
