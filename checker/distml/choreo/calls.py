"""Calls in a choreography: communication, selection, other choreographies, and local code."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.choreo.changes import changed
from distml.choreo.facts import Facts, Invocation, Mend, Transfer, names
from distml.choreo.model import EVERYWHERE, Function, Kind, Located, Module
from distml.choreo.read import dotted, is_static, last, parts_of

if TYPE_CHECKING:
    from distml.choreo.expressions import Scope
    from distml.choreo.kinds import Hint
    from distml.choreo.purity import Purity


class Calls:
    """The half of the expression checker that knows calls."""

    module: Module
    facts: Facts
    scope: Scope
    called: dict[ast.expr, list[Hint] | None]
    """Functions that are judged with a call, and the types of the arguments that it calls them with."""

    if TYPE_CHECKING:

        @property
        def purity(self) -> Purity: ...

        def check(self, node: ast.expr) -> Located: ...
        def wanted(self, node: ast.expr, target: Located, code: str, what: str) -> Located: ...
        def meet(
            self, node: ast.expr, operands: list[ast.expr], checked: frozenset[ast.expr] = frozenset()
        ) -> Located: ...
        def settle(self, node: ast.expr, place: frozenset[str] | None) -> None: ...
        def unchanged(self, node: ast.expr, place: frozenset[str] | None) -> None: ...
        def whole(self, node: ast.AST, target: ast.expr, held: Located, place: frozenset[str] | None) -> None: ...

    def communicates(self, call: ast.Call) -> bool:
        """Whether a call may send something: over a channel, or by calling a choreography."""
        if isinstance(call.func, ast.Attribute):
            base = self.check(call.func.value)
            return base.kind is Kind.CHANNEL or (
                base.kind is Kind.OBJECT and self.module.method_of(base, call.func.attr) is not None
            )
        name = last(call.func.value if isinstance(call.func, ast.Subscript) else call.func)
        return name in self.module.functions or name in self.module.classes

    def _call(self, node: ast.Call) -> Located:
        function = node.func
        name = dotted(function.value if isinstance(function, ast.Subscript) else function)
        if name in self.module.outside:
            message = f"`{name}` is {self.module.outside[name]}: a choreography is not followed from file to file"
            self.facts.say("CHO402", node, message, "write choreographies that call each other in one file")
            return Located(Kind.DATA, None)
        if isinstance(function, ast.Attribute):
            if last(function.value) == "super" and isinstance(function.value, ast.Call):
                return self._super(node, function)
            if isinstance(function.value, ast.Name) and function.value.id in self.module.classes:
                return self._static(node, function, function.value.id)
            base = self.check(function.value)
            if base.kind is Kind.CHANNEL:
                return self._transfer(node, function, base)
            if base.kind is Kind.OBJECT:
                return self._method(node, function, base)
        named = function.value if isinstance(function, ast.Subscript) else function
        if isinstance(named, ast.Name) and named.id in self.module.classes:
            return self._construct(node, named.id)
        if isinstance(named, ast.Name) and named.id in self.module.functions:
            called = self.module.functions[named.id]
            roles = self._infer(node, called, called.roles, {})
            return self._invoke(node, called.node.name, called, roles)
        return self._local(node)

    def _transfer(self, node: ast.Call, function: ast.Attribute, channel: Located) -> Located:
        first, second = (channel.roles or ("", ""))[:2]
        if function.attr not in ("com", "select") or len(node.args) != 1 or node.keywords:
            self.facts.say("CHO208", node, "a channel has `com(value)` and `select(Label.NAME @ Role())`")
            return EVERYWHERE
        value = node.args[0]
        found = self.check(value)
        if function.attr == "select" and not _is_label(value):
            self.facts.say("CHO208", node, "select takes one member of an Enum, written out: `Label.NAME @ Role()`")
        sender = self._sender(node, channel, found)
        if sender is None:
            return Located(Kind.DATA, (second,))
        self.settle(value, frozenset((sender,)) if found.roles is None or found.loose else found.place)
        self.unchanged(value, frozenset((sender,)))
        receiver = second if sender == first else first
        select = function.attr == "select"
        self.facts.calls[node] = Transfer(function.value, sender, receiver, value, select)
        also = frozenset(found.roles or (sender,)) | {sender}
        return Located(Kind.DATA, (receiver,), also=also)

    def _sender(self, node: ast.Call, channel: Located, value: Located) -> str | None:
        first, second = (channel.roles or ("", ""))[:2]
        known = value.known
        if value.kind is not Kind.DATA:
            self.facts.say("CHO302", node, "only data can be sent over a channel, not channels or choreographies")
        elif known is None or value.loose:
            if channel.name == "DiChannel":
                return first
            hint = f"write `value @ {first}()` or `value @ {second}()`"
            self.facts.say("CHO108", node, f"this value is at no role: {first} or {second} could send it", hint)
        elif channel.name == "DiChannel" and first not in known and second in known:
            self.facts.say("CHO301", node, f"this channel goes from {first} to {second}, the value is at {second}")
        elif not known & {first, second}:
            message = f"the channel is between {first} and {second}, the value is at {names(value.roles)}"
            self.facts.say("CHO302", node, message)
        elif (value.place or frozenset()) >= {first, second}:
            between_all = set(self.scope.everyone) == {first, second}  # else it may have been meant for a third party
            mend = Mend("use the value without sending it", node, node.args[0]) if between_all else None
            self.facts.say("CHO303", node, f"{first} and {second} both hold this value already", mend=mend)
        else:
            return first if first in (value.place or known) else second
        return None

    def _construct(self, node: ast.Call, name: str) -> Located:
        definition = self.module.classes[name]
        itself = Located(Kind.OBJECT, definition.roles, name)
        made = self.module.method_of(itself, "__init__")
        roles: dict[str, str] = {}
        if isinstance(node.func, ast.Subscript):
            given = [last(part) for part in parts_of(node.func)]
            if len(given) != len(definition.roles):
                message = f"{name} has {len(definition.roles)} roles, but {len(given)} are given"
                self.facts.say("CHO107", node, message)
            roles = dict(zip(definition.roles, given))
        called, inherited = made or (None, {})
        if called is not None:
            inner = {formal: roles[mine] for formal, mine in inherited.items() if mine in roles}
            found = self._infer(node, called, tuple(inherited), inner, skip=1)
            roles |= {mine: found[formal] for formal, mine in inherited.items() if formal in found}
        self._complete(node, name, definition.roles, roles)
        if called is not None:
            self._invoke(node, name, called, {f: roles[m] for f, m in inherited.items() if m in roles}, skip=1)
        self.facts.calls[node] = Invocation(
            name, called, roles, self._bound(node, called, 1) if called is not None else ()
        )
        return Located(Kind.OBJECT, tuple(roles.get(role, role) for role in definition.roles), name)

    def _method(self, node: ast.Call, function: ast.Attribute, base: Located) -> Located:
        found = self.module.method_of(base, function.attr)
        if found is None:
            return self._local(node)
        called, roles = found
        return self._invoke(node, "", called, roles, skip=0 if is_static(called.node) else 1)

    def _static(self, node: ast.Call, function: ast.Attribute, name: str) -> Located:
        definition = self.module.classes[name]
        found = self.module.method_of(Located(Kind.OBJECT, definition.roles, name), function.attr)
        if found is None:
            return self._local(node)
        called, inherited = found
        roles = self._infer(node, called, tuple(inherited), {})
        return self._invoke(node, f"{called.owner.name if called.owner else name}.{function.attr}", called, roles)

    def _super(self, node: ast.Call, function: ast.Attribute) -> Located:
        itself = self.scope.types.get("self")
        for parent in self.module.parents(itself) if itself is not None and itself.kind is Kind.OBJECT else []:
            found = self.module.method_of(parent, function.attr)
            if found is not None:
                return self._invoke(node, "", *found, skip=1)
        return self._local(node)._replace(loose=False)  # of a class that knows no roles: each party's own

    def _infer(
        self, node: ast.Call, called: Function, formal: tuple[str, ...], given: dict[str, str], skip: int = 0
    ) -> dict[str, str]:
        """Which roles stand for the formal ones, by the places of the arguments."""
        roles = dict(given)
        types = {each.name: each for each in called.parameters}
        given_ones = [(self.check(argument), types[name]) for name, argument, _ in self._bound(node, called, skip)]
        # What says nothing for sure, a channel that may be meant either way round, comes last.
        for found, parameter in sorted(given_ones, key=lambda each: each[0].name == "Channel"):
            mine, theirs = parameter.type.roles, found.roles
            if mine is None or theirs is None or found.loose or parameter.type.kind is not found.kind:
                continue
            if found.kind is Kind.DATA and (len(theirs) != 1 or len(mine) != 1):
                continue
            if found.kind is Kind.CHANNEL and (roles.get(mine[0]) == theirs[1] or roles.get(mine[1]) == theirs[0]):
                theirs = tuple(reversed(theirs))
            for role, actual in zip(mine, theirs):
                if found.kind is not Kind.DATA or actual not in roles.values():
                    roles.setdefault(role, actual)
        if called.node.name != "__init__":  # a constructor's are completed as those of its class
            self._complete(node, called.node.name, formal, roles)
        return roles

    def _complete(self, node: ast.Call, name: str, formal: tuple[str, ...], roles: dict[str, str]) -> None:
        for role in formal:
            if role not in roles and role in self.scope.everyone:
                roles[role] = role
        missing = [role for role in formal if role not in roles]
        if missing:
            self.facts.say("CHO107", node, f"cannot determine who plays {names(missing)} of `{name}`")
        actual = [roles[role] for role in formal if role in roles]
        twice = sorted({role for role in actual if actual.count(role) > 1})
        if twice:
            self.facts.say("CHO105", node, f"{names(twice)} would play more than one role of `{name}` at once")
        for role in sorted(set(actual) - set(self.scope.everyone)):
            self.facts.say("CHO106", node, f"{role} is not a role of this choreography")

    def _bound(self, node: ast.Call, called: Function, skip: int) -> tuple[tuple[str, ast.expr, bool], ...]:
        """Name, argument and whether it was given by name; in the order of the parameters."""
        parameters = called.parameters[skip:]
        by_name = {each.arg: each.value for each in node.keywords if each.arg}
        found = [(each.name, value, False) for each, value in zip(parameters, node.args)]
        found += [(each.name, by_name[each.name], True) for each in parameters if each.name in by_name]
        order = [each.name for each in parameters]
        return tuple(sorted(found, key=lambda each: order.index(each[0])))

    def _invoke(self, node: ast.Call, target: str, called: Function, roles: dict[str, str], skip: int = 0) -> Located:
        bound = self._bound(node, called, skip)
        types = {each.name: each.type for each in called.parameters}
        for name, argument, _ in bound:
            asked = self.wanted(argument, types[name].renamed(roles), "CHO102", f"argument `{name}`")
            if asked.kind is Kind.DATA and name in changed(called.node, self.module.around):
                self.whole(argument, argument, self.facts.types[argument], asked.place)
        self.facts.calls[node] = Invocation(target, called, roles, bound)
        if called.returns is None:
            return Located(Kind.DATA, ())
        return called.returns.renamed(roles)

    def _local(self, node: ast.Call) -> Located:
        function = node.func
        held = self.facts.types.get(function.value) if isinstance(function, ast.Attribute) else None
        is_field = held is not None and held.kind is Kind.OBJECT
        if isinstance(function, ast.Attribute) and function.attr in ("com", "select") and not is_field:
            message = f"cannot determine whether `{ast.unparse(function.value)}` is a channel, or between which roles"
            self.facts.say("CHO402", node, message, "annotate it in this file: `Channel[T, A, B]`")
        operands = [function.value] if isinstance(function, ast.Attribute) and not is_field else [function]
        operands += [*node.args, *(each.value for each in node.keywords)]
        functions = self.purity.functions(node)
        checked = [each for each in operands if each not in functions]
        for each in checked:
            if held is None or each is not getattr(function, "value", None):
                self.check(each)
        self.called |= self.purity.called(node)  # with arguments of which types is known now
        return self.meet(node, operands, frozenset(checked))


def _is_label(node: ast.expr) -> bool:
    inner = node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) else node
    return isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name | ast.Attribute)
