"""What an expression can stand for, from what its parts can stand for."""

from __future__ import annotations

import ast
import builtins
from functools import cache
from typing import TYPE_CHECKING

from distml.training.calls import Calls
from distml.training.store import ANY, items
from distml.training.values import (
    NOTHING,
    PATH,
    Box,
    BoxMethod,
    Callable,
    Class,
    Constant,
    Foreign,
    Instance,
    Module,
    Values,
)

if TYPE_CHECKING:
    from distml.training.lexical import Scope
    from distml.training.unit import Unit

MAX_TEXT = 80
"""So long a text that is put together is still a name."""
MOST_TEXTS = 16
"""So many texts can be put together in one place."""
_BUILTINS = frozenset(dir(builtins))


@cache
def method(kind: str) -> str:
    """The name of the method for nodes of a kind."""
    return f"_{kind.lower()}"


class Expressions(Calls):
    """Evaluates expressions; what each was last found to be is kept in `values`."""

    def evaluate(self, node: ast.expr | None, unit: Unit) -> Values:
        """What `node` can stand for, and that of everything in it."""
        if node is None:
            return NOTHING
        self.steps += 1
        found: Values = getattr(self, method(type(node).__name__), self._other)(node, unit)
        self.values[node] = found
        return found

    def _other(self, node: ast.expr, unit: Unit) -> Values:
        """Arithmetic, comparisons, formatted strings: an object nobody knows, made from the operands."""
        self._parts(node, unit)
        return frozenset({Foreign("?", node)})

    def _parts(self, node: ast.AST, unit: Unit) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child, unit)
            elif isinstance(child, ast.comprehension):
                self._generator(child, unit)
            else:
                self._parts(child, unit)

    def _constant(self, node: ast.Constant, unit: Unit) -> Values:
        return frozenset({Constant(node.value)}) if node.value is not ... else NOTHING

    def _name(self, node: ast.Name, unit: Unit) -> Values:
        return self.lookup(node.id, unit.lexical.scope(node), unit)

    def lookup(self, name: str, scope: Scope, unit: Unit) -> Values:
        """What a variable can hold."""
        owner = unit.lexical.owner(name, scope)
        if owner is not None:
            return self.store.read("name", owner, name)
        self.store.reads.add(("starred", unit.tree))
        starred = frozenset(value for module in unit.starred for value in self.member(module, name))
        if any(isinstance(value, Callable | Class) for value in starred):  # a library would only have it perhaps
            return frozenset(value for value in starred if not isinstance(value, Foreign))
        if any(not isinstance(value, Foreign) for value in starred) or name not in _BUILTINS:
            return starred
        return frozenset({Foreign(f"builtins.{name}")})

    def _attribute(self, node: ast.Attribute, unit: Unit) -> Values:
        return self.attribute(self.evaluate(node.value, unit), node.attr)

    def attribute(self, values: Values, name: str) -> Values:
        """What an attribute of any of `values` can be."""
        return frozenset(found for value in values for found in self.member(value, name))

    def member(self, value: object, name: str) -> Values:
        """What an attribute of `value` can be: what was assigned to it, or what its class or module has."""
        if isinstance(value, Foreign):
            assigned = self.store.read("attribute", value.node or value.name, name)
            return assigned | {value.step(f".{name}")}
        if isinstance(value, Module):
            return self.exported(value, name)
        if isinstance(value, Box):
            return frozenset({BoxMethod(value, name)})
        if isinstance(value, Class):
            return self._of_class(value, name, None)
        if isinstance(value, Instance):
            return self._of_class(value.type, name, value)
        return NOTHING

    def _of_class(self, owner: Class, name: str, instance: Instance | None) -> Values:
        found: set[object] = set()
        foreign: set[Foreign] = set()
        for base in self.lineage(owner):
            if isinstance(base, Foreign):
                foreign.add(base)
                continue
            own = self.store.read("name", base.node, name)
            found |= {Callable(v.node, instance) if isinstance(v, Callable) and instance else v for v in own}
            if instance is not None:
                found |= self._properties(found) | self.store.read("attribute", base.node, name)
                found |= {Box(base.node)} if name == "__dict__" else self.store.item(Box(base.node), name)
            if own:
                break
        if not found:
            suffix = f"().{name}" if instance is not None else f".{name}"
            found |= {Foreign(base.name, owner.node).step(suffix) for base in foreign}
        return frozenset(found)  # type: ignore[arg-type]

    def _properties(self, found: set[object]) -> set[object]:
        """What properties among methods give."""
        given: set[object] = set()
        for value in found:
            if isinstance(value, Callable) and not isinstance(value.node, ast.Lambda):
                if any(isinstance(each, ast.Name) and "property" in each.id for each in value.node.decorator_list):
                    given |= self.store.read("result", value.node)
        return given

    def lineage(self, owner: Class) -> list[Class | Foreign]:
        """A class, and what it inherits from, nearest first."""
        found: list[Class | Foreign] = []
        waiting: list[Class | Foreign] = [owner]
        while waiting and len(found) < 32:
            current = waiting.pop(0)
            if current not in found:
                found.append(current)
                if isinstance(current, Class):
                    waiting += self.bases(current)
        return found

    def bases(self, owner: Class) -> list[Class | Foreign]:
        """What a class is derived from, as far as it is known."""
        self.store.reads.add(("bases", owner.node))
        found = [value for base in owner.node.bases for value in self.values.get(base, NOTHING)]
        return [value for value in found if isinstance(value, Class | Foreign)]

    def _subscript(self, node: ast.Subscript, unit: Unit) -> Values:
        whole, index = self.evaluate(node.value, unit), self.evaluate(node.slice, unit)
        if isinstance(node.slice, ast.Slice):
            return frozenset(v.step("[:]") if isinstance(v, Foreign) else v for v in whole)
        keys = [v.value for v in index if isinstance(v, Constant) and isinstance(v.value, str | int)]
        found = set(items((v for v in whole if isinstance(v, Foreign)), self.store))
        for module in (v for v in whole if isinstance(v, Module)):
            named = (self.exported(module, key) for key in keys if isinstance(key, str))
            found |= frozenset().union(*named) if keys else self.any_of(frozenset({module}))
        for box in (v for v in whole if isinstance(v, Box)):
            found |= {v for key in keys or [ANY] for v in self.store.item(box, key)} or set(self.store.item(box))
        return frozenset(found)

    def _tuple(self, node: ast.Tuple | ast.List | ast.Set, unit: Unit) -> Values:
        box = Box(node)
        exact = True
        for number, element in enumerate(node.elts):
            if isinstance(element, ast.Starred):
                exact = False
                self.store.put(box, ANY, items(self.evaluate(element.value, unit), self.store))
            else:
                self.store.put(box, number if exact else ANY, self.evaluate(element, unit))
        return frozenset({box})

    _list = _set = _tuple

    def _dict(self, node: ast.Dict, unit: Unit) -> Values:
        box = Box(node)
        for key, value in zip(node.keys, node.values, strict=True):
            held = self.evaluate(value, unit)
            if key is None:
                self.pour(held, box)
                continue
            names = [v.value for v in self.evaluate(key, unit) if isinstance(v, Constant)]
            for name in names or [ANY]:
                self.store.put(box, name if isinstance(name, str | int) else ANY, held)
        return frozenset({box})

    def _listcomp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, unit: Unit) -> Values:
        for generator in node.generators:
            self._generator(generator, unit)
        box = Box(node)
        self.store.put(box, ANY, self.evaluate(node.elt, unit))
        return frozenset({box})

    _setcomp = _generatorexp = _listcomp

    def _dictcomp(self, node: ast.DictComp, unit: Unit) -> Values:
        for generator in node.generators:
            self._generator(generator, unit)
        self.evaluate(node.key, unit)
        box = Box(node)
        self.store.put(box, ANY, self.evaluate(node.value, unit))
        return frozenset({box})

    def _generator(self, node: ast.comprehension, unit: Unit) -> None:
        self.assign(node.target, items(self.evaluate(node.iter, unit), self.store), unit)
        for condition in node.ifs:
            self.evaluate(condition, unit)

    def _ifexp(self, node: ast.IfExp, unit: Unit) -> Values:
        self.evaluate(node.test, unit)
        return self.evaluate(node.body, unit) | self.evaluate(node.orelse, unit)

    def _boolop(self, node: ast.BoolOp, unit: Unit) -> Values:
        return frozenset(value for operand in node.values for value in self.evaluate(operand, unit))

    def _binop(self, node: ast.BinOp, unit: Unit) -> Values:
        sides = self.evaluate(node.left, unit), self.evaluate(node.right, unit)
        both = frozenset().union(*sides)
        text = "".join(_text(side) for side in sides) if all(map(_text, sides)) else ""
        if isinstance(node.op, ast.Add) and 0 < len(text) <= MAX_TEXT:
            return frozenset({Constant(text)})
        boxes = frozenset(value for value in both if isinstance(value, Box))
        if boxes and isinstance(node.op, ast.Add):
            joined = Box(node)
            self.pour(both, joined, keyed=False)
            return frozenset({joined})
        path = isinstance(node.op, ast.Div) and any(isinstance(v, Foreign) and v.name == PATH for v in both)
        return frozenset({Foreign(PATH if path else "?", node)})

    def _joinedstr(self, node: ast.JoinedStr, unit: Unit) -> Values:
        """The texts that are put together of known ones: a few."""
        texts = [""]
        for part in node.values:
            plain = not isinstance(part, ast.FormattedValue) or (part.conversion < 0 and part.format_spec is None)
            values = self.evaluate(part.value if isinstance(part, ast.FormattedValue) else part, unit)
            known = [
                each.value for each in values if plain and isinstance(each, Constant) and isinstance(each.value, str)
            ]
            texts = [one + other for one in texts for other in known] if len(known) == len(values) <= MOST_TEXTS else []
        if 0 < len(texts) <= MOST_TEXTS and all(len(each) <= MAX_TEXT for each in texts):
            return frozenset(map(Constant, texts))
        return frozenset({Foreign("?", node)})

    def _namedexpr(self, node: ast.NamedExpr, unit: Unit) -> Values:
        found = self.evaluate(node.value, unit)
        self.assign(node.target, found, unit)
        return found

    def _lambda(self, node: ast.Lambda, unit: Unit) -> Values:
        self.defaults(node, unit)
        self.store.add(self.evaluate(node.body, unit), "result", node)
        return frozenset({Callable(node)})

    def _await(self, node: ast.Await, unit: Unit) -> Values:
        return self.evaluate(node.value, unit)

    def _starred(self, node: ast.Starred, unit: Unit) -> Values:
        return self.evaluate(node.value, unit)

    def _yield(self, node: ast.Yield, unit: Unit) -> Values:
        self.yielded(node, self.evaluate(node.value, unit), unit)
        return NOTHING

    def _yieldfrom(self, node: ast.YieldFrom, unit: Unit) -> Values:
        self.yielded(node, items(self.evaluate(node.value, unit), self.store), unit)
        return NOTHING

    def _call(self, node: ast.Call, unit: Unit) -> Values:
        return self.call(node, unit)


def _text(values: Values) -> str:
    """The text that is the only value something can have; empty where it may be another."""
    one = next(iter(values), None) if len(values) == 1 else None
    return one.value if isinstance(one, Constant) and isinstance(one.value, str) else ""
