"""Which Python a file needs that the running one cannot read.

LibCST's parser knows newer grammars than the running Python. What it accepts is looked through for what came with them; strings
with expressions are given to the running Python one by one.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from sys import version_info
from typing import TYPE_CHECKING, NamedTuple

from distml.source.apart import apart, can_fork

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from libcst import CSTNode, Module


class Construct(NamedTuple):
    """What came with a version of Python 3."""

    minor: int
    what: str


CONSTRUCTS = (
    Construct(12, "type parameters (PEP 695)"),
    Construct(12, "`type` statements (PEP 695)"),
    Construct(12, "f-strings with quotes, backslashes or comments inside (PEP 701)"),
    Construct(13, "defaults of type parameters (PEP 696)"),
    Construct(14, "template strings (PEP 750)"),
    Construct(14, "except without parentheses (PEP 758)"),
)
_SECONDS = 3  # of processor time: a hint is worth no more
_PARAMETERS, _ALIAS, _STRING, _DEFAULT, _TEMPLATE, _EXCEPT = range(len(CONSTRUCTS))


@lru_cache(maxsize=8)  # an editor asks of one text again and again
def needed(text: str) -> Construct | None:
    """The newest construct of a file that the running Python rejects; none where it is no Python at all.

    LibCST ends the process on source of absurd depth, or never comes to an end: a process of its own looks. What it needs is
    imported once before.
    """
    from libcst import parse_module

    if not can_fork():
        return _row(_look(text, parse_module))
    return _row(apart(lambda: _look(text, parse_module), _SECONDS) or 0)


def _row(number: int) -> Construct | None:
    return CONSTRUCTS[number - 1] if 0 < number <= len(CONSTRUCTS) else None


def _look(text: str, parse_module: Callable[[str], Module]) -> int:
    """The number of a construct, from 1; 0 for none."""
    try:
        module = parse_module(text)
    except Exception:  # no Python that LibCST knows
        return 0
    newer = [row for row in _constructs(module) if CONSTRUCTS[row].minor > version_info.minor]
    return 1 + max(newer, key=lambda row: CONSTRUCTS[row].minor) if newer else 0


def _constructs(module: Module) -> Iterator[int]:
    waiting: list[CSTNode] = [module]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children)
        kind = type(node).__name__
        if kind == "TypeParameters":
            yield _PARAMETERS
        elif kind == "TypeAlias":
            yield _ALIAS
        elif kind == "TemplatedString":
            yield _TEMPLATE
        elif kind == "TypeParam" and getattr(node, "default", None) is not None:
            yield _DEFAULT
        elif kind in ("ExceptHandler", "ExceptStarHandler") and not getattr(getattr(node, "type", None), "lpar", True):
            if type(getattr(node, "type", None)).__name__ == "Tuple":
                yield _EXCEPT
        elif kind == "FormattedString" and not _parses(module.code_for_node(node)):
            yield _STRING


def _parses(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True
