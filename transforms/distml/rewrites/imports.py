"""The names a file has for things it imports, and imports for those it lacks.

Only imports of the module itself that are always made, and made before they are needed, count: one under
`if TYPE_CHECKING:` or in a `try` is left as it is. A name that means something else anywhere in the file is avoided.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from distml.rewrites.refused import Refused
from distml.source.bindings import binds
from distml.source.nodes import walk

Import = ast.Import | ast.ImportFrom


class Imports:
    """The imports of a file that are made before `line`."""

    def __init__(self, tree: ast.Module, line: int) -> None:
        self._tree = tree
        self._origins = _origins(tree)
        self._statements = [s for s in tree.body if isinstance(s, Import) and s.lineno < line]
        self.wanted: dict[str, set[str]] = {}
        self.wanted_modules: set[str] = set()

    def name(self, module: str, attribute: str) -> str:
        """How the file spells `module.attribute`; notes the import where it has none yet. Raises `Refused`."""
        for local in self._locals(module, attribute):
            if not self._means_other(local, module):
                return local
        package, _, leaf = module.rpartition(".")
        for local in [*self._locals(module, None), *(self._locals(package, leaf) if package else ())]:
            if not self._means_other(local, module):
                return f"{local}.{attribute}"
        if not self._means_other(attribute, module):
            self.wanted.setdefault(module, set()).add(attribute)
            return attribute
        if not self._means_other(leaf, module):
            if package:
                self.wanted.setdefault(package, set()).add(leaf)
            else:
                self.wanted_modules.add(module)
            return f"{leaf}.{attribute}"
        raise Refused("name", f"`{attribute}` means something else in this file than {module}.{attribute}")

    def anchor(self) -> ast.stmt | None:
        """The statement to put new imports behind: the last import, of torch if there is one, or what must come first."""
        of_torch = [s for s in self._statements if "torch" in {name.partition(".")[0] for name in _modules(s)}]
        rest = of_torch or self._statements
        if rest:
            return rest[-1]
        first = self._tree.body[0] if self._tree.body else None
        return first if isinstance(first, ast.Expr) and ast.get_docstring(self._tree, clean=False) is not None else None

    def merged(self, module: str) -> ast.ImportFrom | None:
        """An import from `module` that takes more names."""
        for statement in self._statements:
            if isinstance(statement, ast.ImportFrom) and statement.module == module and not statement.level:
                if statement.names[0].name != "*":
                    return statement
        return None

    def _locals(self, module: str, attribute: str | None) -> Iterator[str]:
        """The names bound to `module`, or to its attribute."""
        for statement in self._statements:
            for alias in statement.names:
                if attribute is None and isinstance(statement, ast.Import):
                    top = alias.name.partition(".")[0]
                    if alias.name == module or (not alias.asname and top == module):
                        yield alias.asname or module
                elif isinstance(statement, ast.ImportFrom) and alias.name == attribute:
                    if statement.module == module and not statement.level:
                        yield alias.asname or alias.name

    def _means_other(self, local: str, module: str) -> bool:
        """Whether the first part of a name is bound anywhere to something that is not from `module`."""
        return bool(self._origins[local.partition(".")[0]] - {module.partition(".")[0]})


def _origins(tree: ast.Module) -> dict[str, set[str]]:
    """The packages that each name of a file is imported from; "" where it is bound in another way."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in walk(tree):
        tops = {name.partition(".")[0] for name in _modules(node)} if isinstance(node, Import) else {""}
        for name in binds(node):
            found[name] |= tops
    return found


def _modules(statement: Import) -> list[str]:
    if isinstance(statement, ast.ImportFrom):
        return [statement.module or ""] if not statement.level else [""]
    return [alias.name for alias in statement.names]
