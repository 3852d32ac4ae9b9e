"""From a syntax tree to choreographies: which classes and functions have roles, and what their annotations place where."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.choreo.model import Definition, Function, Kind, Located, Module, Parameter
from distml.choreo.surroundings import unquoted

CHANNELS = {"Channel": "Channel", "SymChannel": "Channel", "DiChannel": "DiChannel"}
BASES = {"Ch", *(f"Ch{count}" for count in range(1, 11))}
PLACES = frozenset({"At", *CHANNELS})
WORDS = PLACES | BASES | {"Role", "roles"}
"""The words of the language, of which `PLACES` say of a value where it is."""


def read(tree: ast.Module) -> Module:
    """The choreographies of a file."""
    module = Module(tree)
    module.roles.update(role for node in ast.walk(tree) if isinstance(node, ast.Subscript) for role in roles_in(node))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(last(base) == "Role" for base in node.bases):
            module.roles.add(node.name)
        elif isinstance(node, ast.ClassDef) and (roles := class_roles(node, module)):
            module.classes[node.name] = Definition(node.name, node, roles, _bases(node, roles, module))
        elif isinstance(node, ast.FunctionDef):
            roles = function_roles(node)
            if roles:
                module.functions[node.name] = Function(node, roles, [], None)
            else:
                module.local.append(node)
        elif not _is_from_language(node):
            module.local.append(node)
    for definition in module.classes.values():
        _fill(definition, module)
    for name, function in list(module.functions.items()):
        module.functions[name] = signature(function.node, function.roles, module, None)
    return module


def signature(node: ast.FunctionDef, roles: tuple[str, ...], module: Module, owner: Definition | None) -> Function:
    """What the annotations of a function say; what is not placed is at all its roles."""
    every = [*node.args.posonlyargs, *node.args.args]
    given = dict(zip(reversed(every), reversed(node.args.defaults)))
    given.update({arg: value for arg, value in zip(node.args.kwonlyargs, node.args.kw_defaults) if value is not None})
    parameters = [
        Parameter(arg.arg, located(arg.annotation, module, roles), arg, given.get(arg))
        for arg in (*every, *node.args.kwonlyargs)
    ]
    if owner is not None and parameters and not is_static(node):
        itself = parameters[0]
        parameters[0] = itself._replace(type=Located(Kind.OBJECT, owner.roles, owner.name))
    empty = node.returns is None or (isinstance(node.returns, ast.Constant) and node.returns.value is None)
    returns = None if empty else located(node.returns, module, roles)
    return Function(node, roles, parameters, returns, owner)


def located(annotation: ast.expr | None, module: Module, everyone: tuple[str, ...]) -> Located:
    """The type and place an annotation names; without `At` it is at `everyone`."""
    annotation = unquoted(annotation)
    if isinstance(annotation, ast.Subscript):
        head, parts = last(annotation.value), parts_of(annotation)
        if head == "At" and len(parts) > 1:
            return _at(unquoted(parts[0]), tuple(last(part) for part in parts[1:]), module)
        if head in CHANNELS and len(parts) == 3:
            return Located(Kind.CHANNEL, (last(parts[1]), last(parts[2])), CHANNELS[head], parts[0])
    if annotation is not None and last(annotation) in module.classes:
        return Located(Kind.OBJECT, everyone, last(annotation))
    return Located(Kind.DATA, everyone, data=annotation)


def roles_in(annotation: ast.expr | None) -> Iterator[str]:
    """The roles an annotation names, in order."""
    annotation = unquoted(annotation)
    if isinstance(annotation, ast.Subscript):
        head, parts = last(annotation.value), parts_of(annotation)
        if head == "At" or head in CHANNELS:
            yield from (last(part) for part in parts[1:])
            return
    if annotation is not None:
        for child in ast.iter_child_nodes(annotation):
            if isinstance(child, ast.expr):
                yield from roles_in(child)


def _at(data: ast.expr | None, roles: tuple[str, ...], module: Module) -> Located:
    head = data.value if isinstance(data, ast.Subscript) else data
    if head is not None and last(head) in module.classes:
        return Located(Kind.OBJECT, roles, last(head))
    return Located(Kind.DATA, roles, data=data)


def _fill(definition: Definition, module: Module) -> None:
    for node in definition.node.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            definition.fields[node.target.id] = located(node.annotation, module, definition.roles)
        elif isinstance(node, ast.FunctionDef):
            definition.methods[node.name] = signature(node, definition.roles, module, definition)
    for name, method in definition.methods.items():
        if any(last(each) in ("property", "cached_property") for each in method.node.decorator_list):
            definition.fields.setdefault(name, method.returns or Located(Kind.DATA, definition.roles))
    for method in definition.methods.values():
        for name, kind in _assigned_fields(method, module):
            definition.fields.setdefault(name, kind)


def _assigned_fields(method: Function, module: Module) -> Iterator[tuple[str, Located]]:
    types = {each.name: each.type for each in method.parameters}
    for node in ast.walk(method.node):
        if isinstance(node, ast.AnnAssign) and _is_own(node.target):
            yield node.target.attr, located(node.annotation, module, method.roles)  # type: ignore[union-attr]
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in types:
            for target in node.targets:
                if _is_own(target):
                    yield target.attr, types[node.value.id]  # type: ignore[attr-defined]


def _is_own(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def class_roles(node: ast.ClassDef, module: Module) -> tuple[str, ...]:
    """The roles in the header of a class, or those of the choreography that it extends."""
    for base in node.bases:
        if isinstance(base, ast.Subscript) and last(base.value) in BASES:
            return tuple(last(part) for part in parts_of(base))
    for base in node.bases:
        if isinstance(base, ast.Subscript) and last(base.value) in module.classes:
            return tuple(dict.fromkeys(last(part) for part in parts_of(base)))
        if last(base) in module.classes:
            return module.classes[last(base)].roles
    return ()


def _bases(node: ast.ClassDef, roles: tuple[str, ...], module: Module) -> list[tuple[str, tuple[str, ...]]]:
    found = []
    for base in node.bases:
        if isinstance(base, ast.Subscript) and last(base.value) in module.classes:
            found.append((last(base.value), tuple(last(part) for part in parts_of(base))))
        elif last(base) in module.classes:
            found.append((last(base), roles[: len(module.classes[last(base)].roles)]))
    return found


def function_roles(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    """The roles that a function names, in its decorator or its annotations."""
    for each in node.decorator_list:
        if isinstance(each, ast.Call) and last(each.func) == "roles":
            return tuple(last(arg) for arg in each.args)
    arguments = node.args
    hints = [arg.annotation for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return tuple(dict.fromkeys(role for hint in (*hints, node.returns) for role in roles_in(hint)))


def _is_from_language(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "") in ("distml.choreo", "__future__")


def takes_everything(case: ast.match_case) -> bool:
    """Whether nothing passes by this case."""
    return isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None


def parts_of(node: ast.Subscript) -> list[ast.expr]:
    """What stands between the brackets."""
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def is_static(node: ast.FunctionDef) -> bool:
    """Whether a method has no receiver."""
    return any(last(each) == "staticmethod" for each in node.decorator_list)


def last(node: ast.AST | None) -> str:
    """The last part of a dotted name, empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Call):
        return last(node.func)
    return node.id if isinstance(node, ast.Name) else ""


def dotted(node: ast.expr) -> str:
    """A name with dots as it is written; empty for any other expression."""
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return node.id if isinstance(node, ast.Name) else ""


def defaults_of(function: ast.FunctionDef | ast.Lambda) -> list[ast.expr]:
    """What stands for arguments that are not given."""
    return [*function.args.defaults, *(each for each in function.args.kw_defaults if each is not None)]
