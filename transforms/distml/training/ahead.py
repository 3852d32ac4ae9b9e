"""What a program runs before its training: where it makes and splits its data, builds what it trains, reads its settings."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property

from distml.training.around import loops_around
from distml.training.callers import Reach, callers
from distml.training.program import Program
from distml.training.syntax import yields


class Ahead:
    """Tells what runs before training, in front of the first loop that does or on the way to it."""

    def __init__(self, program: Program, stepping: Reach, training: Reach, apart: Callable[[ast.AST], bool]) -> None:
        """`stepping` is what leads to training, `training` what leads to gradients too; `apart`: functions to leave out."""
        self.program, self.stepping, self.training, self.apart = program, stepping, training, apart

    def holds(self, node: ast.AST) -> bool:
        """Whether a node runs before training, and not only in functions that are apart, or where samples are looked up."""
        return self._runs(node, self._reached)

    @cached_property
    def _reached(self) -> set[ast.AST]:
        """The functions that are called before training."""
        called = callers(self.program)
        waiting = {each for each in called if not (self.apart(each) or yields(each))}
        reached: set[ast.AST] = set()
        while new := {each for each in waiting if any(self._runs(call, reached) for call in called[each])}:
            reached |= new
            waiting -= new
        return reached

    def _runs(self, node: ast.AST, reached: set[ast.AST]) -> bool:
        """Whether a node runs before training, if these functions do."""
        function = self.program.function(node)
        if function is not None and function not in reached:
            return False
        if any(self.training.holds(loop) for loop in loops_around(node, self.program)):
            return False
        above = next((each for each in self.program.ancestors(node) if isinstance(each, ast.Lambda)), None)
        if above is not None and not self._at_once(above):
            return False
        return function is not None or not self._behind(node)

    def _at_once(self, function: ast.Lambda) -> bool:
        """Whether a function is run by what it is given to: `sorted(rows, key=lambda row: random())`."""
        above = self.program.parent(function)
        call = self.program.parent(above) if isinstance(above, ast.keyword) else above
        return any(n.startswith("builtins.") for n in self.program.callee(call))

    def _behind(self, node: ast.AST) -> bool:
        """Whether a statement of a script comes after one that trains, in the same block or in one around it."""
        above = {node, *self.program.ancestors(node)}
        block: list[ast.stmt] = self.program.unit(node).tree.body
        while True:
            training = next((each for each in block if self.stepping.holds(each)), None)
            own = next((each for each in block if each in above), None)
            if training is None or own is None or training is not own:
                return training is not None and own is not None and block.index(own) > block.index(training)
            blocks = [
                part for part in (getattr(own, name, None) for name in ("body", "orelse")) if isinstance(part, list)
            ]
            block = next((part for part in blocks if any(each in above for each in part)), [])
