"""Where expressions are: the role checker for expressions.

An operation is where all of its operands are; what is nowhere together is CHO104. A value may be narrowed to fewer roles,
never widened: only `com` brings a value to another role.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from distml.choreo.aliases import root
from distml.choreo.calls import Calls
from distml.choreo.changes import CHANGING, changed_by, mutators
from distml.choreo.facts import Facts, Invocation, Placed, Transfer, names
from distml.choreo.hints import element, targets
from distml.choreo.kinds import Hint
from distml.choreo.model import EVERYWHERE, Kind, Located, Module
from distml.choreo.purity import Purity
from distml.choreo.read import defaults_of, last
from distml.choreo.sharing import is_iterator, same_objects

Place = frozenset[str] | None


class Scope:
    """The variables of a function: what they are, and those that are set on only some paths."""

    def __init__(self, everyone: tuple[str, ...]) -> None:
        self.everyone = everyone
        self.types: dict[str, Located] = {}
        self.unset: dict[str, frozenset[str]] = {}
        self.declared: dict[str, Located] = {}
        self.shared: dict[str, frozenset[str]] = {}
        """Who holds what a variable of fewer parties may be another name for."""

    def copy(self) -> Scope:
        """A scope for one of two paths."""
        other = Scope(self.everyone)
        other.types, other.unset, other.declared = dict(self.types), dict(self.unset), self.declared
        other.shared = dict(self.shared)
        return other


class Expressions(Calls):
    """Checks expressions of one function; notes facts."""

    def __init__(self, module: Module, facts: Facts, scope: Scope) -> None:
        self.module, self.facts, self.scope = module, facts, scope
        self.called: dict[ast.expr, list[Hint] | None] = {}

    def check(self, node: ast.expr) -> Located:
        """The type and place of an expression."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        found: Located = method(node) if method is not None else self.meet(node, _operands(node))
        if found.kind is Kind.DATA and node not in self.facts.calls:
            found = self._judged(node, found)
        self.facts.types[node] = found
        return found

    def _judged(self, node: ast.expr, found: Located) -> Located:
        """With the type of the data, and whether each of several parties may come to something else."""
        purity = self.purity
        several = found.roles is None or len(found.roles) > 1
        own = (
            node not in self.called and self._is_local(node) and purity.differs(node)
        )  # else it is judged with its call
        loose = several and (found.loose or own)
        return found._replace(loose=loose, data=found.data if found.data is not None else purity.hints.of(node))

    def _is_local(self, node: ast.expr) -> bool:
        """Whether an operation is one of local code, not of a channel, a choreography or what it extends."""
        base = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        held = self.facts.types.get(base) if base is not None else None
        return (held is None or held.kind is Kind.DATA) and not (isinstance(base, ast.Call) and last(base) == "super")

    @property
    def purity(self) -> Purity:
        """The judge of operations on the variables as they are here."""
        names: dict[str, Hint] = dict.fromkeys((*self.scope.unset, *self.scope.declared, *self.module.functions))
        names |= {name: each.data if each.kind is Kind.DATA else None for name, each in self.scope.types.items()}
        return Purity(self.module.around, names, self._known)

    def _known(self, node: ast.expr) -> Hint:
        found = self.facts.types.get(node)
        return found.data if found is not None and found.kind is Kind.DATA else None

    def wanted(self, node: ast.expr, target: Located, code: str, what: str) -> Located:
        """Check `node` where `target` is asked for; report `code` where it is not there."""
        found = self.check(node)
        if found.loose and not target.loose:
            self.agreed(node, target.roles or self.scope.everyone, what)
        if found.roles is None:
            self.settle(node, target.place)
            return target
        if target.kind is Kind.OBJECT or found.kind is not Kind.DATA:
            self._same_object(node, found, target, code, what)
        elif target.place is None or not target.place <= (found.known or frozenset()):
            self.facts.say(
                code,
                node,
                f"{what} is needed at {names(target.roles)}, but this value is at {names(found.roles)}",
                "send it to that role with `com` over a channel",
            )
        else:
            self.settle(node, target.place)
        return target

    def agreed(self, node: ast.AST, roles: Iterable[str], what: str) -> None:
        """Report what each of these roles would compute for itself, with a result of its own."""
        if len(set(roles)) > 1:
            message = f"{what} must be the same at {names(roles)}, but each would compute it separately"
            hint = "compute it at one role and send the result to the others"
            part = self._own_of_each(node)
            shown = f"nothing shows that {_quoted(part)} is the same at {names(roles)}" if part is not None else ""
            self.facts.say("CHO110", node, message, hint, ((shown, part),) if part is not None else ())

    def _own_of_each(self, node: ast.AST) -> ast.expr | None:
        """The part of an expression that makes its value each party's own; None where that is all of it."""
        for each in _operands(node):
            found = self.facts.types.get(each)
            if found is not None and found.loose:
                return self._own_of_each(each) or each
        return None

    def _same_object(self, node: ast.expr, found: Located, target: Located, code: str, what: str) -> None:
        if found.kind is Kind.CHANNEL and target.kind is Kind.CHANNEL:
            both = target.name == "DiChannel" and found.name == "Channel"
            turned = found.name == "Channel" and target.roles == tuple(reversed(found.roles or ()))
            if not turned and (target.roles != found.roles or not (target.name == found.name or both)):
                code = "CHO301" if set(target.roles or ()) == set(found.roles or ()) else code
                self.facts.say(code, node, f"{what} is a {_named(target)}, this is a {_named(found)}")
        elif found.kind is Kind.OBJECT and target.kind is Kind.OBJECT and self.module.is_a(found, target):
            return
        elif found.kind is not target.kind or found.roles != target.roles:
            self.facts.say(code, node, f"{what} is at {names(target.roles)}, this is {_named(found)}")

    def settle(self, node: ast.expr, place: Place) -> None:
        """Give what has no place of its own, or more of it than is asked for, the place of its use."""
        known = self.facts.types.get(node)
        if known is None or known.kind is not Kind.DATA or place is None:
            return
        self.unchanged(node, place)
        roles = tuple(sorted(place))
        if known.loose:
            self.facts.types[node] = known._replace(roles=roles, loose=False)
            for child in _operands(node):
                self.settle(child, place)
        elif isinstance(node, ast.IfExp | ast.BoolOp | ast.BinOp | ast.Call) and known.roles is not None:
            if node not in self.facts.calls and place < (known.place or frozenset()):
                self.facts.types[node] = known._replace(roles=roles)
        elif known.also and place - (known.place or frozenset()):
            self.facts.types[node] = known._replace(roles=tuple(sorted((known.known or frozenset()) & place)))

    def meet(self, node: ast.expr, operands: Iterable[ast.expr], checked: frozenset[ast.expr] = frozenset()) -> Located:
        """Where all operands are, of which those are checked."""
        operands = list(operands)
        place: Place = None
        loose = False
        first: ast.expr | None = None
        for operand in operands:
            found = self.facts.types[operand] if operand in checked else self.check(operand)
            loose |= found.loose
            if found.kind is not Kind.DATA:
                self.facts.say("CHO104", operand, f"{_named(found)} cannot be used by local code")
                continue
            if found.roles is None:
                continue
            here = found.place or frozenset()
            if place is not None and not place & here:
                related = ((f"this is at {names(place)}", first),) if first is not None else ()
                self.facts.say(
                    "CHO104",
                    node,
                    f"operands are at different roles: {names(place)} and {names(here)}",
                    "send one of them with `com`",
                    related,
                )
                continue
            place, first = (here if place is None else place & here), operand
        if loose and place is not None and len(place) == 1:
            for operand in operands:
                self.settle(operand, place)
        for operand in operands if place is not None else ():
            self.unchanged(operand, place)
        roles = None if place is None else tuple(sorted(place))
        return Located(Kind.DATA, roles, loose=loose and (place is None or len(place) > 1))

    def unchanged(self, node: ast.expr, place: Place) -> None:
        """Report a call that changes what others hold too, where its value is used at these roles alone."""
        held = self.facts.types.get(node)
        used_up = held is not None and is_iterator(held.data)
        if held is not None and used_up and isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            self.whole(node, node, held, place)
        if isinstance(node, ast.Subscript) and self.purity.hints.kind(node.value) == "defaultdict":
            self.whole(
                node, node.value, self.facts.types.get(node.value, EVERYWHERE), place
            )  # asking for an item adds it
        if isinstance(node, ast.Call):
            if isinstance(self.facts.calls.get(node), Transfer | Invocation):
                return
            for target in self.changed_by(node):
                self.changes(node, target, place)
        if isinstance(node, ast.NamedExpr):
            self.changes(node, node.target, place)
        for each in _operands(node):
            self.unchanged(each, place)

    def changes(self, node: ast.AST, target: ast.expr, place: Place) -> None:
        """Report what is changed at these roles, and held by others too."""
        held = self.facts.types.get(target)
        if held is not None and held.kind is Kind.DATA:
            mine = tuple(
                sorted(place or ())
            )  # what each party makes for itself is its own, unless it is part of another
            self.whole(node, target, held._replace(roles=mine) if held.loose and mine else held, place)

    def changed_by(self, node: ast.Call) -> list[ast.expr]:
        """What local code that is called here may change in place."""
        purity = self.purity
        return changed_by(node, purity.hints, purity.is_stranger(node))

    def sharing(self, node: ast.expr) -> frozenset[str]:
        """Who holds, by other names, what a value is or contains."""
        found: set[str] = set()
        for each in same_objects(node, self.purity.hints):
            name = root(each)
            if not name:
                beginning = each
                while isinstance(beginning, ast.Attribute | ast.Subscript):
                    beginning = beginning.value
                found |= self.sharing(beginning)
                continue
            found |= self.scope.shared.get(name, frozenset())
            held = self.scope.types.get(name, EVERYWHERE)
            held = self.facts.types.get(each, held) if held.kind is Kind.OBJECT else held  # its fields have roles
            of_file = name in self.module.around.defined() and self.module.around.local_class(name) is None
            if name in self.scope.types or of_file:
                found |= frozenset(self.scope.everyone) if held.place is None else held.place
        return frozenset(found)

    def inner_changes(self, node: ast.AST, changing: Iterable[ast.expr]) -> None:
        """Report code that runs later, for whom nobody can tell, and changes what several hold."""
        for target in changing:
            holders = self.sharing(target)
            if len(holders) > 1:
                message = f"this is held by {names(holders)}, and changed by whoever calls the function"
                self.facts.say("CHO111", node, message, "change it in a statement of the choreography")

    def whole(self, node: ast.AST, target: ast.expr, held: Located, place: Place) -> None:
        """Report a change that fewer make than hold what is changed; what is everywhere is held by all."""
        holders = (held.place or frozenset(self.scope.everyone)) | self.sharing(target)
        if place is not None and holders - place:
            message = f"this is held by {names(holders)}, but changed at {names(place)} only"
            self.facts.say("CHO111", node, message, "change it at all of these roles, or change a copy")

    def _constant(self, node: ast.Constant) -> Located:
        return EVERYWHERE

    def _name(self, node: ast.Name) -> Located:
        if node.id in self.scope.types:
            return self.scope.types[node.id]
        if node.id in self.scope.unset:
            missing = self.scope.unset[node.id]
            self.facts.say("CHO109", node, f"`{node.id}` might not be set here at {names(missing)}")
            return Located(Kind.DATA, tuple(sorted(missing)))
        if node.id in self.scope.declared:
            declared = self.scope.declared[node.id]
            self.facts.say("CHO109", node, f"`{node.id}` is used at {names(declared.roles)} before it is set there")
            return declared
        if node.id in self.module.functions:
            self.facts.say("CHO402", node, "a choreography must be called where it is named; it is not a value")
        return EVERYWHERE

    def _attribute(self, node: ast.Attribute) -> Located:
        base = self.check(node.value)
        if base.kind is Kind.OBJECT:
            found = self.module.field_of(base, node.attr)
            if found is None and self.module.method_of(base, node.attr) is not None:
                self.facts.say(
                    "CHO402", node, "a method of a choreography must be called where it is named; it is not a value"
                )
            return found or Located(Kind.DATA, base.roles)
        if node.attr in CHANGING | mutators(self.module.around):
            self.inner_changes(node, [node.value])
        if base.kind is Kind.CHANNEL:
            self.facts.say("CHO208", node, "a channel's method must be called where it is named; it is not a value")
            return EVERYWHERE
        return Located(Kind.DATA, base.roles, loose=base.loose)

    def _binop(self, node: ast.BinOp) -> Located:
        if isinstance(node.op, ast.MatMult) and isinstance(node.right, ast.Call):
            role = last(node.right.func)
            if role in self.module.roles or role in self.scope.everyone:
                return self._placed(node, role)
        return self.meet(node, (node.left, node.right))

    def _placed(self, node: ast.BinOp, role: str) -> Located:
        if role not in self.scope.everyone:
            parties = names(self.scope.everyone)
            self.facts.say("CHO106", node, f"{role} is not a role of this choreography between {parties}")
        self.facts.calls[node] = Placed(node.left)
        self.wanted(node.left, Located(Kind.DATA, (role,)), "CHO101", "a value placed with `@`")
        return Located(Kind.DATA, (role,))

    def _compare(self, node: ast.Compare) -> Located:
        if self.local_only(node.comparators[1:], "an operand that might not be evaluated"):
            return Located(Kind.DATA, self.scope.everyone)
        found = self.meet(node, (node.left, *node.comparators))
        self.decided((node.left, *node.comparators[:-1]), node.comparators[1:])
        return found

    def _boolop(self, node: ast.BoolOp) -> Located:
        if self.local_only(node.values[1:], "an operand that might not be evaluated"):
            return Located(Kind.DATA, self.scope.everyone)
        found = self.meet(node, node.values)
        self.decided(node.values[:-1], node.values[1:])
        return found

    def _ifexp(self, node: ast.IfExp) -> Located:
        if self.local_only((node.body, node.orelse), "a conditional expression"):
            return Located(Kind.DATA, self.scope.everyone)
        found = self.meet(node, (node.test, node.body, node.orelse))
        self.decided((node.test,), (node.body, node.orelse))
        return found

    def _lambda(self, node: ast.Lambda) -> Located:
        if self.local_only((node.body,), "a lambda"):
            return Located(Kind.DATA, self.scope.everyone)
        inner = Expressions(self.module, self.facts, self.scope.copy())
        given = {each.arg: None for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        given |= dict(zip([each.arg for each in node.args.args], self.called.get(node) or []))  # type: ignore[arg-type]
        inner.scope.types |= {name: EVERYWHERE._replace(data=hint) for name, hint in given.items()}
        inner.check(node.body)
        calls = [each for each in ast.walk(node.body) if isinstance(each, ast.Call)]
        self.inner_changes(node, [each for call in calls for each in inner.changed_by(call) if root(each) not in given])
        defaults = defaults_of(node)
        for each in defaults:
            self.check(each)
        return self.meet(node, [*defaults, node.body], frozenset((*defaults, node.body)))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Located:
        inner = Expressions(self.module, self.facts, self.scope.copy())
        parts: list[ast.expr] = []
        for position, each in enumerate(node.generators):
            found = inner.check(each.iter)
            parts.append(each.iter)
            self.local_only([*each.ifs, *([each.iter] if position else [])], "a comprehension")
            for name in (n for n in ast.walk(each.target) if isinstance(n, ast.Name)):
                hint = targets(each.target, element(found.data)).get(name.id)
                inner.scope.types[name.id] = Located(Kind.DATA, found.roles, data=hint, loose=found.loose)
                inner.scope.shared[name.id] = inner.sharing(each.iter)
            parts += each.ifs
        parts += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        if inner.local_only(results, "a comprehension"):
            return Located(Kind.DATA, self.scope.everyone)
        place = inner.meet(node, parts)
        iterated = [each.iter for each in node.generators]
        alike = all(map(inner.purity.hints.is_ordered, iterated)) or len(place.roles or self.scope.everyone) == 1
        inner.decided([*iterated, *(one for each in node.generators for one in each.ifs)], parts[1:], alike)
        return place

    _listcomp = _setcomp = _generatorexp = _dictcomp = _comprehension

    def _namedexpr(self, node: ast.NamedExpr) -> Located:
        declared = self.scope.declared.get(node.target.id)
        found = self.check(node.value)
        if declared is not None and declared.kind is Kind.DATA:
            found = self.wanted(node.value, declared, "CHO101", f"`{node.target.id}`")
        self.scope.types[node.target.id] = found
        self.facts.types[node.target] = found
        return found

    def _await(self, node: ast.Await | ast.Yield | ast.YieldFrom) -> Located:
        self.facts.say("CHO402", node, "a choreography does not await or yield: its projections block or await")
        return EVERYWHERE

    _yield = _yieldfrom = _await

    def decided(self, deciding: Iterable[ast.expr], parts: Iterable[ast.expr], alike: bool = True) -> None:
        """Report what changes in parts that are evaluated if, or as often as, each party decides for itself."""
        if alike and not any(self.facts.types[each].loose for each in deciding):
            return
        for each in (inside for part in parts for inside in ast.walk(part)):
            changed = self.changed_by(each) if isinstance(each, ast.Call) else []
            for target in [each.target] if isinstance(each, ast.NamedExpr) else changed:
                held = self.facts.types.get(target, EVERYWHERE)
                holders = (held.place or frozenset(self.scope.everyone)) | self.sharing(target)
                if held.kind is Kind.DATA:
                    self.agreed(each, sorted(holders), "what is changed here")

    def local_only(self, nodes: Iterable[ast.expr], where: str) -> bool:
        """Report communication in code that a party may run any number of times; whether there is any."""
        before = len(self.facts.problems)
        for node in nodes:
            for call in (each for each in ast.walk(node) if isinstance(each, ast.Call)):
                if self.communicates(call):
                    self.facts.say(
                        "CHO403", call, f"communication in {where}: not every party knows whether it is executed"
                    )
        return len(self.facts.problems) > before


def _operands(node: ast.AST) -> list[ast.expr]:
    found: list[ast.expr] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            found.append(child)
        elif isinstance(child, ast.keyword | ast.comprehension | ast.FormattedValue):
            found += _operands(child)
    return found


def _quoted(node: ast.expr) -> str:
    text = ast.unparse(node)
    return f"`{text}`" if len(text) <= 40 else "this"


def _named(value: Located) -> str:
    if value.kind is Kind.CHANNEL:
        return f"{value.name} {'from' if value.name == 'DiChannel' else 'between'} " + (
            " to ".join(value.roles or ()) if value.name == "DiChannel" else names(value.roles)
        )
    return f"`{value.name}` at {names(value.roles)}" if value.name else f"a value at {names(value.roles)}"
