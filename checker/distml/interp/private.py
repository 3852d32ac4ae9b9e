"""Private names: inside a class `C`, `__x` is `_C__x`, wherever it is written."""

from __future__ import annotations

import ast
import re

_PRIVATE = re.compile(r"(?<!\w)__\w*\b(?<!__)")


def mangle(tree: ast.Module, text: str) -> None:
    """Write the private names of a module as Python understands them; `text` is what the tree was parsed from."""
    if not _PRIVATE.search(text):
        return
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        part, prefix = waiting.pop()
        if prefix:
            _rename(part, prefix)
        if isinstance(part, ast.ClassDef):
            waiting.extend((each, prefix) for each in (*part.bases, *part.keywords, *part.decorator_list))
            own = part.name.lstrip("_")
            waiting.extend((each, own and f"_{own}") for each in part.body)
        else:
            waiting.extend((each, prefix) for each in ast.iter_child_nodes(part))


def _rename(part: ast.AST, prefix: str) -> None:
    for field in ("attr", "id", "arg", "name"):
        name = getattr(part, field, None)
        if type(name) is str and name.startswith("__") and not name.endswith("__"):
            setattr(part, field, prefix + name)
