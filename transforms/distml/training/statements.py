"""What statements bind, for every module, function and class of the program, in the order they are written."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from distml.source.bindings import arguments
from distml.training.expressions import Expressions, method
from distml.training.store import ANY, items
from distml.training.values import (
    NOTHING,
    Box,
    Callable,
    Class,
    Foreign,
    Function,
    Instance,
    Module,
    Values,
    canonical,
)

if TYPE_CHECKING:
    from distml.training.unit import Unit

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NEVER: tuple[int, AbstractSet[Hashable]] = (-1, frozenset())


class Statements(Expressions):
    """Runs over statements once; repeated until nothing new is found."""

    followed: dict[ast.AST, tuple[int, AbstractSet[Hashable]]]
    """When a statement was last followed, and what it read."""

    def module_of(self, unit: Unit, name: str, level: int = 0) -> Values:
        """What `import name` means in `unit`: a module of the program or of a library."""
        raise NotImplementedError

    def block(self, body: Iterable[ast.stmt | ast.Module], unit: Unit) -> None:
        """Follow statements, and those in them, as far as something that they read is more than when they last were.

        They would add nothing else: what they give is a function of what they read.
        """
        store, outer = self.store, self.store.reads
        for statement in body:
            since, keys = self.followed.get(statement, _NEVER)
            if since < 0 or store.grown(keys, since):
                since, store.reads = store.clock, set()
                getattr(self, method(type(statement).__name__), self._any)(statement, unit)
                keys = store.reads
                self.followed[statement] = since, keys
            outer |= keys
        store.reads = outer

    def _any(self, node: ast.AST, unit: Unit) -> None:
        """A statement that binds nothing: its expressions and blocks."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child, unit)
            elif isinstance(child, ast.stmt):
                self.block([child], unit)
            else:
                self._any(child, unit)

    def assign(self, target: ast.expr, values: Values, unit: Unit) -> None:
        """Bind a name, an attribute, an item, or several by position."""
        if isinstance(target, ast.Name):
            owner = unit.lexical.owner_at(target.id, target, writing=True)
            self.store.add(values, "name", owner, target.id)
            self.values[target] = values
        elif isinstance(target, ast.Attribute):
            self.set_attribute(self.evaluate(target.value, unit), target.attr, values)
        elif isinstance(target, ast.Subscript):
            whole, index = self.evaluate(target.value, unit), self.evaluate(target.slice, unit)
            names = [getattr(each, "value", ANY) for each in index]
            for box in (each for each in whole if isinstance(each, Box)):
                for name in names or [ANY]:
                    self.store.put(box, name if isinstance(name, str | int) else ANY, values)
        elif isinstance(target, ast.Starred):
            box = Box(target)
            self.store.put(box, ANY, values)
            self.assign(target.value, frozenset({box}), unit)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, values, unit)

    def _unpack(self, target: ast.Tuple | ast.List, values: Values, unit: Unit) -> None:
        for number, element in enumerate(target.elts):
            found = set(items((v for v in values if isinstance(v, Foreign)), self.store))
            for box in (v for v in values if isinstance(v, Box)):
                found |= self.store.item(box, number) or self.store.item(box)
            self.assign(element, frozenset(found), unit)

    def set_attribute(self, objects: Values, name: str, values: Values) -> None:
        """Give an attribute of some objects a value; the attributes of one may be a dict that all are in."""
        for each in objects:
            if isinstance(each, Instance) and name == "__dict__":
                self.pour(values, Box(each.type.node))
            elif isinstance(each, Instance):
                self.store.add(values, "attribute", each.type.node, name)
            elif isinstance(each, Class):
                self.store.add(values, "name", each.node, name)
                for function in values:
                    if isinstance(function, Callable) and isinstance(function.node, _FUNCTIONS):
                        self._receive(function.node, each)
            elif isinstance(each, Module):
                self.store.add(values, "name", each.source.tree, name)
            elif isinstance(each, Foreign):
                self.store.add(values, "attribute", each.node or each.name, name)

    def _assign(self, node: ast.Assign, unit: Unit) -> None:
        values = self.evaluate(node.value, unit)
        for target in node.targets:
            self.assign(target, values, unit)

    def _annassign(self, node: ast.AnnAssign, unit: Unit) -> None:
        self.assign(node.target, self.evaluate(node.value, unit), unit)
        owner = unit.lexical.scope(node)
        if isinstance(node.target, ast.Name) and isinstance(owner, ast.ClassDef):
            self._guess(self.evaluate(node.annotation, unit), node, "name", owner, node.target.id)

    def _augassign(self, node: ast.AugAssign, unit: Unit) -> None:
        added = self.evaluate(node.value, unit)
        if isinstance(node.target, ast.Name):
            held = self.lookup(node.target.id, unit.lexical.scope(node.target), unit)
            for box in (each for each in held if isinstance(each, Box)):
                self.pour(added, box, keyed=False)
        elif isinstance(node.target, ast.Attribute):
            for box in (each for each in self.evaluate(node.target, unit) if isinstance(each, Box)):
                self.pour(added, box, keyed=False)
        self.assign(node.target, frozenset({Foreign("?", node), *(v for v in added if isinstance(v, Box))}), unit)

    def _for(self, node: ast.For | ast.AsyncFor, unit: Unit) -> None:
        self.assign(node.target, items(self.evaluate(node.iter, unit), self.store), unit)
        self.block([*node.body, *node.orelse], unit)

    _asyncfor = _for

    def _with(self, node: ast.With | ast.AsyncWith, unit: Unit) -> None:
        for item in node.items:
            values = self.evaluate(item.context_expr, unit)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, self._entered(values), unit)
        self.block(node.body, unit)

    _asyncwith = _with

    def _entered(self, values: Values) -> Values:
        """What `with` gives: the object itself, unless its class says otherwise."""
        found: set[object] = set()
        for value in values:
            given: set[object] = set()
            if isinstance(value, Instance):
                for method in self.member(value, "__enter__"):
                    if isinstance(method, Callable):
                        given |= self.store.read("result", method.node)
            found |= given or {value}
        return frozenset(found)  # type: ignore[arg-type]

    def _return(self, node: ast.Return, unit: Unit) -> None:
        values = self.evaluate(node.value, unit)
        scope = unit.lexical.scope(node)
        if isinstance(scope, _FUNCTIONS):
            self.store.add(values, "result", scope)

    def yielded(self, node: ast.expr, values: Values, unit: Unit) -> None:
        """A generator's result goes over what it yields."""
        scope = unit.lexical.scope(node)
        if isinstance(scope, _FUNCTIONS):
            box = Box(scope)
            self.store.put(box, ANY, values)
            self.store.add([box], "result", scope)

    def _functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, unit: Unit) -> None:
        for decorator in node.decorator_list:
            self.evaluate(decorator, unit)
        self.defaults(node, unit)
        scope = unit.lexical.scope(node)
        owner = unit.lexical.owner(node.name, scope, writing=True)
        self.store.add([Callable(node)], "name", owner, node.name)
        if isinstance(scope, ast.ClassDef):
            self._receive(node, Class(scope))
        self.block(node.body, unit)

    _asyncfunctiondef = _functiondef

    def _receive(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: Class) -> None:
        """The first parameter of a method is an instance of its class."""
        names = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
        first = next(iter([*node.args.posonlyargs, *node.args.args]), None)
        if first is not None and "staticmethod" not in names:
            self.store.add([owner if "classmethod" in names else Instance(owner)], "name", node, first.arg)

    def defaults(self, node: Function, unit: Unit) -> None:
        """Defaults reach their parameters; so do annotations where nothing else does."""
        args = node.args
        positional = [*args.posonlyargs, *args.args]
        given = [*zip(reversed(positional), reversed(args.defaults), strict=False)]
        given += [(arg, value) for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value]
        for arg, value in given:
            self.store.add(self.evaluate(value, unit), "name", node, arg.arg)
        if not isinstance(node, ast.Lambda):
            for arg in arguments(node):
                self._annotated(arg, node, unit)

    def _annotated(self, arg: ast.arg, node: Function, unit: Unit) -> None:
        annotation = self._written(arg.annotation, node, unit)
        self._guess(self.evaluate(annotation, unit), arg, "name", node, arg.arg)

    def _guess(self, annotation: Values, node: ast.AST, *place: Hashable) -> None:
        """What an annotation says of a place that nothing is known to be put in."""
        if annotation and self.guessed() and not self.store.read(*place):
            made = {Foreign(f"{v.name}()", node) for v in annotation if isinstance(v, Foreign) and "()" not in v.name}
            self.store.add({*made, *(Instance(v) for v in annotation if isinstance(v, Class))}, *place)

    def _written(self, annotation: ast.expr | None, node: Function, unit: Unit) -> ast.expr | None:
        """An annotation; one that is written as a string, read."""
        if not isinstance(annotation, ast.Constant) or not isinstance(annotation.value, str):
            return annotation
        return unit.lexical.unquoted(annotation, annotation.value, node)

    def _classdef(self, node: ast.ClassDef, unit: Unit) -> None:
        known = [self.values.get(each) for each in node.bases]
        for each in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self.evaluate(each, unit)
        if known != [self.values[each] for each in node.bases]:
            self.store.mark("bases", node)
        owner = unit.lexical.owner_at(node.name, node, writing=True)
        self.store.add([Class(node)], "name", owner, node.name)
        self.block(node.body, unit)

    def _import(self, node: ast.Import, unit: Unit) -> None:
        owner = unit.lexical.scope(node)
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            bound = alias.asname or name
            where = unit.lexical.owner(bound, owner, writing=True)
            self.store.add(self.module_of(unit, name), "name", where, bound)
            if name != alias.name:
                self.module_of(unit, alias.name)

    def _importfrom(self, node: ast.ImportFrom, unit: Unit) -> None:
        modules = self.module_of(unit, node.module or "", node.level)
        for alias in node.names:
            if alias.name == "*":
                if not modules <= unit.starred:
                    unit.starred |= modules
                    self.store.mark("starred", unit.tree)
                continue
            bound = alias.asname or alias.name
            where = unit.lexical.owner_at(bound, node, writing=True)
            found = frozenset(value for module in modules for value in self.member(module, alias.name))
            if not found and modules:
                found = NOTHING
            self.store.add(found, "name", where, bound)


def library(name: str) -> Foreign:
    """A module of a library."""
    return Foreign(canonical(name))
