"""What names are bound to: the words of the language under other names, aliases of types, and definitions out of reach."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import NamedTuple

from distml.choreo.facts import Facts
from distml.choreo.model import Module
from distml.choreo.read import BASES, PLACES, WORDS, class_roles, dotted, function_roles, last, roles_in
from distml.choreo.surroundings import unquoted
from distml.choreo.unread import is_read, report_unread

HOMES = ("distml.choreo", "distml.choreo.language")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Origin(NamedTuple):
    """What a name stands for: a word of the language that the file at `path` imports, or what that defines: a type, a
    choreography."""

    word: str = ""
    what: str = ""
    path: str = ""


def resolve(tree: ast.Module, origins: Mapping[str, Origin]) -> dict[str, ast.expr]:
    """Call the words of the language by their own names, and write types out where they are used by an alias; the aliases.

    `origins` are the names that lead there through other files.
    """
    renamed = {
        each.asname: each.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in HOMES
        for each in node.names
        if each.asname is not None
    }
    renamed |= {
        name: each.word for name, each in origins.items() if each.word and "." not in name and name != each.word
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in renamed:
            node.id = renamed[node.id]
        elif isinstance(node, ast.Attribute) and (word := origins.get(dotted(node), Origin()).word):
            node.attr = word
    aliases = _aliases(tree)
    if aliases or renamed:
        _write_out(tree, _Written(renamed, aliases))
    return aliases


def spoken(tree: ast.Module, origins: Mapping[str, Origin]) -> set[str]:
    """The dotted names that stand for words of the language in a file after `resolve`; a name that is only spelled so is none."""
    found: set[str] = set()
    homes: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            homes |= {each.asname or each.name for each in node.names if each.name in HOMES}
        elif isinstance(node, ast.ImportFrom) and node.module in HOMES:
            found |= WORDS if any(each.name == "*" for each in node.names) else {each.name for each in node.names}
        if isinstance(node, ast.ImportFrom):
            homes |= {each.asname or each.name for each in node.names if f"{node.module}.{each.name}" in HOMES}
    found |= {f"{home}.{word}" for home in homes for word in WORDS}
    for name, each in origins.items():
        if each.word:
            home, dot, _ = name.rpartition(".")
            found.add(f"{home}{dot}{each.word}")
    return found


def _aliases(tree: ast.Module) -> dict[str, ast.expr]:
    """The types of the language that have a name of their own at the top of the file, written out."""
    named: dict[str, ast.expr] = {}
    for name, value in _named(tree):
        whole = _Written({}, named).visit(deepcopy(value))  # one may be written with another
        if any(roles_in(whole)) or last(whole.value if isinstance(whole, ast.Subscript) else whole) in PLACES | BASES:
            named[name] = whole
    return named


def _named(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        target, value = None, None
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign):
            target, value = node.target, node.value
        elif type(node).__name__ == "TypeAlias":  # from Python 3.12 on
            target, value = node.name, node.value  # type: ignore[attr-defined]
        if isinstance(target, ast.Name) and isinstance(value, ast.Subscript | ast.Name | ast.Attribute):
            yield target.id, value


def _write_out(tree: ast.Module, writer: _Written) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
            node.annotation = writer.visit(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            node.returns = writer.visit(node.returns)
        elif isinstance(node, ast.ClassDef):
            node.bases = [writer.visit(each) for each in node.bases]


class _Written(ast.NodeTransformer):
    """Puts types in the places of their aliases, also inside of quotes."""

    def __init__(self, renamed: dict[str, str], aliases: dict[str, ast.expr]) -> None:
        self.renamed, self.aliases = renamed, aliases

    def visit_Name(self, node: ast.Name) -> ast.expr:
        name = self.renamed.get(node.id, node.id)
        found = self.aliases.get(name, ast.Name(name, node.ctx))
        return node if name == node.id and name not in self.aliases else self._placed(deepcopy(found), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return node if last(node.value) == "Literal" else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        inner = unquoted(node)
        if inner is None or inner is node:
            return node
        fresh: ast.expr = self.visit(inner)
        return self._placed(fresh, node)

    def _placed(self, fresh: ast.expr, node: ast.expr) -> ast.expr:
        for each in ast.walk(fresh):
            ast.copy_location(each, node)
        return fresh


def outside(origins: Mapping[str, Origin]) -> dict[str, str]:
    """What names are that lead to definitions of other files."""
    return {name: f"a {each.what} of another file ({each.path})" for name, each in origins.items() if each.what}


def report_unseen(module: Module, facts: Facts) -> None:
    """Report each definition that names roles and is not followed: nothing is said of what is in it."""
    _report_outside(module, facts)
    report_unread(module, facts)
    seen: set[ast.AST] = {each.node for each in module.functions.values()}
    for definition in module.classes.values():
        seen |= {definition.node, *(each.node for each in definition.methods.values())}
    _report_values(module, facts, seen)
    for node, where in _definitions(module.tree, ""):
        if node not in seen and _names_roles(node, module):
            what = "a coroutine" if isinstance(node, ast.AsyncFunctionDef) else f"inside {where}"
            facts.say(
                "CHO402",
                node,
                f"`{node.name}` names roles, but is {what}: it is not checked, and has no projection",
                "write choreographies as functions and classes at the top of a file",
            )
        elif node not in seen and not isinstance(node, ast.ClassDef) and module.words & PLACES:
            _report_untyped(node, facts)


def _report_untyped(node: ast.FunctionDef | ast.AsyncFunctionDef, facts: Facts) -> None:
    """Report a function that sends over what it is given, where no annotation that can be read says the type."""
    untyped = {
        each.arg
        for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if not each.annotation or not is_read(each.annotation)
    }
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and each.attr == "com" and dotted(each.value) in untyped:
            message = f"`{node.name}` communicates over `{dotted(each.value)}`, whose annotation is not read: it is not checked"
            facts.say("CHO402", node, message, "annotate it in this file: `Channel[T, A, B]`")


def _report_values(module: Module, facts: Facts, seen: set[ast.AST]) -> None:
    """Report choreographies under names that no call of them is followed by, and methods that are none to a reader."""
    bodies = [(module.tree.body, "")] + [(each.node.body, each.name) for each in module.classes.values()]
    for body, owner in bodies:
        for node in body:
            if (
                isinstance(node, ast.Assign)
                and last(node.value) in module.functions
                and isinstance(node.value, ast.Name)
            ):
                facts.say("CHO402", node, "a choreography must be called where it is named; it is not a value")
            elif owner and node not in seen and (found := next(_communicating(node), None)) is not None:
                message = f"this is no method of `{owner}` that is followed: it is not checked, and has no projection"
                facts.say(
                    "CHO402", found, message, "write methods of choreographies with `def`, at the top of the class"
                )


def _communicating(node: ast.stmt) -> Iterator[ast.AST]:
    """Functions in a statement of a class; of lambdas, those that send something."""
    for each in ast.walk(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield each
        elif isinstance(each, ast.Lambda):
            calls = (part.func for part in ast.walk(each.body) if isinstance(part, ast.Call))
            yield from (each for call in calls if isinstance(call, ast.Attribute) and call.attr in ("com", "select"))


def _report_outside(module: Module, facts: Facts) -> None:
    """Report definitions whose roles another file says."""
    for node, _ in _definitions(module.tree, "") if module.outside else ():
        for name in sorted(names_in(node) & module.outside.keys()):
            message = f"`{node.name}` is not checked, and has no projection: `{name}` is {module.outside[name]}"
            facts.say("CHO402", node, message, "write choreographies and their types in one file")


def names_in(node: Definition) -> set[str]:
    """The dotted names in the header of a definition: in annotations, among the bases."""
    if isinstance(node, ast.ClassDef):
        return {name for each in node.bases for name in dotted_names(each)}
    every = node.args
    args = (*every.posonlyargs, *every.args, *every.kwonlyargs, every.vararg, every.kwarg)
    hints = [each.annotation for each in args if each is not None]
    return {name for each in (*hints, node.returns) for name in dotted_names(each)}


def dotted_names(node: ast.expr | None) -> Iterator[str]:
    """The dotted names in an expression, also inside of quotes."""
    node = unquoted(node)
    name = dotted(node) if node is not None else ""
    if name or node is None:
        yield from [name] if name else []
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from dotted_names(child)


def _definitions(node: ast.AST, where: str) -> Iterator[tuple[Definition, str]]:
    """All definitions, and inside what they stand."""
    for child in ast.iter_child_nodes(node):
        inner = where
        if isinstance(child, Definition):
            yield child, where or "an expression"
            inner = "a class without roles" if isinstance(child, ast.ClassDef) else "a function"
        elif isinstance(child, ast.stmt):
            inner = where or "a branch"
        yield from _definitions(child, inner)


def _names_roles(node: Definition, module: Module) -> bool:
    if isinstance(node, ast.ClassDef):
        fields = (each.annotation for each in node.body if isinstance(each, ast.AnnAssign))
        based = any(last(each.value if isinstance(each, ast.Subscript) else each) in BASES for each in node.bases)
        return based or bool(class_roles(node, module)) or any(any(roles_in(each)) for each in fields)
    return bool(function_roles(node))
