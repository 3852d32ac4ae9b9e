"""Private names: inside a class `C`, `__x` is `_C__x`, wherever it is written."""

from __future__ import annotations

import ast

_DONE = "distml_private"


def mangle(node: ast.ClassDef) -> None:
    """Write the private names in a class's body as Python understands them; once for each class."""
    prefix = f"_{node.name.lstrip('_')}"
    if getattr(node, _DONE, False) or prefix == "_":
        return
    setattr(node, _DONE, True)
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        part = waiting.pop()
        for field in ("attr", "id", "arg", "name"):
            name = getattr(part, field, None)
            if type(name) is str and name.startswith("__") and not name.endswith("__"):
                setattr(part, field, prefix + name)
        if isinstance(part, ast.ClassDef):
            waiting.extend([*part.bases, *part.decorator_list])
        else:
            waiting.extend(ast.iter_child_nodes(part))
