"""Who takes part in a choreography function: only they have a projection of it that does anything."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from distml.choreo.facts import Facts, Invocation, Transfer
from distml.choreo.model import Function, Kind, Module
from distml.choreo.read import roles_in


class Parties:
    """Answers which roles act where, once all functions are checked."""

    def __init__(self, module: Module, facts: Facts) -> None:
        self.module, self.facts = module, facts
        self._known: dict[tuple[str, str], bool] = {}

    def acts(self, function: Function, role: str) -> bool:
        """Whether `role` does anything in a method, or in one that overrides it."""
        key = (function.node.name, role)
        if function.owner is None:
            return True
        if key not in self._known:
            self._known[key] = False  # for recursion
            self._known[key] = any(self._takes_part(each, role) for each in self._namesakes(function, role))
        return self._known[key]

    def _namesakes(self, function: Function, role: str) -> list[Function]:
        found = (owner.methods.get(function.node.name) for owner in self.module.classes.values())
        return [each for each in found if each is not None and role in each.roles]

    def _takes_part(self, function: Function, role: str) -> bool:
        hints = [each.node.annotation for each in function.parameters] + [function.node.returns]
        placed = [list(roles_in(hint)) for hint in hints]
        if any(role in each for each in placed):
            return True
        return self.involved(function.node.body, role, returns=False)

    def involved(self, body: Iterable[ast.stmt], role: str, returns: bool = True) -> bool:
        """Whether `role` does anything in these statements."""
        return any(self._in(node, role, returns) for each in body for node in ast.walk(each))

    def _in(self, node: ast.AST, role: str, returns: bool) -> bool:
        if isinstance(node, ast.Return):
            return returns
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Delete):
            targets = [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else node.targets
            return any(self._at(target, role) for target in targets)
        if isinstance(node, ast.Expr):
            return not isinstance(node.value, ast.Constant) and self._at(node.value, role)
        if isinstance(node, ast.Call):
            fact = self.facts.calls.get(node)
            if isinstance(fact, Transfer):
                return role in (fact.sender, fact.receiver)
            if isinstance(fact, Invocation):
                formal = next((mine for mine, actual in fact.roles.items() if actual == role), None)
                return formal is not None and (fact.function is None or self.acts(fact.function, formal))
        return False

    def _at(self, node: ast.expr, role: str) -> bool:
        found = self.facts.types.get(node)
        if found is not None and found.kind is Kind.DATA and found.roles is None:
            return True
        return found is not None and found.roles is not None and role in found.roles
