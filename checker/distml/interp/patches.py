"""What a program puts in the place of a library's functions and methods, and of its own.

`torch.Tensor.__matmul__ = mine`, `setattr(np, "dot", mine)`, `mock.patch("torch.relu")`: what is called then is not what
the library has. When it is set and undone again may depend on anything, so what a program replaces anywhere is unknown
in the whole run.
"""

from __future__ import annotations

import ast
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from distml.ops.registry import LIBRARIES
from distml.source.bindings import last_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distml.interp.sites import Sites

_PATCHERS = frozenset({"setattr", "delattr", "patch", "object", "multiple"})
"""`builtins.setattr`, `monkeypatch.setattr`, `mock.patch`, `mock.patch.object`, `mock.patch.multiple`."""
_EVERYTHING = "*"


class Patches(NamedTuple):
    """Qualified names of what is replaced in libraries (`torch.*` where the name is not known), and attributes of
    the program's own classes and modules (`Net.forward`, `*.forward` where the class is not known)."""

    library: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    dispatching: bool = False
    """Whether a class takes over what functions of torch do with its objects (`__torch_function__`)."""

    def __or__(self, other: Patches) -> Patches:
        """Both."""
        return Patches(
            self.library | other.library, self.attributes | other.attributes, self.dispatching or other.dispatching
        )

    def has(self, name: str) -> bool:
        """Whether what a library has under a qualified name, or what that is an attribute of, may be replaced."""
        while self.library and name:
            owner, _, _ = name.rpartition(".")
            if name in self.library or f"{owner}.{_EVERYTHING}" in self.library:
                return True
            name = owner
        return False

    def redefines(self, cls: str, name: str) -> bool:
        """Whether an attribute of a class or module of the program may be replaced."""
        return not self.attributes.isdisjoint((f"{cls}.{name}", f"{_EVERYTHING}.{name}", f"{cls}.{_EVERYTHING}"))

    def changes_layers(self) -> bool:
        """Whether layers may do something else: they are written with the functions that are replaced."""
        return any(name.startswith(("torch.nn.functional.", "torch.nn.Module.")) for name in self.library)


def patches_at(sites: Sites, dispatching: bool) -> Patches:
    """What a file replaces anywhere in it."""
    names = dict(chain.from_iterable(_bound(node) for node, _ in sites.of(ast.Import, ast.ImportFrom)))
    made = [(node.name, place) for node, place in sites.of(ast.ClassDef)]
    classes = {name for name, _ in made}
    library: set[str] = set()
    attributes: set[str] = set()
    for node, place in sites.of(ast.Attribute, ast.Subscript, ast.Call):
        for owner, name in _replaced(node):
            path = owner if isinstance(owner, str) else _dotted(owner, names)
            last = owner.rpartition(".")[2] if isinstance(owner, str) else last_name(owner)
            if path is not None and path.partition(".")[0] in LIBRARIES:
                library.add(f"{path}.{name}")
            elif last in classes or last in names:
                # What the module itself sets is followed when it is run, and so is what a function sets on a class of its own.
                own = not place.in_function or any(each == last and at is place for each, at in made)
                attributes.update([] if own and not _is_undone(node) else [f"{last}.{name}"])
            elif _is_undone(node):
                attributes.add(f"{_EVERYTHING}.{name}")
    return Patches(frozenset(library), frozenset(attributes), dispatching)


def _is_undone(node: ast.AST) -> bool:
    """A patcher that is a method (`mock.patch.object`, `monkeypatch.setattr`) or `patch`: it decides when and how long."""
    return isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id != "patch")


def _bound(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that an import binds, and what to."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            yield (alias.asname or top, alias.name if alias.asname else top)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            yield (alias.asname or alias.name, f"{node.module}.{alias.name}")


def _dotted(node: ast.expr, names: dict[str, str]) -> str | None:
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value, names)
        return None if owner is None else f"{owner}.{node.attr}"
    return None


def _replaced(node: ast.AST) -> Iterator[tuple[ast.expr | str, str]]:
    """What a statement or call replaces: its owner, as an expression or by name, and the name."""
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        yield node.value, node.attr
    elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        if isinstance(node.value, ast.Attribute) and node.value.attr == "__dict__":
            yield node.value.value, _text(node.slice)
    elif isinstance(node, ast.Call) and last_name(node.func) in _PATCHERS and node.args:
        first = node.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            owner, _, name = first.value.rpartition(".")
            yield owner, name
        elif len(node.args) > 1:
            yield first, _text(node.args[1])
        yield from ((first, k.arg) for k in node.keywords if k.arg and last_name(node.func) == "multiple")


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else _EVERYTHING
