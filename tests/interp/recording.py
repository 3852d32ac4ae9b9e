"""Runs programs over libraries that the tests do without, to write down how they end (`recorded.py` compares with that)."""

from __future__ import annotations

import traceback
from typing import Any


def stopped(program: str, names: dict[str, Any]) -> dict[str, Any] | None:
    """Run a program, which leaves its variables in `names`; the line in which it stops and why, or None if it does not."""
    try:
        exec(compile(program, "<program>", "exec", dont_inherit=True), names)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        inner = [each.lineno for each in frames if each.filename == "<program>"][-1]
        return {"line": inner, "error": (str(error).splitlines() or [""])[0][:100]}
    return None
