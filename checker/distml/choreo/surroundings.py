"""The local code around choreographies: what its names stand for, looked up once a file."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from distml.source.bindings import last_name

if TYPE_CHECKING:
    from distml.choreo.aliases import Aliases

SETS = frozenset("set frozenset Set FrozenSet AbstractSet MutableSet KeysView ItemsView".split())
_WRAPPERS = frozenset("Annotated Final ClassVar Required NotRequired ReadOnly At".split())
_UNIONS = frozenset(("Optional", "Union"))


def is_given(path: str) -> bool:
    """Whether a dotted name is of Python's own library or of distml, the same at each party."""
    home = path.partition(".")[0]
    return home == "distml" or home in sys.stdlib_module_names


class Surroundings:
    """What the names of a file stand for. `local` are the statements of its top level that know no roles."""

    def __init__(self, tree: ast.Module, local: list[ast.stmt], constants: frozenset[str] = frozenset()) -> None:
        self.tree, self.local, self.constants = tree, local, constants
        self.local_class = cache(self._local_class)
        self.local_function = cache(self._local_function)
        self.imports = cache(self._imports)
        self.stars = cache(self._stars)
        self.patched = cache(self._patched)
        self.constant = cache(self._constant)
        self.told_types: dict[str, ast.expr | None] = {}
        """The types of variables of the file that are known so far."""
        self.told_to_vary: frozenset[str] | None = None
        self.told_mutators: frozenset[str] | None = None
        self.told_changes: dict[str, set[str]] | None = None
        self.judged: dict[tuple[str, ...], bool] = {}
        """What is known of functions, for arguments of such types, and of classes: whether they depend on nothing else."""
        self.assumed: set[str] = set()
        """What was taken to be so while it is found out."""
        self.told_fields: tuple[frozenset[str], frozenset[str]] | None = None
        self.told_aliases: dict[ast.FunctionDef, Aliases] = {}
        """What the names of functions reach, as far as it was asked for."""

    def _local_class(self, name: str) -> ast.ClassDef | None:
        """The class of this name, where there is one and no other meaning."""
        found = [each for each in self.local if isinstance(each, ast.ClassDef) and each.name == name]
        return found[0] if len(found) == 1 else None

    def _local_function(self, name: str) -> ast.FunctionDef | None:
        """The function of this name, where there is one, undecorated."""
        found = [each for each in self.local if name in defines(each)]
        one = found[0] if len(found) == 1 else None
        return one if isinstance(one, ast.FunctionDef) and not one.decorator_list else None

    def lineage(self, made: ast.ClassDef) -> list[ast.ClassDef]:
        """A class of the file and those of the file that it extends, nearest first."""
        found, rest = [made], list(made.bases)
        while rest:
            base = rest.pop(0)
            base = base.value if isinstance(base, ast.Subscript) else base
            above = self.local_class(base.id) if isinstance(base, ast.Name) else None
            if above is not None and above not in found:
                found.append(above)
                rest += above.bases
        return found

    def classes(self) -> list[ast.ClassDef]:
        """The classes of the file that know no roles."""
        return [each for each in self.local if isinstance(each, ast.ClassDef)]

    def _patched(self) -> frozenset[str]:
        """The names whose attributes the file sets."""
        stores = [
            each.value
            for each in ast.walk(self.tree)
            if isinstance(each, ast.Attribute) and not isinstance(each.ctx, ast.Load)
        ]
        calls = [each for each in ast.walk(self.tree) if isinstance(each, ast.Call) and each.args]
        stores += [each.args[0] for each in calls if getattr(each.func, "id", "") in ("setattr", "delattr")]
        return frozenset(each.id for each in stores if isinstance(each, ast.Name))

    def _constant(self, name: str) -> ast.Assign | ast.AnnAssign | None:
        """The statement that gives a variable its value, where there is one and nothing else does."""
        found = [each for each in self.local if name in defines(each)]
        one = found[0] if len(found) == 1 else None
        targets = one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.AnnAssign) else []
        named = len(targets) == 1 and isinstance(targets[0], ast.Name)
        return one if named and isinstance(one, ast.Assign | ast.AnnAssign) else None

    def defined(self) -> set[str]:
        """The names that the file itself gives a meaning, imports aside."""
        return {n for each in self.local if not isinstance(each, ast.Import | ast.ImportFrom) for n in defines(each)}

    def _imports(self) -> dict[str, str]:
        """The dotted name that each imported name stands for; the empty one where there are several."""
        found: dict[str, str] = {}
        for each in ast.walk(self.tree):
            if isinstance(each, ast.Import):
                firsts = [(a, a.name.partition(".")[0]) for a in each.names]
                pairs = [(a.asname or first, a.name if a.asname else first) for a, first in firsts]
            elif isinstance(each, ast.ImportFrom):
                pairs = [(a.asname or a.name, f"{'.' * each.level}{each.module or ''}.{a.name}") for a in each.names]
            else:
                continue
            for name, path in pairs:
                found[name] = path if found.setdefault(name, path) == path else ""
        return found

    def _stars(self) -> bool:
        """Whether the file imports all names of a file that is not Python's."""
        imports = (each for each in ast.walk(self.tree) if isinstance(each, ast.ImportFrom))
        return any(not is_given(each.module or "") for each in imports if any(name.name == "*" for name in each.names))

    def remembered(self, name: str, types: tuple[str, ...], judge: Callable[[], bool]) -> bool:
        """The judgment of a function or a class, made once where it rests on nothing that is still being found out."""
        key = (name, *types)
        if key not in self.judged:
            before, self.assumed = self.assumed, set()
            found = judge()
            rests_on = self.assumed - {name}
            self.assumed = before | rests_on
            if found and rests_on:
                return True
            self.judged[key] = found
        return self.judged[key]

    def plain(self, hint: ast.expr | None) -> ast.expr | None:
        """A type without what says nothing of the data: quotes, aliases, `Optional`, `At`."""
        for _ in range(10):
            better = self._plainer(hint)
            if better is hint:
                break
            hint = better
        return hint

    def _plainer(self, hint: ast.expr | None) -> ast.expr | None:
        if isinstance(hint, ast.Constant) and isinstance(hint.value, str):
            return unquoted(hint)
        if isinstance(hint, ast.BinOp) and isinstance(hint.op, ast.BitOr):
            return self._of_union([hint.left, hint.right], hint)
        if isinstance(hint, ast.Subscript):
            name = last_name(hint.value)
            inside = hint.slice.elts if isinstance(hint.slice, ast.Tuple) else [hint.slice]
            if name in _WRAPPERS and inside:
                return inside[0]
            return self._of_union(inside, hint) if name in _UNIONS else hint
        if isinstance(hint, ast.Name):
            if not is_given(self.imports().get(hint.id, "distml")):
                return None  # a class of another file, whatever it is called
            for each in self.local:
                value = each.value if isinstance(each, ast.Assign | ast.AnnAssign) else None
                if (
                    value is not None
                    and hint.id in defines(each)
                    and isinstance(value, ast.Subscript | ast.BinOp | ast.Name)
                ):
                    return value
        return hint

    def _of_union(self, parts: list[ast.expr], whole: ast.expr) -> ast.expr | None:
        """The one type that is not None; of several a set, which has the least that parties agree on."""
        real = [each for each in parts if not (isinstance(each, ast.Constant) and each.value is None)]
        if len(real) == 1:
            return real[0]
        return next((each for each in map(self.plain, real) if self.is_set(each)), whole)

    def is_set(self, hint: ast.expr | None) -> bool:
        """Whether a type is one whose order is each party's own."""
        hint = self.plain(hint)
        hint = hint.value if isinstance(hint, ast.Subscript) else hint
        return hint is not None and last_name(hint) in SETS


def defines(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module gives a meaning."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((each.asname or each.name).partition(".")[0] for each in node.names)
    else:
        yield from (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def unquoted(node: ast.expr | None) -> ast.expr | None:
    """An annotation that is written as a text, as an expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return ast.copy_location(ast.parse(node.value, mode="eval").body, node)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return node
    return node
