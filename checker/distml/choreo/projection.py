"""Projection of statements: the behavior of one party of one choreography function.

The rules are those of PyChoral, made complete: a party that knows a condition branches itself; any other merges the
branches, and waits for a label where they differ. What follows a branch that may return is projected with each branch.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from distml.choreo.behavior import Values, label_of
from distml.choreo.facts import Facts, Transfer
from distml.choreo.merge import MergeError, merge
from distml.choreo.model import Function, Kind, Located, Module
from distml.choreo.parties import Parties
from distml.choreo.read import takes_everything

Body = list[ast.stmt]
ABRUPT = (ast.Return, ast.Raise, ast.Break, ast.Continue)


class ChoiceError(Exception):
    """A party that acts differently in two branches without knowing which was taken."""

    def __init__(self, node: ast.stmt, role: str, error: MergeError) -> None:
        super().__init__("choice")
        self.node, self.role, self.left, self.right = node, role, error.left, error.right
        self.after_label = error.after_label


class Behavior(Values):
    """Projects one function to one role."""

    def __init__(self, module: Module, facts: Facts, role: str, parties: Parties, function: Function) -> None:
        super().__init__(module, facts, role, parties)
        self.function = function

    def body(self) -> Body:
        """The statements of the projected function. Raises `ChoiceError`."""
        return self.block(self.function.node.body, tail=True)

    def block(self, body: Sequence[ast.stmt], tail: bool = False) -> Body:
        """Statements that are run one after the other; with `tail`, nothing of the function comes after them."""
        found: Body = []
        for position, node in enumerate(body):
            rest = body[position + 1 :]
            last = tail and not rest
            if isinstance(node, ast.Expr) and self._is_told(node):
                found += self._choice(node, rest, tail)
                break
            if isinstance(node, ast.If | ast.Match) and rest and not self._knows(node) and _exits(node):
                found += self._merged(node, rest, tail)
                break
            found += self._statement(node, last)
            if isinstance(node, ABRUPT):
                break
        while tail and found and isinstance(found[-1], ast.Return) and found[-1].value is None:
            found.pop()
        return [each for each in found if not isinstance(each, ast.Pass)]

    def _statement(self, node: ast.stmt, tail: bool) -> Body:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        out: Body = []
        projected = method(node, out, tail) if method is not None else node
        if isinstance(projected, ast.stmt):
            out.append(ast.copy_location(projected, node))
        return out

    def _is_told(self, node: ast.Expr) -> bool:
        fact = self.facts.calls.get(node.value)
        return isinstance(fact, Transfer) and fact.is_select and fact.receiver == self.role

    def _choice(self, node: ast.Expr, rest: Sequence[ast.stmt], tail: bool) -> Body:
        fact = self.facts.calls[node.value]
        assert isinstance(fact, Transfer)
        out: Body = []
        subject = self._all([node.value], out)[0]
        case = ast.match_case(ast.MatchValue(label_of(fact.value)), None, self.block(rest, tail) or [ast.Pass()])
        return [*out, ast.copy_location(ast.Match(subject, [case]), node)]

    def _knows(self, node: ast.If | ast.Match) -> bool:
        return self.here(node.test if isinstance(node, ast.If) else node.subject)

    def _merged(self, node: ast.If | ast.Match, rest: Sequence[ast.stmt], tail: bool) -> Body:
        """One behavior for all branches, each with what follows them."""
        out: Body = []
        self.value(node.test if isinstance(node, ast.If) else node.subject, out, wanted=False)
        branches = [self.block([*branch, *rest], tail) for branch in _branches(node)]
        found = branches[0]
        for branch in branches[1:]:
            found = self._merge(node, found, branch)
        return out + found

    def _merge(self, node: ast.stmt, left: Body, right: Body) -> Body:
        try:
            return merge(left, right)
        except MergeError as error:
            raise ChoiceError(node, self.role, error) from None

    def _if(self, node: ast.If, out: Body, tail: bool) -> ast.stmt | None:
        if not self._knows(node):
            out += self._merged(node, (), tail)
            return None
        test = self._all([node.test], out)[0]
        body, orelse = self.block(node.body, tail), self.block(node.orelse, tail)
        if not body and not orelse:
            return ast.Expr(test) if _calls(test) else None
        return ast.If(test, body or [ast.Pass()], orelse)

    def _match(self, node: ast.Match, out: Body, tail: bool) -> ast.stmt | None:
        if not self._knows(node):
            out += self._merged(node, (), tail)
            return None
        subject = self._all([node.subject], out)[0]
        cases = [ast.match_case(c.pattern, c.guard, self.block(c.body, tail) or [ast.Pass()]) for c in node.cases]
        return ast.Match(subject, cases)

    def _while(self, node: ast.While, out: Body, tail: bool) -> ast.stmt | None:
        if not self.parties.involved([node], self.role) and not (self.here(node.test) and _calls(node.test)):
            return None
        before: Body = []
        if not self.here(node.test):
            self.value(node.test, before, wanted=False)
            return self._told_loop(node, before, out)
        test = self._all([node.test], before)[0]
        body, orelse = self.block(node.body), self.block(node.orelse)
        if not before:
            return ast.While(test, body or [ast.Pass()], orelse)
        leave = ast.If(ast.UnaryOp(ast.Not(), test), [*orelse, ast.Break()], [])
        return ast.While(ast.Constant(True), [*before, leave, *body], [])

    def _told_loop(self, node: ast.While | ast.For, before: Body, out: Body) -> ast.stmt | None:
        """A loop whose end this party learns by a label, or of whose turns it has none."""
        turn, end = self.block(node.body), [*self.block(node.orelse), ast.Break()]
        if not turn and not before:
            out += end[:-1]
            return None
        if end[0] is not end[-1] and isinstance(end[0], ast.Match):
            end = [_leaving(end[0])]
        return ast.While(ast.Constant(True), [*before, *self._merge(node, turn, end)], [])

    def _for(self, node: ast.For, out: Body, tail: bool) -> ast.stmt | None:
        if not self.parties.involved([node], self.role):
            self.value(node.iter, out, wanted=False)
            return None
        if not self.here(node.iter):
            self.value(node.iter, out, wanted=False)
            return self._told_loop(node, [], out)
        items = self._all([node.iter], out)[0]
        return ast.For(node.target, items, self.block(node.body) or [ast.Pass()], self.block(node.orelse), lineno=0)

    def _with(self, node: ast.With, out: Body, tail: bool) -> ast.stmt | None:
        kept = []
        for item in node.items:
            found = self.value(item.context_expr, out, wanted=self.here(item.context_expr))
            if found is not None:
                kept.append(ast.withitem(found, item.optional_vars))
        body = self.block(node.body, tail and not kept)
        if not kept:
            out += body
            return None
        return ast.With(kept, body or [ast.Pass()], lineno=0)

    def _try(self, node: ast.Try, out: Body, tail: bool) -> ast.stmt | None:
        body = self.block(node.body)
        handlers = [ast.ExceptHandler(h.type, h.name, self.block(h.body) or [ast.Pass()]) for h in node.handlers]
        orelse, final = self.block(node.orelse), self.block(node.finalbody)
        if not body or not (handlers or final):
            out += [*body, *orelse, *final]
            return None
        return ast.Try(body, handlers, orelse, final)

    def _assign(self, node: ast.Assign, out: Body, tail: bool) -> ast.stmt | None:
        targets = [self._target(target) for target in node.targets if self.here(target)]
        if not targets:
            self.value(node.value, out, wanted=False)
            return None
        return ast.Assign(targets, self._all([node.value], out)[0], lineno=0)

    def _target(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Subscript | ast.Attribute):
            return self._rebuilt(node, [])
        return node

    def _annassign(self, node: ast.AnnAssign, out: Body, tail: bool) -> ast.stmt | None:
        found = self.facts.types.get(node.target)
        if found is None or not self.here(node.target):
            if node.value is not None:
                self.value(node.value, out, wanted=False)
            return None
        value = self._all([node.value], out)[0] if node.value is not None else None
        return ast.AnnAssign(node.target, type_of(found, self.role, self.module), value, node.simple)

    def _augassign(self, node: ast.AugAssign, out: Body, tail: bool) -> ast.stmt | None:
        if not self.here(node.target):
            self.value(node.value, out, wanted=False)
            return None
        return ast.AugAssign(self._target(node.target), node.op, self._all([node.value], out)[0])  # type: ignore[arg-type]

    def _expr(self, node: ast.Expr, out: Body, tail: bool) -> ast.stmt | None:
        if isinstance(node.value, ast.Constant):
            return None if node.value.value is ... else node
        found = self.value(node.value, out, wanted=not isinstance(self.facts.calls.get(node.value), Transfer))
        return ast.Expr(found) if found is not None and _calls(found) else None

    def _return(self, node: ast.Return, out: Body, tail: bool) -> ast.stmt:
        wanted = self.function.returns
        if node.value is None:
            return ast.Return()
        if wanted is None or (wanted.roles is not None and self.role not in wanted.roles):
            return ast.Return(self.value(node.value, out, wanted=False))
        value = self._all([node.value], out)[0]
        if _received(value):
            # What is received has any type; the name gives it the one that was promised.
            name = ast.Name("received_")
            out.append(ast.AnnAssign(name, type_of(wanted, self.role, self.module), value, 1))
            value = name
        return ast.Return(value)

    def _raise(self, node: ast.Raise, out: Body, tail: bool) -> ast.stmt:
        if node.exc is None or self.here(node.exc):
            return ast.Raise(*(each and self._all([each], out)[0] for each in (node.exc, node.cause)))
        place = self.facts.types[node.exc].roles or ()
        return ast.Raise(ast.Call(ast.Name("ChoreographyError"), [ast.Constant(f"stopped by {place[0]}")], []))

    def _assert(self, node: ast.Assert, out: Body, tail: bool) -> ast.stmt | None:
        if self.here(node.test):
            return ast.Assert(self._all([node.test], out)[0], node.msg)
        self.value(node.test, out, wanted=False)
        return None

    def _delete(self, node: ast.Delete, out: Body, tail: bool) -> ast.stmt | None:
        return ast.Delete([t for t in node.targets if self.here(t)]) if any(map(self.here, node.targets)) else None

    def _functiondef(self, node: ast.FunctionDef, out: Body, tail: bool) -> ast.stmt | None:
        found = self.facts.types.get(node.args)  # type: ignore[call-overload]
        return node if found is None or found.roles is None or self.role in found.roles else None


def type_of(found: Located, role: str, module: Module) -> ast.expr:
    """The annotation of a value in the program of one party."""
    if found.kind is Kind.CHANNEL:
        if found.name == "Channel":
            return ast.Name("ChannelEnd")
        return ast.Name("SendEnd" if found.roles and found.roles[0] == role else "ReceiveEnd")
    if found.kind is Kind.OBJECT:
        formal = dict(zip(found.roles or (), module.classes[found.name].roles)).get(role, role)
        return ast.Name(f"{found.name}_{formal}")
    return found.data if found.data is not None else ast.Name("Any")


def _received(node: ast.expr) -> bool:
    """Whether what is received decides the type of an expression."""
    if isinstance(node, ast.Call):
        function = node.func
        return isinstance(function, ast.Attribute) and (function.attr in ("com", "share") or _received(function.value))
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.IfExp | ast.Attribute | ast.Subscript):
        return any(_received(each) for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
    return False


def _leaving(choice: ast.Match) -> ast.Match:
    cases = [ast.match_case(c.pattern, c.guard, [*_real(c.body), ast.Break()]) for c in choice.cases]
    return ast.Match(choice.subject, cases)


def _real(body: Body) -> Body:
    return [each for each in body if not isinstance(each, ast.Pass)]


def _branches(node: ast.If | ast.Match) -> list[list[ast.stmt]]:
    if isinstance(node, ast.If):
        return [node.body, node.orelse]
    bodies = [case.body for case in node.cases]
    if not any(takes_everything(case) for case in node.cases):
        bodies.append([])
    return bodies


def _exits(node: ast.stmt) -> bool:
    return any(isinstance(each, ABRUPT) for each in ast.walk(node))


def _calls(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Call) for each in ast.walk(node))
