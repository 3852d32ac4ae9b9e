"""Which public names of a library are names of one object.

`PYTHONPATH=tests PYTHON -m ops.frameworks.record_names LIBRARY,... OUT.json`
"""

from __future__ import annotations

import importlib
import json
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

MAX_DOTS = 4
HIDDEN = ("src", "compat")
"""Where the inner modules of Keras are, and what TensorFlow keeps of version 1."""


def public(module: types.ModuleType, path: str, seen: set[str]) -> Iterator[tuple[str, Any]]:
    """The classes and functions that a module shows and those below it, each under the path that a program writes."""
    seen.add(path)
    shown = getattr(module, "__all__", None)
    for name in sorted(dir(module)):
        full = f"{path}.{name}"
        if name.startswith("_") or name in HIDDEN or full in seen or full.count(".") > MAX_DOTS:
            continue
        try:
            value = getattr(module, name)
        except Exception:
            continue
        if isinstance(value, types.ModuleType):
            # A module that another one imports is not below it; TensorFlow and Keras put theirs together under `_api`.
            if value.__name__ == full or "_api" in value.__name__:
                yield from public(value, full, seen)
        elif callable(value) and (shown is None or name in shown):
            yield full, value


def main() -> None:
    """Write the groups, one a line."""
    warnings.simplefilter("ignore")
    found: dict[int, tuple[Any, set[str]]] = {}
    for root in sys.argv[1].split(","):
        for name, value in public(importlib.import_module(root), root, set()):
            found.setdefault(id(value), (value, set()))[1].add(name)
    groups = sorted(sorted(names) for _, names in found.values() if len(names) > 1)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(each) for each in groups) + "\n]\n")


if __name__ == "__main__":
    main()
