"""What was asked to change in a file, by node of its syntax tree."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass
class Around:
    """What happens to a statement."""

    before: list[str] = field(default_factory=list)
    near: list[str] = field(default_factory=list)
    """Directly in front of the statement, behind `before`; a name alone stands for the statement that gives it."""
    after: list[str] = field(default_factory=list)
    guard: str | None = None
    removed: bool = False


@dataclass
class Requests:
    """All that was asked for, by node."""

    expressions: dict[ast.expr, list[str]] = field(default_factory=lambda: defaultdict(list))
    keywords: dict[ast.Call, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    arguments: dict[ast.Call, list[str]] = field(default_factory=lambda: defaultdict(list))
    hoisted: dict[ast.expr, tuple[str, int]] = field(default_factory=dict)
    """The name of an expression, and how many columns to the left its further lines go."""
    items: dict[ast.expr, list[str]] = field(default_factory=lambda: defaultdict(list))
    handed: dict[ast.Call, str] = field(default_factory=dict)
    renamed: dict[ast.Call, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    dropped: dict[ast.Call, set[str]] = field(default_factory=lambda: defaultdict(set))
    statements: dict[ast.stmt, Around] = field(default_factory=lambda: defaultdict(Around))
    begins: dict[ast.stmt, list[str]] = field(default_factory=lambda: defaultdict(list))
    ends: dict[ast.stmt, list[str]] = field(default_factory=lambda: defaultdict(list))

    def codes(self) -> Iterator[tuple[ast.AST, str]]:
        """The code that was asked for, with the nodes at which it is to stand."""
        listed = (self.expressions, self.arguments, self.items)
        yield from ((node, code) for asked in listed for node, codes in asked.items() for code in codes)
        inside = ((node.body[0], codes) for asked in (self.begins, self.ends) for node, codes in asked.items())  # type: ignore[attr-defined]
        yield from ((node, code) for node, codes in inside for code in codes)
        yield from ((node, code) for node, codes in self.keywords.items() for code in codes.values())
        yield from self.handed.items()
        for node, around in self.statements.items():
            codes = (*around.before, *around.near, *around.after, around.guard or "")
            yield from ((node, code) for code in codes)

    def change(self, changed: Callable[[ast.AST, str], str]) -> None:
        """Change the code that was asked for, by what `changed` makes of a node and its code."""
        listed = (self.expressions, self.arguments, self.items, self.begins, self.ends)
        for node, codes in (each for asked in listed for each in asked.items()):
            codes[:] = [changed(node, code) for code in codes]
        for call, named in self.keywords.items():
            named |= {name: changed(call, code) for name, code in named.items()}
        for method, function in self.handed.items():
            self.handed[method] = changed(method, function)
        for statement, around in self.statements.items():
            for codes in (around.before, around.near, around.after):
                codes[:] = [changed(statement, code) for code in codes]
            around.guard = around.guard and changed(statement, around.guard)
