"""Who may do what: the role checker for statements.

Follows each function once with the places of its variables. Whether every party knows which branch was taken is not
decided here but by projecting and merging; only selects that tell nobody anything new are found on the way.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from distml.choreo.changes import CHANGING, changed
from distml.choreo.expressions import Expressions, Scope
from distml.choreo.facts import Facts, Invocation, Mend, Transfer, names
from distml.choreo.hints import captured, element, targets
from distml.choreo.model import EVERYWHERE, Function, Kind, Located, Module
from distml.choreo.parties import Parties
from distml.choreo.purity import Purity
from distml.choreo.read import CHANNELS, last, located, roles_in, takes_everything
from distml.choreo.sharing import is_iterator

ABRUPT = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def check_function(function: Function, module: Module, facts: Facts) -> None:
    """Check one choreography."""
    _signature(function, facts)
    if not function.is_abstract:
        checker = _Statements(function, module, facts)
        checker.defaults()
        checker.block(function.node.body)
        checker.selects()


def _signature(function: Function, facts: Facts) -> None:
    hints = [each.node.annotation for each in function.parameters] + [function.node.returns]
    for hint in hints:
        _named_twice(hint, facts)
        for role in dict.fromkeys(roles_in(hint)):
            if role not in function.roles and hint is not None:
                facts.say("CHO106", hint, f"{role} is not a role of this choreography between {names(function.roles)}")


def _named_twice(hint: ast.expr | None, facts: Facts) -> None:
    if isinstance(hint, ast.Subscript) and last(hint.value) in ("At", *CHANNELS):
        used = list(roles_in(hint))
        for role in {role for role in used if used.count(role) > 1}:
            facts.say("CHO105", hint, f"{role} is listed twice")


class _Statements:
    def __init__(self, function: Function, module: Module, facts: Facts) -> None:
        self.function, self.module, self.facts = function, module, facts
        self.scope = Scope(function.roles)
        for each in function.parameters:
            self.scope.types[each.name] = each.type
        self.scope.declared = dict(self.scope.types)
        self.told: list[
            dict[str, str]
        ] = []  # who knows which branch was taken: by holding the condition ("") or a label

    def defaults(self) -> None:
        """Report what several parties are given where they are given nothing, if each may get something else."""
        for each in self.function.parameters:
            given = each.default
            if isinstance(given, ast.BinOp) and isinstance(given.op, ast.MatMult):
                given = given.left  # `3 @ A()`
            if given is not None and each.type.kind is Kind.DATA and Purity(self.module.around, {}).anywhere(given):
                self.expressions.agreed(given, each.type.roles or self.function.roles, f"`{each.name}`")

    def selects(self) -> None:
        """Report selects inside of other expressions: what a party is told is no value."""
        nodes = list(ast.walk(self.function.node))
        alone = {id(each.value) for each in nodes if isinstance(each, ast.Expr)}
        for each in nodes:
            fact = self.facts.calls.get(each) if isinstance(each, ast.expr) else None
            if isinstance(fact, Transfer) and fact.is_select and id(each) not in alone:
                self.facts.say("CHO208", each, "`select` must be a statement of its own: a label is not a value")

    @property
    def expressions(self) -> Expressions:
        return Expressions(self.module, self.facts, self.scope)

    def block(self, body: Sequence[ast.stmt]) -> bool:
        """Check statements; whether control can reach their end."""
        for node in body:
            method = getattr(self, f"_{type(node).__name__.lower()}", None)
            if method is None:
                self.facts.say("CHO402", node, f"`{_keyword(node)}` has no meaning in a choreography")
            elif method(node) is False:
                return False
        return True

    def _pass(self, node: ast.stmt) -> None:
        return

    _import = _importfrom = _pass

    def _abrupt(self, node: ast.stmt) -> bool:
        return False

    _break = _continue = _abrupt

    def _expr(self, node: ast.Expr) -> None:
        found = self.expressions.check(node.value)
        fact = self.facts.calls.get(node.value)
        if isinstance(fact, Transfer) and fact.is_select:
            self._tell(node, fact)
        elif found.loose and found.roles is None:
            self.facts.say(
                "CHO108", node, "this call is at no role: cannot determine who runs it", "place it: `call() @ Role()`"
            )
        elif isinstance(node.value, ast.Call) and fact is None:
            for each in self.expressions.changed_by(node.value):
                self._whole(node, each, found)
            self._keep(node.value)

    def _keep(self, call: ast.Call) -> None:
        """Note what a variable contains from here on: what its method was given."""
        owner = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr in CHANGING else None
        if isinstance(owner, ast.Name):
            given = frozenset().union(*map(self.expressions.sharing, call.args))
            others = given - (self.scope.types.get(owner.id, EVERYWHERE).place or frozenset(self.scope.everyone))
            if others:
                self.scope.shared[owner.id] = others | self.scope.shared.get(owner.id, frozenset())

    def _tell(self, node: ast.stmt, fact: Transfer) -> None:
        if self.told:
            told, label = self.told[-1], ast.dump(fact.value)
            if fact.receiver in told:
                # Another label may be the right one, and a third party the one that was to be told.
                superfluous = told[fact.receiver] in ("", label) and told.keys() | {fact.sender} >= {
                    *self.function.roles
                }
                mend = Mend("remove the select", node) if superfluous else None
                self.facts.say("CHO206", node, f"{fact.receiver} already knows which branch was taken", mend=mend)
            told.setdefault(fact.receiver, label)

    def _whole(self, node: ast.AST, target: ast.expr, value: Located) -> None:
        """An update must happen wherever the thing is, or what parties agree on comes apart."""
        held = self.expressions.check(target)
        if held.kind is not Kind.DATA or held.loose:
            return
        if value.loose:
            self.expressions.agreed(target, held.roles or self.function.roles, "what is changed here")
        self.expressions.whole(node, target, held, value.place)

    def _assign(self, node: ast.Assign) -> None:
        first = node.targets[0]
        declared = self._declared(first)
        if declared is not None and len(node.targets) == 1:
            found = self.expressions.wanted(node.value, declared, "CHO101", f"`{ast.unparse(first)}`")
        else:
            found = self.expressions.check(node.value)
            if found.loose and found.roles is None:
                hint = "annotate the variable, or place the call: `call() @ Role()`"
                self.facts.say("CHO108", node, "this call is at no role: cannot determine who runs it", hint)
        for target in node.targets:
            (self._bind if len(node.targets) == 1 else self._bind_part)(target, found)
            self._share(target, node.value)
            if isinstance(target, ast.Subscript) and self.expressions.purity.differs(node):
                self.expressions.agreed(target, self.expressions.check(target).roles or (), "what is changed here")

    def _share(self, target: ast.expr, value: ast.expr) -> None:
        """Note of which objects of others a variable is another name from here on."""
        for each in (
            each for each in ast.walk(target) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        ):
            others = self.expressions.sharing(value) - (self.scope.types.get(each.id, EVERYWHERE).place or frozenset())
            self.scope.shared.pop(each.id, None)
            if others:
                self.scope.shared[each.id] = others

    def _declared(self, target: ast.expr) -> Located | None:
        if isinstance(target, ast.Name):
            return self.scope.declared.get(target.id)
        if isinstance(target, ast.Attribute):
            base = self.expressions.check(target.value)
            return self.module.field_of(base, target.attr) if base.kind is Kind.OBJECT else base
        if isinstance(target, ast.Subscript):
            return self.expressions.check(target.value)
        return None

    def _bind(self, target: ast.expr, value: Located) -> None:
        self.facts.types[target] = value
        if isinstance(target, ast.Name):
            self.scope.types[target.id] = value
            self.scope.declared.setdefault(target.id, value)
            self.scope.unset.pop(target.id, None)
        elif isinstance(target, ast.Tuple | ast.List):
            several = len(value.roles or ()) != 1
            loose = value.loose or (several and not self._has_order(value.data))
            places = ast.Tuple([ast.Name(str(number)) for number in range(len(target.elts))])
            for each, hint in zip(target.elts, targets(places, value.data).values()):
                kind = None if isinstance(each, ast.Starred) else hint
                unknown = several and kind is None and isinstance(each, ast.Tuple | ast.List)
                self._bind_part(each, value._replace(also=frozenset(), data=kind, loose=loose or unknown))
        elif isinstance(target, ast.Starred):
            self._bind(target.value, value)
        elif isinstance(target, ast.Attribute):
            base = self.expressions.check(target.value)
            if base.kind is Kind.OBJECT and self.module.field_of(base, target.attr) is None and base.name:
                own = dict(zip(base.roles or (), self.module.classes[base.name].roles))
                self.module.classes[base.name].fields[target.attr] = value.renamed(own)._replace(also=frozenset())
            elif base.kind is Kind.DATA and not base.loose:
                self.expressions.whole(target, target.value, base, base.place)
        elif isinstance(target, ast.Subscript):
            self._whole(target, target.value, self.expressions.check(target))

    def _has_order(self, hint: ast.expr | None) -> bool:
        return self.expressions.purity.kinds.has_order(hint)

    def _bind_part(self, target: ast.expr, value: Located) -> None:
        """One of several targets: it keeps its role."""
        declared = self._declared(target)
        if declared is not None and value.loose and not declared.loose:
            self.expressions.agreed(target, declared.roles or self.function.roles, f"`{ast.unparse(target)}`")
        if declared is not None and value.place is None:
            value = declared
        elif declared is not None and declared.place is not None and not declared.place <= (value.place or set()):
            message = f"`{ast.unparse(target)}` is needed at {names(declared.roles)}, but this value is at "
            self.facts.say("CHO101", target, message + names(value.roles), "assign it in a statement of its own")
            value = declared
        self._bind(target, value)

    def _annassign(self, node: ast.AnnAssign) -> None:
        declared = located(node.annotation, self.module, self.function.roles)
        if not any(roles_in(node.annotation)) and declared.kind is Kind.DATA and node.value is not None:
            found = self.expressions.check(node.value)
            declared = found._replace(data=node.annotation) if found.roles or not found.loose else declared
        _named_twice(node.annotation, self.facts)
        for role in roles_in(node.annotation):
            if role not in self.function.roles:
                self.facts.say("CHO106", node.annotation, f"{role} is not a role of this choreography")
                return
        if isinstance(node.target, ast.Name):
            self.scope.declared[node.target.id] = declared
        if node.value is not None:
            self.expressions.wanted(node.value, declared, "CHO101", f"`{ast.unparse(node.target)}`")
            self._bind(node.target, declared)
            self._share(node.target, node.value)
        self.facts.types[node.target] = declared

    def _augassign(self, node: ast.AugAssign) -> None:
        held = self.expressions.check(node.target)
        if isinstance(node.target, ast.Subscript):
            self._whole(node, node.target.value, held)
        elif not held.loose:
            self.expressions.whole(node, node.target, held, held.place)  # of a list, `+=` changes what others hold
        found = self.expressions.wanted(node.value, held, "CHO101", f"`{ast.unparse(node.target)}`")
        if self.expressions.purity.differs(node) and not held.loose:
            self.expressions.agreed(node.target, held.roles or self.function.roles, "what is changed here")
        self.facts.types[node.target] = held if held.roles is not None else found

    def _return(self, node: ast.Return) -> bool:
        wanted = self.function.returns
        if node.value is not None and wanted is not None:
            self.expressions.wanted(node.value, wanted, "CHO103", "the result")
        elif node.value is not None:
            self.expressions.check(node.value)
        return False

    def _raise(self, node: ast.Raise) -> bool:
        for each in (node.exc, node.cause):
            if each is not None and self.expressions.check(each).loose:
                self.expressions.settle(each, frozenset(self.function.roles))
        return False

    def _assert(self, node: ast.Assert) -> None:
        if node.msg is not None:
            self.expressions.local_only([node.msg], "a message that might not be evaluated")
        self.expressions.meet(node.test, [each for each in (node.test, node.msg) if each is not None])

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            found = self.expressions.check(target)
            if isinstance(target, ast.Name):
                self.scope.types.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                self._whole(target, target.value, found)

    def _if(self, node: ast.If) -> bool:
        return self._paths(self._guard(node.test), [node.body, node.orelse])

    def _guard(self, test: ast.expr) -> Located:
        found = self.expressions.check(test)
        if found.loose and found.roles is not None:
            self.expressions.agreed(test, found.roles, "what decides here")
        elif found.loose:
            self.facts.say("CHO108", test, "this condition is at no role", "place it: `condition() @ Role()`")
        return found

    def _match(self, node: ast.Match) -> bool:
        subject = self._guard(node.subject)
        for case in node.cases:
            for name, hint in captured(case.pattern, subject.data).items():
                self.scope.types[name] = subject._replace(data=hint)
            if self.expressions.purity.compares(case.pattern):
                self.expressions.agreed(node.subject, subject.roles or self.function.roles, "what decides here")
            if case.guard is not None:
                self.expressions.local_only([case.guard], "a condition that might not be evaluated")
                self.expressions.wanted(case.guard, subject, "CHO104", "the condition of this case")
        bodies = [case.body for case in node.cases]
        if not any(takes_everything(case) for case in node.cases):
            bodies.append([])
        return self._paths(subject, bodies)

    def _paths(self, guard: Located, bodies: list[list[ast.stmt]]) -> bool:
        before, ends = self.scope, []
        for body in bodies:
            self.scope = before.copy()
            self.told.append(dict.fromkeys(guard.roles or (), ""))
            if self.block(body):
                ends.append(self.scope)
            self.told.pop()
        self.scope = before
        if ends:
            self._join(ends)
        if self.told and len(ends) < len(bodies):
            # What follows is a branch of its own.
            self.told[-1] = {role: how for role, how in self.told[-1].items() if role in (guard.place or ())}
        return bool(ends)

    def _join(self, ends: list[Scope]) -> None:
        common = set.intersection(*(set(end.types) for end in ends))
        everywhere = {name for end in ends for name in end.shared}
        self.scope.shared = {
            name: frozenset().union(*(end.shared.get(name, ()) for end in ends)) for name in everywhere
        }
        for end in ends:
            for name, kind in end.types.items():
                if name in common:
                    self.scope.types[name] = kind
                else:
                    self.scope.types.pop(name, None)
                    self.scope.unset[name] = frozenset(kind.roles or ())
            self.scope.unset.update({name: roles for name, roles in end.unset.items() if name not in common})
        for name in common:
            self.scope.unset.pop(name, None)

    def _while(self, node: ast.While) -> bool:
        guard = self._guard(node.test)
        always = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self._paths(guard, [node.body, node.orelse])
        return not always or any(isinstance(each, ast.Break) for each in ast.walk(node))

    def _for(self, node: ast.For) -> None:
        items = self._guard(node.iter)
        if (items.roles is None or len(items.roles) > 1) and not self._has_order(items.data):
            holders = names(items.roles or self.function.roles)
            message = f"{holders} hold the same set, but each iterates over it in its own order"
            if not self.module.around.is_set(items.data):
                message = f"cannot determine whether {holders} iterate over this in the same order"
            self.facts.say("CHO110", node.iter, message, "annotate it, or iterate over `sorted(...)` of it")
        self._used_up(node, items)
        before = self.scope
        self.scope = before.copy()
        for each in ast.walk(node.target):
            held = before.types.get(each.id) if isinstance(each, ast.Name) else None
            if held is not None and held.place and items.place is not None and held.place - items.place:
                message = (
                    f"`{ast.unparse(each)}` is needed at {names(held.roles)}, but this value is at {names(items.roles)}"
                )
                self.facts.say("CHO101", each, message, "use another name for the loop variable")
        self._bind(node.target, items._replace(kind=Kind.DATA, data=element(items.data), loose=False))
        self._share(node.target, node.iter)
        inner = self.scope
        self._paths(items, [node.body, node.orelse])
        for name in set(inner.types) - set(before.types):
            inner.types.pop(name, None)
        self.scope = before

    def _used_up(self, node: ast.For, items: Located) -> None:
        """A loop that has nothing to do at a role is not in its program: there the iterator stays as it is."""
        if is_iterator(items.data) and isinstance(node.iter, ast.Name | ast.Attribute | ast.Subscript):
            parties = Parties(self.module, self.facts)
            runs = frozenset(role for role in self.function.roles if parties.involved([node], role))
            self.expressions.whole(node.iter, node.iter, items, runs)

    def _with(self, node: ast.With) -> bool:
        hidden = []
        for item in node.items:
            found = self.expressions.check(item.context_expr)
            hidden += [item] if last(item.context_expr) == "suppress" else []
            if found.loose and found.roles is None and not hidden:
                self._guard(item.context_expr)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, found)
        ends = self.block(node.body)
        if hidden and self._acts(node.body):
            self.facts.say("CHO401", node, "`suppress` hides an exception from the parties that wait for this one")
        elif hidden:
            self._alone(node, node.body, [])
        return ends

    def _try(self, node: ast.Try) -> bool:
        handled = all(last(handler.type) == "ChoreographyError" for handler in node.handlers)
        parts = [*node.body, *node.orelse, *node.finalbody]
        before = self.scope.copy()
        reached = self.block(node.body) and self.block(node.orelse)
        ends = [self.scope] if reached else []
        for handler in node.handlers:
            self.scope = before.copy()
            if handler.name:
                self.scope.types[handler.name] = EVERYWHERE
            if self.block(handler.body):
                ends.append(self.scope)
            if self._acts(handler.body):
                self.facts.say(
                    "CHO401", handler, "communication in an exception handler: the other parties may not reach it"
                )
        self.scope = before
        if ends:
            self._join(ends)
        if node.handlers and not handled and self._acts(parts):
            self.facts.say(
                "CHO401",
                node,
                f"communication under a handler of {names(set(map(_caught, node.handlers)))}: the party that raises "
                "continues in the handler, the others wait for it",
                "catch exceptions around local code only and send the outcome, or catch `ChoreographyError`",
            )
        elif node.handlers and not handled and not any(self._acts(handler.body) for handler in node.handlers):
            self._alone(node, [*node.body, *node.orelse], [each for part in node.handlers for each in part.body])
        return self.block(node.finalbody) and bool(ends)

    def _alone(self, node: ast.stmt, guarded: list[ast.stmt], handling: list[ast.stmt]) -> None:
        """What is caught must be caught by the same parties, and leave the others where they would be anyway."""
        parties = Parties(self.module, self.facts)
        every = self.function.roles
        places = [frozenset(r for r in every if parties.involved([each], r, returns=False)) for each in guarded]
        places = [place | self._raising(each) for place, each in zip(places, guarded)]
        places = [place for place in places if place]
        reacting = frozenset(role for role in every if parties.involved(handling, role, returns=False))
        acting = places[0] if places else frozenset()
        if len(set(places)) > 1 or reacting - acting:
            self.facts.say(
                "CHO401",
                node,
                f"{names(acting | reacting | frozenset().union(*places))} act where an exception of one of them is caught: "
                "the others are not told",
                "catch exceptions around the code of one party and send the outcome",
            )
        elif acting and acting != frozenset(every):
            for each in (leaf for part in (*guarded, *handling) for leaf in ast.walk(part)):
                if isinstance(each, ast.Return | ast.Break | ast.Continue):
                    others = names(frozenset(every) - acting)
                    self.facts.say(
                        "CHO401", each, f"{others} cannot know that {names(acting)} continues elsewhere from here"
                    )

    def _raising(self, node: ast.stmt) -> frozenset[str]:
        """The parties that decide in a statement whether something is raised."""
        found: set[str] = set()
        for each in ast.walk(node):
            if isinstance(each, ast.If | ast.While) and any(isinstance(part, ast.Raise) for part in ast.walk(each)):
                found |= self.facts.types[each.test].place or set() if each.test in self.facts.types else set()
        return frozenset(found)

    def _functiondef(self, node: ast.FunctionDef) -> None:
        inner = self.scope.copy()
        free = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in inner.types]
        expressions = Expressions(self.module, self.facts, inner)
        calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
        if expressions.local_only(calls, "a local function"):
            return
        changing = changed(node, self.module.around)
        expressions.inner_changes(node, [each for each in free if each.id in changing])
        found = expressions.meet(ast.Name(node.name), free)
        self.scope.types[node.name] = found
        self.facts.types[node.args] = found  # type: ignore[index]

    def _acts(self, body: Sequence[ast.stmt]) -> bool:
        return any(
            isinstance(self.facts.calls.get(each), Transfer | Invocation) for node in body for each in _calls(node)
        )


def _calls(node: ast.stmt) -> list[ast.expr]:
    return [each for each in ast.walk(node) if isinstance(each, ast.Call)]


def _caught(handler: ast.ExceptHandler) -> str:
    return ast.unparse(handler.type) if handler.type is not None else "every exception"


def _keyword(node: ast.stmt) -> str:
    return ast.unparse(node).split(maxsplit=1)[0].rstrip(":")
