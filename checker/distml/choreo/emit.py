"""The programs of the parties: projected definitions, what local code they use, and their imports, as formatted text."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from copy import deepcopy
from hashlib import sha256
from io import StringIO
from tokenize import STRING, generate_tokens

from distml.choreo.check import Checked
from distml.choreo.merge import is_choice
from distml.choreo.model import Definition, Function
from distml.choreo.projection import type_of
from distml.choreo.read import BASES, is_static, last
from distml.choreo.surroundings import defines

RUNTIME = ("ChannelEnd", "ChoreographyError", "ReceiveEnd", "SendEnd", "unexpected")

WIDTH = 120
_PLAIN = re.compile(r"([A-Za-z]*)'((?!'')[^'\"\\\n]*)'")
_DEFAULT = re.compile(r"(\w: [^=()\"]+)=(?!=)")


def roles_of(checked: Checked) -> list[str]:
    """The roles that have a program, in order of appearance."""
    definitions: list[Definition | Function] = [*checked.module.classes.values(), *checked.module.functions.values()]
    return list(dict.fromkeys(role for each in definitions for role in each.roles))


def program(checked: Checked, role: str) -> str:
    """The program of one party."""
    return _Program(checked).text(role)


class _Program:
    def __init__(self, checked: Checked) -> None:
        self.checked, self.module = checked, checked.module
        self.units: dict[str, ast.stmt] = {}
        every: dict[str, Definition | Function] = {**self.module.classes, **self.module.functions}
        self.meant = {f"{name}_{role}": (unit, role) for name, unit in every.items() for role in unit.roles}
        """What the name of a projection is of: names and roles may have `_` in them."""

    def text(self, role: str) -> str:
        units: list[Definition | Function] = [*self.module.classes.values(), *self.module.functions.values()]
        for unit in units:
            if role in unit.roles:
                self._require(unit, role)
        order = list(self.meant.values())
        body = sorted(self.units.items(), key=lambda each: (order.index(self.meant[each[0]]), each[0]))
        projected = [node for _, node in body]
        local = self._local(projected)
        wire = [*_wire(local), _protocol(self.module.tree)]
        imports = [node for node in local if isinstance(node, ast.Import | ast.ImportFrom)]
        text = _format([*(node for node in local if node not in imports), *projected, *wire])
        return _header(role, imports, _used(ast.parse(text))) + text

    def _require(self, unit: Definition | Function, role: str) -> None:
        name = f"{unit.node.name}_{role}"
        if name in self.units:
            return
        self.units[name] = ast.Pass()
        node = self._class(unit, role) if isinstance(unit, Definition) else self._function(unit, role, name)
        self.units[name] = node
        for used in _used(node):
            if used in self.meant:
                self._require(*self.meant[used])

    def _class(self, definition: Definition, role: str) -> ast.ClassDef:
        bases: list[ast.expr] = []
        for base in definition.node.bases:
            head = last(base.value if isinstance(base, ast.Subscript) else base)
            if head in self.module.classes:
                given = dict(zip(dict(definition.bases).get(head, ()), self.module.classes[head].roles))
                bases += [ast.Name(f"{head}_{given[role]}")] if role in given else []
            elif head not in BASES:
                bases.append(base)
        body: list[ast.stmt] = []
        for node in definition.node.body:
            if isinstance(node, ast.FunctionDef):
                method = definition.methods[node.name]
                if (method, role) in self.checked.bodies:
                    body.append(self._function(method, role, node.name))
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found = definition.fields[node.target.id]
                if found.roles is None or role in found.roles:
                    body.append(ast.AnnAssign(node.target, type_of(found, role, self.module), node.value, 1))
            elif not isinstance(node, ast.Pass):
                body.append(node)
        name = f"{definition.name}_{role}"
        return ast.ClassDef(name, bases, [], body or [ast.Pass()], definition.node.decorator_list)

    def _function(self, function: Function, role: str, name: str) -> ast.FunctionDef:
        source = function.node.args
        bound = function.owner is not None and not is_static(function.node)
        kept: list[ast.arg] = []
        for position, each in enumerate(function.parameters):
            if position == 0 and bound:
                kept.append(ast.arg(each.name))
            elif each.type.roles is None or role in each.type.roles:
                kept.append(ast.arg(each.name, type_of(each.type, role, self.module)))
        keyword = {each.arg for each in source.kwonlyargs}
        plain = [each for each in kept if each.arg not in keyword]
        arguments = ast.arguments([], plain, None, [each for each in kept if each.arg in keyword], [], None, [])
        given = {each.name: _unplaced(each.default) for each in function.parameters if each.default is not None}
        arguments.defaults = [given[each.arg] for each in plain if each.arg in given]
        arguments.kw_defaults = [given.get(each.arg) for each in arguments.kwonlyargs]
        returns: ast.expr = ast.Constant(None)
        if function.returns is not None and (function.returns.roles is None or role in function.returns.roles):
            returns = type_of(function.returns, role, self.module)
        decorators = [each for each in function.node.decorator_list if last(each) != "roles"]
        if function.is_abstract and function.node.body:
            body: Sequence[ast.stmt] = [ast.Raise(ast.Name("NotImplementedError"), None)]
        else:
            once = _DeclaredOnce()
            whole = _refusing(deepcopy(self.checked.bodies[function, role]), {each.arg for each in kept})
            body = [once.visit(each) for each in whole]
        return ast.FunctionDef(name, arguments, list(body) or [ast.Pass()], decorators, returns)

    def _local(self, projected: list[ast.stmt]) -> list[ast.stmt]:
        """Local code that the projections use, in the order of the source."""
        needed = {name for node in projected for name in _used(node)}
        kept: set[int] = set()
        grew = True
        while grew:
            grew = False
            for position, node in enumerate(self.module.local):
                if position not in kept and _wanted(node, needed):
                    kept.add(position)
                    needed |= _used(node) if not isinstance(node, ast.Import | ast.ImportFrom) else set()
                    grew = True
        chosen = [node for position, node in enumerate(self.module.local) if position in kept]
        return [_narrowed(node, needed) for node in chosen]


def _wanted(node: ast.stmt, needed: set[str]) -> bool:
    return any(name in needed for name in defines(node))


def _narrowed(node: ast.stmt, needed: set[str]) -> ast.stmt:
    if isinstance(node, ast.Import | ast.ImportFrom):
        fresh = deepcopy(node)
        fresh.names = [each for each in node.names if (each.asname or each.name).partition(".")[0] in needed]
        return fresh
    return node


def _used(node: ast.AST) -> set[str]:
    found = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value.isidentifier():
            found.add(each.value)
    return found


def _unplaced(node: ast.expr) -> ast.expr:
    return node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) else node


def _refusing(body: list[ast.stmt], taken: set[str]) -> list[ast.stmt]:
    """With a last case in each choice, for a label that the protocol does not have here.

    Each enum has its own name for that label: type checkers give a name one type in all of a function.
    """
    nodes = [each for node in body for each in ast.walk(node)]
    taken = taken | {each.id for each in nodes if isinstance(each, ast.Name)}
    names: dict[str, str] = {}
    for each in nodes:
        if isinstance(each, ast.Match) and is_choice(each):
            enum = ast.unparse(each.subject.args[0]).replace(".", "_")  # type: ignore[attr-defined]
            name = names.setdefault(enum, f"other_{enum.lower()}" if names or "other" in taken else "other")
            call = ast.Call(ast.Name("unexpected"), [ast.Name(name)], [])
            each.cases.append(ast.match_case(ast.MatchAs(None, name), None, [ast.Raise(call, None)]))
    return body


class _DeclaredOnce(ast.NodeTransformer):
    """Leaves a type at the first assignment of a name: what follows a branch may be there twice, its types may not."""

    def __init__(self) -> None:
        self.known: set[str] = set()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        name = ast.unparse(node.target)
        if name not in self.known:
            self.known.add(name)
            return node
        return ast.Pass() if node.value is None else ast.Assign([node.target], node.value, lineno=0)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node


def _wire(local: list[ast.stmt]) -> list[ast.stmt]:
    classes = [ast.Name(node.name) for node in local if isinstance(node, ast.ClassDef)]
    if not classes:
        return []
    hint = ast.parse("tuple[type, ...]", mode="eval").body
    return [ast.AnnAssign(ast.Name("WIRE"), hint, ast.Tuple(list(classes), ast.Load()), 1)]


def _protocol(tree: ast.Module) -> ast.stmt:
    """The fingerprint of a choreography, by which parties know that they mean the same: all of it but its layout."""
    bare = deepcopy(tree)
    for each in ast.walk(bare):
        if isinstance(each, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            each.body = each.body[1:] if ast.get_docstring(each) is not None else each.body
    digest = sha256(ast.unparse(bare).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return ast.Assign([ast.Name("__protocol__")], ast.Constant(digest), lineno=0)


def _header(role: str, imports: Sequence[ast.stmt], used: set[str]) -> str:
    names = [name for name in RUNTIME if name in used]
    lines = [
        f'"""The program of {role}, projected from a choreography by distml."""\n\nfrom __future__ import annotations\n'
    ]
    written = [ast.unparse(node) for node in imports]
    if "Any" in used and not any(line.startswith("from typing ") and "Any" in line for line in written):
        written.append("from typing import Any")
    if written:
        lines.append("\n".join(sorted(written, key=lambda line: line.startswith("from "))) + "\n")
    if names:
        lines.append(f"from distml.choreo.runtime import {', '.join(names)}\n")
    return "\n".join(lines) + "\n"


def _format(body: list[ast.stmt]) -> str:
    parts: list[str] = []
    before: ast.stmt | None = None
    for node in body:
        large = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if before is not None:
            parts.append("\n\n\n" if isinstance(node, large) or isinstance(before, large) else "\n")
        elif isinstance(node, large):
            parts.append("\n")
        parts.append(_spaced(ast.unparse(ast.fix_missing_locations(node))))
        before = node
    return _quoted("".join(parts) + "\n")


def _quoted(text: str) -> str:
    """With the quotes and the spaces around defaults that formatters write."""
    tokens = list(generate_tokens(StringIO(text).readline))
    lines = text.splitlines(keepends=True)
    for token in reversed(tokens):
        plain = _PLAIN.fullmatch(token.string) if token.type == STRING else None
        if plain:
            (row, start), (_, end) = token.start, token.end
            lines[row - 1] = f'{lines[row - 1][:start]}{plain[1]}"{plain[2]}"{lines[row - 1][end:]}'
    return "".join(_signature(line) if line.lstrip().startswith("def ") else line for line in lines)


def _signature(line: str) -> str:
    """The first line of a function, on several lines where it is long."""
    line = _DEFAULT.sub(r"\1 = ", line)
    if len(line) <= WIDTH + 1 or not line.rstrip().endswith(":"):
        return line
    margin = line[: len(line) - len(line.lstrip())]
    head, _, rest = line.partition("(")
    arguments, _, result = rest.rpartition(") -> ")
    inner = f"{margin}    {arguments}"
    if len(inner) > WIDTH:
        inner = "\n".join(f"{margin}    {each.strip()}," for each in _split(arguments))
    return f"{head}(\n{inner}\n{margin}) -> {result}"


def _split(arguments: str) -> list[str]:
    parts, depth = [""], 0
    for letter in arguments:
        depth += (letter in "[({") - (letter in "])}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _spaced(text: str) -> str:
    """Without an empty line before a first method, as formatters write it."""
    lines = text.splitlines()
    kept = [
        line
        for position, line in enumerate(lines)
        if line.strip() or not (position and lines[position - 1].startswith("class "))
    ]
    return "\n".join(kept)
