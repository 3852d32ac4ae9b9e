"""Functions of a file by qualified name, and what of their signatures can be annotated."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from distml.rewrites.model import Target
from distml.rewrites.refused import Refused

Function = ast.FunctionDef | ast.AsyncFunctionDef

_TYPE_COMMENT = re.compile(r"#\s*type:\s*(?!ignore)")
_SCRIPTS = ("script", "script_method")


class Parameter(NamedTuple):
    """A parameter with its default, None where it has none."""

    node: ast.arg
    default: ast.expr | None

    @property
    def optional(self) -> bool:
        """Whether None is its default."""
        return isinstance(self.default, ast.Constant) and self.default.value is None


class Functions:
    """The functions of one file."""

    def __init__(self, tree: ast.Module, lines: Sequence[str]) -> None:
        self._lines = lines
        self._by_name: dict[str, list[Function]] = defaultdict(list)
        self._lambdas: set[str] = set()
        for name, node in _definitions(tree, ""):
            if isinstance(node, ast.Lambda):
                self._lambdas.add(name)
            else:
                self._by_name[name].append(node)

    def find(self, target: Target) -> Function:
        """The function that `target` means. Raises `Refused` where there is none, or none that may be annotated."""
        name = target.function.replace("<locals>.", "")
        found = self._by_name.get(name, [])
        if not found:
            if name in self._lambdas or "<lambda>" in name:
                raise Refused("lambda", "the parameters of a lambda cannot be annotated")
            raise Refused("absent", f"the file has no function `{target.function}`")
        if any(_decorated(node, ("overload",)) for node in found):
            raise Refused("overload", "it is overloaded: every overload states its own types")
        here = [node for node in found if node.lineno == target.line]
        if not here and len(found) > 1:
            lines = ", ".join(str(node.lineno) for node in found)
            raise Refused("ambiguous", f"it is defined in lines {lines}, but not in line {target.line}")
        node = (here or found)[0]
        if _decorated(node, _SCRIPTS):
            raise Refused("script", "TorchScript reads its annotations and knows no shapes")
        if any(_TYPE_COMMENT.search(line) for line in self._lines[node.lineno - 1 : first_line(node)]):
            raise Refused("comment", "its types are in a type comment, which allows no annotations beside it")
        return node


def first_line(node: Function) -> int:
    """The line the body begins on."""
    return top_line(node.body[0])


def top_line(statement: ast.stmt) -> int:
    """The line a statement begins on, that of its first decorator where it has one."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


def parameters(node: Function) -> dict[str, Parameter]:
    """The parameters that take one value each, by name, in the order of the signature."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    pairs = [*zip(positional, [*missing, *args.defaults]), *zip(args.kwonlyargs, args.kw_defaults)]
    return {each.arg: Parameter(each, default) for each, default in pairs}


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function | ast.Lambda]]:
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if isinstance(child, Function | ast.ClassDef):
            inner = f"{prefix}{child.name}."
        if isinstance(child, Function):
            yield f"{prefix}{child.name}", child
        elif isinstance(child, ast.Assign) and isinstance(child.value, ast.Lambda):
            yield from ((f"{prefix}{t.id}", child.value) for t in child.targets if isinstance(t, ast.Name))
        yield from _definitions(child, inner)


def _decorated(node: Function, names: tuple[str, ...]) -> bool:
    targets = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    return any(ast.unparse(each).rpartition(".")[2] in names for each in targets)
