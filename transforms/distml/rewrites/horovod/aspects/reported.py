"""Numbers that a loop over a rank's part of the data reports as rank 0 alone has them: what was not averaged is warned of.

A number is averaged where all ranks come to what reports it, and not in each iteration, where that would cost a collective each
time. What remains is named, so that nobody takes it for a number of all the data.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from distml.rewrites.horovod.aspects.batches import Batches, Frame, own_nodes
from distml.rewrites.horovod.aspects.means import Loop, Means
from distml.training.around import LOOPS
from distml.training.values import Foreign

_MOST = 3
"""Numbers that one warning names."""


class Reported:
    """Answers for the loops of one program, when `means` has asked for what it averages."""

    def __init__(self, means: Means) -> None:
        self.means, self.plan, self.program = means, means.plan, means.program

    def warn(self, loops: Iterable[ast.AST]) -> None:
        """Name what each of some loops reports of rank 0 alone."""
        for loop in sorted((each for each in loops if isinstance(each, LOOPS)), key=lambda each: each.lineno):
            names = [*dict.fromkeys(self._of(loop))]
            if names:
                some = ", ".join(f"`{each}`" for each in names[:_MOST]) + (" and others" if names[_MOST:] else "")
                self.plan.warn(
                    "HVD313",
                    loop,
                    f"{some} in this loop: reported for the batches of rank 0 only, not averaged over all ranks",
                    "average it over all ranks where it is reported, or report it less often",
                )

    def _of(self, loop: Loop) -> Iterator[str]:
        batches = Batches(self.program, self.means.uniform, loop)
        sums = {*(place for place, _ in self.means.sums(loop)), *self.means.latest(loop)}
        sums |= {*self._written(loop, batches, sums)}
        sums |= {place.rpartition(".")[0] for place in sums} - {"", "self"} | {*self._given_to(loop)}
        for frame in batches.frames:
            for statement in (each for each in own_nodes(frame.body) if isinstance(each, ast.Expr)):
                if self.means.tells(statement) and isinstance(statement.value, ast.Call):
                    averaged = self.means.averaged(statement) if frame.body is loop else set[str]()
                    averaged |= {place.rpartition(".")[0] for place in averaged}
                    for number in self._numbers(statement.value, batches, frame, sums if frame.body is loop else set()):
                        if not averaged & _places(number):
                            yield ast.unparse(number)

    def _given_to(self, loop: Loop) -> Iterator[str]:
        """The objects that are given numbers of a batch to keep, whatever class they are of."""
        for node in own_nodes(loop):
            call = node.value if isinstance(node, ast.Expr) else None
            held = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
            if isinstance(call, ast.Call) and isinstance(held, ast.Name) and any(map(self.means.number, call.args)):
                if not any(isinstance(each, Foreign) and each.node is None for each in self.program.of(held)):
                    yield held.id

    def _written(self, loop: Loop, batches: Batches, sums: set[str]) -> Iterator[str]:
        """The variables that hold a text, or a container, with a number that was not averaged in front of them."""
        for node in own_nodes(loop):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                averaged = self.means.averaged(node)
                numbers = self._within([node.value], batches, batches.frames[0], sums)
                if isinstance(node.value, ast.JoinedStr | ast.Call | ast.BinOp | ast.Dict) and any(
                    not averaged & _places(each) for each in numbers
                ):
                    yield node.targets[0].id

    def _numbers(self, call: ast.Call, batches: Batches, frame: Frame, sums: set[str]) -> Iterator[ast.expr]:
        """The numbers that a call is given, or computes what it is given of; in a function, those that it computes itself."""
        return self._within([*call.args, *(each.value for each in call.keywords)], batches, frame, sums)

    def _within(self, given: list[ast.expr], batches: Batches, frame: Frame, sums: set[str]) -> Iterator[ast.expr]:
        waiting: list[ast.AST] = [*given]
        while waiting:
            node = waiting.pop(0)
            if _is_place(node) and ast.unparse(node) in sums:
                assert isinstance(node, ast.expr)
                yield node
            elif isinstance(node, ast.expr) and batches.of_batch(node, frame) and self.means.number(node):
                if not any(isinstance(each, ast.Name) and each.id in frame.outside for each in ast.walk(node)):
                    yield node
            elif not (
                isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            ):  # another part of an object
                waiting += ast.iter_child_nodes(node)


def _is_place(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load)


def _places(node: ast.AST) -> set[str]:
    return {ast.unparse(each) for each in ast.walk(node) if _is_place(each)}
