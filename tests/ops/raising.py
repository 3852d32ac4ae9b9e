"""Which of some expressions raise an exception, by the library itself where it is at hand, else as it was recorded."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

RECORDS = Path(__file__).with_name("frameworks")
Case = tuple[str, str]


def raised(start: str, cases: Iterable[tuple[Case, str, str]]) -> list[Case]:
    """The cases that raise behind `start`: each with what `x` is and an expression."""
    names: dict[str, object] = {}
    exec(start, names)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case, x, expression in cases:
            try:
                eval(expression, {**names, "x": eval(x, names)})
            except Exception:
                found.append(case)
    return found


def failing(record: str, library: str, really: Callable[[str], list[Case]]) -> set[Case]:
    """The cases that raise: by NumPy and PyTorch themselves, and as `frameworks/` keeps it for others."""
    if library in ("numpy", "torch") and find_spec(library) is not None:
        return {*really(library)}
    rows = json.loads((RECORDS / f"{record}.json").read_text("utf-8"))[library]
    return {(first, second) for first, second in rows}
