"""Projection of expressions: what one party does of an expression, and with what result.

What a party does on the way to a value that it does not hold goes to a list of statements, in the order of the source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from copy import copy
from typing import Any

from distml.choreo.facts import Facts, Invocation, Placed, Transfer
from distml.choreo.model import Module
from distml.choreo.parties import Parties

Body = list[ast.stmt]


class Values:
    """Projects expressions to one role."""

    def __init__(self, module: Module, facts: Facts, role: str, parties: Parties) -> None:
        self.module, self.facts, self.role, self.parties = module, facts, role, parties
        self.spilled = 0

    def here(self, node: ast.expr) -> bool:
        """Whether the value of an expression is at this role."""
        found = self.facts.types.get(node)
        return found is None or found.roles is None or self.role in found.roles

    def value(self, node: ast.expr, out: Body, wanted: bool = True) -> ast.expr | None:
        """The projected expression, `None` where there is no value here; effects go to `out`."""
        fact = self.facts.calls.get(node)
        if isinstance(fact, Transfer):
            found = self._transfer(fact, out, wanted)
        elif isinstance(fact, Invocation) and isinstance(node, ast.Call):
            found = self._invoke(node, fact, out)
        elif isinstance(fact, Placed):
            return self.value(fact.value, out, wanted and self.here(node))
        elif wanted and self.here(node):
            return self._rebuilt(node, out)
        else:
            for child in ast.iter_child_nodes(node):
                self._effects(child, out)
            return None
        if found is not None and not wanted:
            if any(isinstance(each, ast.Call) for each in ast.walk(found)):
                out.append(ast.Expr(found))
            return None
        return found

    def _effects(self, node: ast.AST, out: Body) -> None:
        if isinstance(node, ast.expr):
            self.value(node, out, wanted=False)
        else:
            for child in ast.iter_child_nodes(node):
                self._effects(child, out)

    def _transfer(self, fact: Transfer, out: Body, wanted: bool) -> ast.expr | None:
        if self.role == fact.sender:
            channel, value = self._all([fact.channel, fact.value], out)
            # What both ends hold from now on must be alike at both: the receiver's is a copy.
            word = "select" if fact.is_select else "share" if wanted else "com"
            return ast.Call(ast.Attribute(channel, word), [value], [])
        if self.role == fact.receiver:
            self.value(fact.value, out, wanted=False)
            channel = self._all([fact.channel], out)[0]
            if fact.is_select:
                return ast.Call(ast.Attribute(channel, "select"), [_enum(fact.value)], [])
            return ast.Call(ast.Attribute(channel, "com"), [], self._of(fact.channel))
        return self.value(fact.value, out, wanted)

    def _of(self, channel: ast.expr) -> list[ast.keyword]:
        """The type that a channel is declared with, where the program of a party can say it and it says something."""
        hint = self.facts.types[channel].data
        if hint is None or ast.unparse(hint) in ("object", "Any") or not self.module.at_run_time(hint):
            return []
        return [ast.keyword("of", hint)]

    def _invoke(self, node: ast.Call, fact: Invocation, out: Body) -> ast.expr | None:
        formal = next((mine for mine, actual in fact.roles.items() if actual == self.role), None)
        acts = formal is not None and (
            fact.function is None or _always(fact.target) or self.parties.acts(fact.function, formal)
        )
        if not acts:
            for _, argument, _ in fact.arguments:
                self.value(argument, out, wanted=False)
            return None
        kept: list[tuple[str, bool]] = []
        wanted: list[tuple[ast.expr, bool]] = []
        types = {each.name: each.type.renamed(fact.roles) for each in fact.function.parameters} if fact.function else {}
        receiver = node.func.value if not fact.target and isinstance(node.func, ast.Attribute) else None
        if receiver is not None:
            wanted.append((receiver, True))
        for name, argument, by_name in fact.arguments:
            roles = types[name].roles
            mine = roles is None or self.role in roles
            wanted.append((argument, mine))
            if mine:
                kept.append((name, by_name))
        values = self._sequence(wanted, out)
        if receiver is not None and isinstance(node.func, ast.Attribute):
            function: ast.expr = ast.Attribute(values.pop(0), node.func.attr)
        else:
            name, _, method = fact.target.partition(".")
            function = ast.Name(f"{name}_{formal}")
            function = ast.Attribute(function, method) if method else function
        # An argument that is not here may stand between two that are: those after it are given by position still.
        arguments = [value for (_, by_name), value in zip(kept, values) if not by_name]
        keywords = [ast.keyword(name, value) for (name, by_name), value in zip(kept, values) if by_name]
        call = ast.Call(function, arguments, keywords)
        if not self.here(node):
            out.append(ast.Expr(call))
            return None
        return call

    def _all(self, nodes: Iterable[ast.expr], out: Body) -> list[ast.expr]:
        return self._sequence([(node, True) for node in nodes], out)

    def _sequence(self, nodes: list[tuple[ast.expr, bool]], out: Body) -> list[ast.expr]:
        """Values in order. One that communicates is bound to a name if something must be done after it and before its use."""
        values: list[ast.expr] = []
        for node, wanted in nodes:
            effects: Body = []
            found = self.value(node, effects, wanted)
            if effects:
                for place, earlier in enumerate(values):
                    if any(isinstance(each, ast.Call) for each in ast.walk(earlier)):
                        self.spilled += 1
                        name = f"_{self.spilled}"
                        out.append(ast.Assign([ast.Name(name)], earlier, lineno=0))
                        values[place] = ast.Name(name)
                out += effects
            if found is not None:
                values.append(found)
            elif wanted:
                values.append(ast.Constant(None))
        return values

    def _rebuilt(self, node: ast.expr, out: Body) -> ast.expr:
        places = list(_children(node))
        values = self._all([child for _, _, child in places], out)
        fresh: ast.expr = _replaced(node, dict(zip([id(child) for _, _, child in places], values)))
        return fresh


def _always(target: str) -> bool:
    return bool(target) and "." not in target


def label_of(value: ast.expr) -> ast.expr:
    """The member that a select names, without its place."""
    return value.left if isinstance(value, ast.BinOp) else value


def _enum(value: ast.expr) -> ast.expr:
    label = label_of(value)
    return label.value if isinstance(label, ast.Attribute) else label


def _children(node: ast.AST) -> Iterable[tuple[str, int, ast.expr]]:
    for name, value in ast.iter_fields(node):
        for position, each in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(each, ast.expr):
                yield name, position, each
            elif isinstance(each, ast.keyword | ast.comprehension | ast.arguments):
                yield from _children(each)


def _replaced(node: Any, values: dict[int, ast.expr]) -> Any:
    fresh = copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(fresh, name, [_one(each, values) for each in value])
        else:
            setattr(fresh, name, _one(value, values))
    return fresh


def _one(value: Any, values: dict[int, ast.expr]) -> Any:
    if isinstance(value, ast.keyword | ast.comprehension | ast.arguments):
        return _replaced(value, values)
    return values.get(id(value), value)
