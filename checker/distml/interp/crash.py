"""A crash of a rule: reported as ours, once, and contained."""

from __future__ import annotations

import ast
import traceback
from typing import TYPE_CHECKING

from distml.diagnostics.model import Diagnostic

if TYPE_CHECKING:
    from distml.interp.machine import Machine


def note_crash(vm: Machine, name: str, error: Exception, node: ast.AST) -> None:
    """Record that the rule `name` crashed at `node`."""
    span = vm.span(node)
    key = ("SRC201", name, 0, 0)
    if key in vm.findings:
        return
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{last.filename.rpartition('distml/')[2]}:{last.lineno}"
    message = f"distml's rule for {name} failed here ({type(error).__name__} at {where}): {error}"
    vm.findings[key] = Diagnostic("SRC201", message[:300], span)
