"""Whether parties that hold the same values get the same result.

Only communication, constants and pure functions of agreed values give agreement. What is pure is written down: functions
of Python and its library that depend on nothing but their arguments, methods of types that are known. Functions of the
program are judged by their bodies. Any other call belongs to whoever runs it, and so does what depends on an order, a text
or a format that is not known to be the same everywhere.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Mapping
from typing import Any

from distml.choreo.aliases import root
from distml.choreo.changes import CHANGING, changed, changed_fields, changes_when_asked, is_class_state, mutators
from distml.choreo.hints import Hints, element, targets
from distml.choreo.kinds import Hint, head, is_enum
from distml.choreo.library import (
    BUILTINS,
    CALLING,
    CHOOSING,
    FIXED,
    METHODS,
    ORDERLESS,
    TEXTS,
    TYPES,
    in_library,
    is_encoding,
    is_fixed,
    is_plain,
    iterates,
)
from distml.choreo.operations import Operations
from distml.choreo.read import defaults_of, dotted, last
from distml.choreo.sharing import kept_arguments
from distml.choreo.surroundings import SETS, Surroundings, defines, is_given
from distml.choreo.varying import varying

_GIVEN_BACK = frozenset(
    ("property", "staticmethod", "classmethod", "cached_property", "override", "final", "abstractmethod")
)
"""Decorators of methods that leave to the body what the method gives."""
_OF_CLASSES = frozenset(("dataclass", "dataclass_transform", "total_ordering", "final", "unique", "runtime_checkable"))
_MAKERS = ("__new__", "__init__", "__post_init__")
_OF_ENUMS = frozenset(("_missing_", "_generate_next_value_"))
"""What an Enum asks for a member that has no such value, and for the value of one that has none."""
_NOTES = frozenset(("__slots__", "__match_args__", "__doc__", "__annotations__"))


class Purity(Operations):
    """Judges the operations of expressions whose variables have these types."""

    def __init__(
        self,
        module: Surroundings,
        names: Mapping[str, Hint],
        known: Callable[[ast.expr], Hint] = lambda node: None,
        seen: frozenset[str] = frozenset(),
    ) -> None:
        self.module, self.names, self.seen = module, names, seen
        self.hints = Hints(module, names, known)
        self.kinds = self.hints.kinds

    def differs(self, node: ast.AST) -> bool:
        """Whether an operation may give parties different results though its operands are the same; operands aside."""
        method: Callable[[Any], bool] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
        return method is not None and method(node)

    def _varying(self) -> frozenset[str]:
        """What of the file need not be the same at each party; nothing while that is found out."""
        module = self.module
        if module.told_to_vary is None:
            module.told_to_vary = frozenset()
            module.told_to_vary = varying(module, lambda each: Purity(module, {}).anywhere(each))
        return module.told_to_vary

    def anywhere(self, node: ast.AST) -> bool:
        """Whether this is so of the node or anything inside it."""
        inner: Purity = self
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            inner = Purity(self.module, self.hints.within(node).names, self.hints.known, self.seen)
        elif isinstance(node, ast.Lambda):
            inner = self.over({each.arg: None for each in ast.walk(node.args) if isinstance(each, ast.arg)})
        inside: list[ast.AST] = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Call):  # the functions that it calls are judged with it
            called = self.called(node)
            inside = [each for each in inside if each not in called]
            inside += [each.value for each in node.keywords if each.value not in called]
            inside = [each for each in inside if not isinstance(each, ast.keyword)]
            inside += [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return self.differs(node) or any(inner.anywhere(each) for each in inside)

    def functions(self, node: ast.Call) -> list[ast.expr]:
        """The functions that a call calls: what it names, and what it hands to a function that calls it."""
        position, name = CALLING.get(self._called_path(node.func), (-1, ""))
        given = node.args[position : position + 1] if position >= 0 else []
        given = [each.value for each in node.keywords if each.arg and each.arg == name] or given
        found = [each for each in given if not isinstance(each, ast.Constant | ast.Starred)]
        found = [each for each in found if not isinstance(each, ast.Name) or self.hints.kind(each) != "str"]
        named = isinstance(node.func, ast.Name) and node.func.id not in self.names
        return [node.func, *found] if named or isinstance(node.func, ast.Attribute | ast.Lambda) else found

    def called(self, node: ast.Call) -> dict[ast.expr, list[Hint] | None]:
        """These functions, and the types of the arguments that each gets; None where they are not known."""
        path, own = self._called_path(node.func), self._given(node)
        return {each: own if each is node.func else self._handed(path, node) for each in self.functions(node)}

    def _called_path(self, function: ast.expr) -> str:
        """The dotted name of a function of Python or its library, the last word of a method's."""
        if isinstance(function, ast.Name):
            return self.module.imports().get(function.id, function.id) if function.id not in self.names else ""
        return (self._path(function) or function.attr) if isinstance(function, ast.Attribute) else ""

    def _handed(self, path: str, node: ast.Call) -> list[Hint] | None:
        """The types of the arguments that a function gets from one that goes through values."""
        items = [element(self.hints.of(each)) for each in node.args]
        if path == "map":
            return items[1:]
        if path == "filter":
            return items[1:2]
        if path == "sort" and isinstance(node.func, ast.Attribute):
            return [element(self.hints.of(node.func.value))]
        if path in CHOOSING:
            return items[:1] if len(items) == 1 else [self.hints.of(node.args[0]) if node.args else None]
        return [] if path in ("collections.defaultdict", "dataclasses.field") else None

    def compares(self, pattern: ast.pattern) -> bool:
        """Whether a pattern asks for a value that each party may have another of, or for what a class answers."""
        parts = list(ast.walk(pattern))
        values = [each.value for each in parts if isinstance(each, ast.MatchValue)]
        values += [key for each in parts if isinstance(each, ast.MatchMapping) for key in each.keys]
        return any(map(self.anywhere, values)) or any(
            self._asks_class(e) for e in parts if isinstance(e, ast.MatchClass)
        )

    def _asks_class(self, pattern: ast.MatchClass) -> bool:
        name, named = last(pattern.cls), set(pattern.kwd_attrs)
        made = self.module.local_class(name)
        if made is None:
            return name not in TYPES or bool(named)
        fields = [
            each.target.id
            for each in made.body
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        ]
        listed = bool(made.decorator_list) and len(fields) >= len(pattern.patterns)  # those of a dataclass
        if not self._special(made) or (pattern.patterns and not listed):
            return True
        return any(
            self._field(made, each, [written_class(made)]) for each in named | {*fields[: len(pattern.patterns)]}
        )

    def _given(self, node: ast.Call) -> list[Hint]:
        """The types of positional arguments; none where it cannot be told which is which."""
        unpacked = any(isinstance(each, ast.Starred) for each in node.args)
        return [] if unpacked else [self.hints.of(each) for each in node.args]

    def over(self, names: Mapping[str, Hint]) -> Purity:
        """With these variables too."""
        return Purity(self.module, {**self.names, **names}, self.hints.known, self.seen)

    def _name(self, node: ast.Name) -> bool:
        if node.id in self.names:
            kind = self.hints.kind(node)
            return kind in self._varying() or not self._special(self.module.local_class(kind))
        if node.id in self._varying() or _special(node.id):
            return True
        made = self.module.local_class(node.id)
        if is_enum(made) and made is not None:
            return any(
                Purity(self.module, {}, seen=self.seen).anywhere(each) for each in made.body if _sets_value(each)
            )
        if made is not None or node.id in self.module.imports():
            return self._from_elsewhere(node)  # a class is data; modules are judged where they are used
        own = self.module.local_function(node.id) is not None
        own = own or self._by_star(node.id)
        return own or (node.id not in self.module.defined() and self._python(node.id) and self._runs(node, None))

    def _by_star(self, name: str) -> bool:
        """Whether a name that the file does not mention otherwise comes from all that another file has."""
        away = name not in self.module.defined() and not hasattr(builtins, name) and self.module.stars()
        return away and name not in self.module.constants

    def _from_elsewhere(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether a name comes from a file that is not Python's, and nothing shows that it is a constant there."""
        name = dotted(node)
        first = name.partition(".")[0]
        path = self.module.imports().get(first) if first not in self.names else None
        return path is not None and not is_given(path) and name not in self.module.constants

    def _python(self, name: str) -> bool:
        """Whether a name is that of a function of Python's own."""
        return hasattr(builtins, name) and name not in TYPES

    def _attribute(self, node: ast.Attribute) -> bool:
        made = self.module.local_class(self.hints.kind(node))
        if _special(node.attr) or not self._special(made):
            return True  # such as `__traceback__`: what Python keeps for itself
        path = self._path(node)
        if path is not None:
            return not in_library(path) or root(node) in self._varying()
        owner = node.value.id if isinstance(node.value, ast.Name) and node.value.id not in self.names else ""
        hint = self.hints.of(node.value)
        itself = self.module.local_class(owner) or self.module.local_class(head(hint))
        if itself is None and self._from_elsewhere(node):
            return True
        if itself is None:
            return node.attr in METHODS.get(head(hint), frozenset()) & CHANGING or owner in METHODS
        return self._field(itself, node.attr, [hint])

    def _field(self, made: ast.ClassDef, name: str, given: list[Hint]) -> bool:
        """Whether what an object of a class holds under a name, or its class does, is not the same at each party."""
        for each in self.module.lineage(made):
            for one in each.body:
                if isinstance(one, ast.FunctionDef) and one.name == name:
                    asked = bool(one.decorator_list)
                    return (asked and name in mutators(self.module)) or not self._follows(
                        one, given if asked else [], each.name
                    )
                if isinstance(one, ast.Assign | ast.AnnAssign) and name in defines(one):
                    kept = one.value is not None and is_class_state(one.value, name, self.module)
                    return kept or Purity(self.module, {}, seen=self.seen).anywhere(one)
        return name in changed_fields(self.module)[0] or not self._sets(made, name)

    def _sets(self, made: ast.ClassDef, name: str) -> bool:
        """Whether a class of the file, or what it extends, sets an attribute where that is seen."""
        lineage = self.module.lineage(made)
        own = {each.name for each in lineage} | {"object", "Generic", "Protocol", "ABC"}
        if any(
            last(base.value if isinstance(base, ast.Subscript) else base) not in own
            for e in lineage
            for base in e.bases
        ):
            return True  # those of a class out of sight are its own
        stores = (each for made in lineage for each in ast.walk(made) if isinstance(each, ast.Attribute))
        return any(each.attr == name and not isinstance(each.ctx, ast.Load) for each in stores)

    def _path(self, node: ast.expr) -> str | None:
        """The dotted name in the standard library that an expression names, None for anything else."""
        if isinstance(node, ast.Attribute):
            before = self._path(node.value)
            return None if before is None else f"{before}.{node.attr}"
        if not isinstance(node, ast.Name) or node.id in self.names:
            return None
        path = self.module.imports().get(node.id)
        return path if path is not None and path.partition(".")[0] in sys.stdlib_module_names else None

    def _away(self, node: ast.AST) -> bool:
        return True

    _global = _nonlocal = _await = _asyncfor = _asyncwith = _away

    def _call(self, node: ast.Call) -> bool:
        called = self.called(node)
        given = [*node.args, *(each.value for each in node.keywords)]
        if any(self._runs(each, hints) for each, hints in called.items() if each is not node.func):
            return True
        given = [each for each in given if each not in called]
        if isinstance(node.func, ast.Name):
            return self._named(node, node.func.id, given)
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func, given)
        return not isinstance(node.func, ast.Lambda) or self._runs(node.func, [self.hints.of(each) for each in given])

    def _runs(self, node: ast.expr, given: list[Hint] | None) -> bool:
        """Whether a function that others call is not known to be pure, for arguments of these types."""
        if isinstance(node, ast.Lambda):
            parameters = [each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)]
            inner = self.over(dict.fromkeys(parameters) | dict(zip(parameters, given or [])))
            return inner.anywhere(node.body) or any(map(self.anywhere, defaults_of(node)))
        if isinstance(node, ast.Call):
            return self.anywhere(node)  # what makes functions, such as `itemgetter(0)`, is in the table
        if isinstance(node, ast.Attribute) and self._path(node) is None:
            return self._runs_method(node, given or [])
        if not isinstance(node, ast.Name | ast.Attribute) or (isinstance(node, ast.Name) and node.id in self.names):
            return True
        own = self._runs_own(node.id, given or []) if isinstance(node, ast.Name) else None
        path = self._called_path(node)
        pure = in_library(path) if "." in path else path in BUILTINS and path not in self.module.defined()
        return own if own is not None else not pure or self._asks(path, given)

    def _runs_method(self, node: ast.Attribute, given: list[Hint]) -> bool:
        """The same of a method that is no function of a library."""
        owner = node.value.id if isinstance(node.value, ast.Name) and node.value.id not in self.names else ""
        made = self.module.local_class(owner) or self.module.local_class(self.hints.kind(node.value))
        if made is not None:
            return not self._follows_method(made, node.attr, given)
        known = METHODS.get(owner or self.hints.kind(node.value), frozenset()) - CHANGING
        return node.attr not in known or self.anywhere(node.value)

    def _runs_own(self, name: str, given: list[Hint]) -> bool | None:
        """The same of a function or class of the program; None where the name is none of them."""
        function, made = self.module.local_function(name), self.module.local_class(name)
        if function is not None:
            return not self._follows(function, given)
        return None if made is None else self._constructs(made, given)

    def _named(self, node: ast.Call, name: str, given: list[ast.expr]) -> bool:
        if name in self.names:
            return True  # a value that is called may be anything
        own = self._runs_own(name, self._given(node))
        if own is not None:
            return own
        if name in self._varying():
            return True
        path = self.module.imports().get(name)
        pure = in_library(path) if path is not None else name in BUILTINS and name not in self.module.defined()
        return not pure or self._asks_of(path or name, node, given)

    def _asks_of(self, path: str, node: ast.Call, given: list[ast.expr]) -> bool:
        """Whether a pure function is given something whose order, text or format parties do not agree on."""
        if path in FIXED:
            return not (node.args and is_fixed(node.args[0]))
        if path.startswith("operator.") and path.endswith("getter"):
            return any(not isinstance(each, ast.Constant) or "__" in str(each.value) for each in given)
        if path in ("str", "bytes", "bytearray") and len(given) > 1:
            return not is_encoding(given[1])
        if path == "format" and len(given) > 1:
            return not (isinstance(given[1], ast.Constant) and self._is_format(given[1])) or not self._has_text(
                given[0], True
            )
        if path in CHOOSING and len(node.args) > 1:
            return False
        if path in CHOOSING and any(each.arg == "key" for each in node.keywords):
            return not all(map(self.hints.is_ordered, given))  # of equals the first is taken
        return self._asks(path, [self.hints.of(each) for each in given])

    def _asks(self, path: str, given: list[Hint] | None) -> bool:
        """Whether a pure function asks for more than that its arguments, of these types, are the same."""
        if path in TEXTS:
            return given is None or any(not self.kinds.has_text(each, path in ("str", "format")) for each in given)
        if path in CHOOSING:
            return given is None or not all(
                self.kinds.has_order(each) or self.kinds.is_total(element(each)) for each in given
            )
        if path == "sum" and given and head(element(given[0])) in ("int", "bool"):
            return False
        if iterates(path):
            return given is None or not all(map(self.kinds.has_order, given))
        return path not in ORDERLESS and any(map(self.module.is_set, given or []))

    def is_stranger(self, node: ast.Call) -> bool:
        """Whether nothing is known of what is called, so that it may change what it is given."""
        if isinstance(node.func, ast.Attribute):
            owner = self.hints.kind(node.func.value)
            known = owner in METHODS or last(node.func.value) in METHODS or self.module.local_class(owner) is not None
            return self._path(node.func) is None and not known
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in self.names or self.module.local_function(name) or self.module.local_class(name):
            return name in self.names
        home = self.module.imports().get(name)
        return not hasattr(builtins, name) if home is None else home.partition(".")[0] not in sys.stdlib_module_names

    def _method(self, node: ast.Call, function: ast.Attribute, given: list[ast.expr]) -> bool:
        path = self._path(function)
        if path is not None:
            return not in_library(path) or root(function) in self._varying() or self._asks_of(path, node, given)
        hints = self._given(node)
        owner = function.value.id if isinstance(function.value, ast.Name) else ""
        owner = owner if owner not in self.names else ""
        made = self.module.local_class(owner)
        if made is not None:
            return not self._follows_method(made, function.attr, hints)
        hint = self.hints.of(function.value)
        kind = owner if owner in METHODS else head(hint)  # the class itself, as in `str.upper(x)`
        made = self.module.local_class(kind)
        if made is not None:
            return not self._follows_method(made, function.attr, [hint, *hints])
        if function.attr not in METHODS.get(kind, frozenset()):
            return True
        if function.attr in ("encode", "decode"):
            return any(not is_encoding(each) for each in given[:1])
        if function.attr == "format":
            return not is_plain(function.value) or any(not self._has_text(each, False) for each in given)
        if iterates(function.attr) and kind not in SETS:
            return not all(map(self.hints.is_ordered, given))
        return kind not in SETS and any(self.module.is_set(self.hints.of(each)) for each in given)

    def _constructs(self, made: ast.ClassDef, given: list[Hint]) -> bool:
        """Whether an object of a local class is made from more than its arguments."""
        if not self._special(made):
            return True
        for each in self.module.lineage(made):
            fields = [one.value for one in each.body if isinstance(one, ast.AnnAssign) and one.value is not None]
            if any(Purity(self.module, {}, seen=self.seen).anywhere(one) for one in fields):
                return True
            makers = [one for one in each.body if isinstance(one, ast.FunctionDef) and one.name in _MAKERS]
            if not all(self._follows(one, [written_class(made), *given], each.name) for one in makers):
                return True
        return False

    def _special(self, made: ast.ClassDef | None) -> bool:
        """Whether what Python asks of the objects of a class (`len(x)`, `x + 1`, `x.name`) depends on nothing else."""
        if made is None:
            return True
        if made.name in self.seen:
            self.module.assumed.add(made.name)  # whoever asked first looks at all of it
            return True
        return self.module.remembered(made.name, ("class",), lambda: self._answers_alike(made))

    def _answers_alike(self, made: ast.ClassDef) -> bool:
        if (
            changes_when_asked(made, self.module)
            or not all(map(self._special_base, made.bases))
            or made.keywords
            or made.name in self.module.patched()
            or not all(map(_is_plain_part, made.body))
        ):
            return False
        if any(
            last(each.func if isinstance(each, ast.Call) else each) not in _OF_CLASSES for each in made.decorator_list
        ):
            return False
        within = Purity(self.module, {}, seen=self.seen | {made.name})
        methods = [each for each in made.body if isinstance(each, ast.FunctionDef) and each.name not in _MAKERS]
        asked = [each for each in methods if _special(each.name) or (is_enum(made) and each.name in _OF_ENUMS)]
        return all(within._follows(each, [written_class(made)], made.name) for each in asked)

    def _special_base(self, base: ast.expr) -> bool:
        """Whether a class that is extended is one of Python's own or of the program, and depends on nothing else."""
        name = last(base.value if isinstance(base, ast.Subscript) else base)
        made = self.module.local_class(name)
        home = self.module.imports().get(name, name if hasattr(builtins, name) else "")
        library = hasattr(builtins, home) or home.partition(".")[0] in {*sys.stdlib_module_names, "distml"}
        return self._special(made) if made is not None else library or isinstance(base, ast.Attribute)

    def _follows_method(self, made: ast.ClassDef, name: str, given: list[Hint]) -> bool:
        for each in self.module.lineage(made):
            for one in each.body:
                if isinstance(one, ast.FunctionDef) and one.name == name:
                    return self._follows(one, given, each.name)
        return False

    def _follows(self, function: ast.FunctionDef, given: list[Hint], owner: str = "") -> bool:
        """Whether a function of the program depends on nothing but its arguments, of these types where they say none."""
        name = f"{owner}.{function.name}"
        if name in self.seen:
            self.module.assumed.add(name)
            return True
        types = tuple("" if each is None else ast.unparse(each) for each in given)
        return self.module.remembered(name, types, lambda: self._depends_on_nothing_else(function, given, owner))

    def _depends_on_nothing_else(self, function: ast.FunctionDef, given: list[Hint], owner: str) -> bool:
        name = f"{owner}.{function.name}"
        if any(last(each) not in _GIVEN_BACK for each in function.decorator_list):
            return False
        parameters = [*function.args.posonlyargs, *function.args.args]
        names: dict[str, Hint] = {each.arg: None for each in ast.walk(function.args) if isinstance(each, ast.arg)}
        names |= {each.arg: hint for each, hint in zip(parameters, given)}
        names |= {each.arg: each.annotation for each in parameters if each.annotation is not None}
        if owner and parameters and any(last(each) == "classmethod" for each in function.decorator_list):
            names[parameters[0].arg] = ast.Name(owner, ast.Load())
        own = {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        names |= dict.fromkeys(own - names.keys())
        inner = Purity(self.module, names, seen=self.seen | {name})
        _assigned(function, inner.hints, names)
        if changed(function, self.module) - ({each.arg for each in parameters} - kept_arguments(function)):
            return False
        if any(Purity(self.module, {}).anywhere(each) for each in defaults_of(function)):
            return False
        return not any(inner.anywhere(each) for each in function.body)


def _assigned(function: ast.FunctionDef, hints: Hints, names: dict[str, Hint]) -> None:
    """Note the types of variables that are assigned once, or with annotations."""
    nodes = [each for each in ast.walk(function) if isinstance(each, ast.Assign | ast.AnnAssign | ast.For)]
    for each in nodes:
        if isinstance(each, ast.AnnAssign):
            found = targets(each.target, each.annotation)
        elif isinstance(each, ast.For):
            found = targets(each.target, element(hints.of(each.iter)))
        else:
            found = {k: v for target in each.targets for k, v in targets(target, hints.of(each.value)).items()}
        names.update({name: hint for name, hint in found.items() if names.get(name) is None})


def _special(name: str) -> bool:
    """Whether a name is one that Python gives a meaning."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


def _sets_value(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign | ast.AnnAssign)


def _is_plain_part(node: ast.stmt) -> bool:
    """Whether a statement of a class only defines a method or a value, nothing that Python gives a meaning aside."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return not any(_special(each) and each not in _NOTES for each in defines(node))
    return isinstance(node, ast.FunctionDef | ast.Pass | ast.Expr | ast.ClassDef)


def written_class(made: ast.ClassDef) -> ast.expr:
    """The type of the objects of a class."""
    return ast.Name(made.name, ast.Load())
