"""Words of the language, and roles, that stand where no type of a choreography is read: each is refused by name.

What is read is written down here: the annotations and bases that are names, subscripted names and unions of them, and the
aliases at the top of a file. Anything else may come to a type when the program runs, and says nothing to a reader.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from distml.choreo.facts import Facts
from distml.choreo.model import Module
from distml.choreo.read import PLACES, WORDS, dotted, last, parts_of
from distml.choreo.surroundings import unquoted

_INSIDE = "stands inside of another type"
_EVALUATED = "is evaluated only when the program runs"
_ELSEWHERE = "gets another name here"
_ASKING = frozenset({"isinstance", "issubclass", "cast"})
"""Functions that take a type and give it no other name."""
Found = Iterator[tuple[ast.expr, str]]


def report_unread(module: Module, facts: Facts) -> None:
    """Report each of them at its place."""
    if not module.words:
        return
    for part, why in _Reader(module).found():
        name = ast.unparse(part) if isinstance(part, ast.Call) else last(part) or ast.unparse(part)
        facts.say("CHO402", part, f"`{name}` {why}: what it says of roles is not read")


def is_read(annotation: ast.expr | None) -> bool:
    """Whether an annotation is of a form that is read: names, subscripted names, unions, texts of such."""
    return next(_computed(annotation), None) is None


def _computed(annotation: ast.expr | None) -> Iterator[ast.expr]:
    """The expressions in an annotation, outside of data types, that come to something only when they are evaluated."""
    node = unquoted(annotation)
    if isinstance(node, ast.Subscript) and dotted(node.value):
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _computed(node.left)
        yield from _computed(node.right)
    elif node is not None and not dotted(node) and not (isinstance(node, ast.Constant) and node.value in (None, ...)):
        yield node


class _Reader:
    """Goes through a file, and gives what it finds with why it is not read."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.choreographies = {each.node for each in module.functions.values()}
        self.choreographies |= {each.node for kind in module.classes.values() for each in kind.methods.values()}
        self.aliases = {getattr(node, "value", None) for node in module.tree.body if _names_one(node)}

    def found(self) -> Found:
        """All of a file."""
        yield from self._within(self.module.tree)

    def _within(self, node: ast.AST) -> Found:
        for name, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.expr) and name in ("annotation", "returns"):
                    yield from self._annotation(child, isinstance(node, ast.AnnAssign))
                elif isinstance(child, ast.expr) and isinstance(node, ast.ClassDef) and name == "bases":
                    yield from self._base(child)
                elif isinstance(child, ast.expr):
                    yield from self._expression(child)
                elif isinstance(child, ast.arguments):
                    yield from self._arguments(child, node in self.choreographies)
                elif isinstance(child, ast.AST):
                    yield from self._within(child)

    def _arguments(self, node: ast.arguments, followed: bool) -> Found:
        for several in (node.vararg, node.kwarg):
            if several is not None and several.annotation is not None:
                for part in self._words(several.annotation, PLACES):
                    yield part, "is the type of any number of arguments"
        for each in (*node.posonlyargs, *node.args, *node.kwonlyargs):
            yield from self._annotation(each.annotation, followed)
        for default in (*node.defaults, *node.kw_defaults):
            if default is not None:
                yield from self._expression(default)

    def _annotation(self, annotation: ast.expr | None, followed: bool) -> Found:
        """The first thing in a type that is not read; in a choreography it must be of a form that is read."""
        node = unquoted(annotation)
        yield from islice(self._unread(node, followed) if node is not None else (), 1)

    def _unread(self, node: ast.expr, followed: bool) -> Found:
        if followed:
            yield from ((each, _EVALUATED) for each in _computed(node))
        if isinstance(node, ast.Subscript) and last(node.value) in PLACES:
            data, *roles = parts_of(node)
            yield from self._inside(data)
            yield from ((each, "is not the name of a role") for each in roles if not dotted(each))
        elif not (isinstance(node, ast.Subscript) and last(node.value) in self.module.classes):
            for child in ast.iter_child_nodes(node):
                yield from self._inside(child)

    def _inside(self, node: ast.AST) -> Found:
        for part in self._words(node, PLACES):
            yield part, _INSIDE

    def _base(self, node: ast.expr) -> Found:
        if not (isinstance(node, ast.Subscript | ast.Name | ast.Attribute) and dotted(_head(node))):
            yield from self._expression(node)
            if any(isinstance(part, ast.Name) and part.id in self.module.roles for part in ast.walk(node)):
                yield node, _EVALUATED

    def _expression(self, node: ast.expr) -> Found:
        """A word of the language in an expression that is no annotation may get there under any name."""
        if node in self.aliases and isinstance(node, ast.Subscript | ast.Name | ast.Attribute):
            return
        if dotted(node) in self.module.words and last(node) in WORDS:
            yield node, _ELSEWHERE
            return
        if isinstance(node, ast.Compare) or (isinstance(node, ast.Call) and last(node.func) in _ASKING):
            return
        if isinstance(node, ast.Call) and dotted(_head(node.func)) in self.module.words:
            return  # a call of it gives an object, and no type
        if isinstance(node, ast.Lambda):
            yield from self._expression(node.body)
            return
        yield from self._within(node)

    def _words(self, node: ast.AST, wanted: frozenset[str]) -> Iterator[ast.expr]:
        """The first place of each of these words inside of a type, quoted ones too, and of each role."""
        seen: set[str] = set()
        for each in ast.walk(node):
            inner = unquoted(each) if isinstance(each, ast.Constant) else each
            for part in [inner] if inner is each or inner is None else ast.walk(inner):
                if not isinstance(part, ast.Name | ast.Attribute):
                    continue
                name = dotted(part)
                word = name in self.module.words and last(part) in wanted
                if (word or name in self.module.roles) and name not in seen:
                    seen.add(name)
                    yield part


def _names_one(node: ast.stmt) -> bool:
    """Whether a statement gives one name to a value."""
    single = isinstance(node, ast.Assign) and len(node.targets) == 1
    return single or isinstance(node, ast.AnnAssign) or type(node).__name__ == "TypeAlias"  # from Python 3.12 on


def _head(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node
