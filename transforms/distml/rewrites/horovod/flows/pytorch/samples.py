"""Means over samples: a rank sums up what its own part of the data gives, and divides by the number of these samples."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.rewrites.horovod.aspects.setup import helper
from distml.rewrites.horovod.aspects.spelling import quotient
from distml.rewrites.horovod.flows.pytorch.loops import Loops, Use
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan
from distml.source.nodes import walk
from distml.training.around import LOOPS, owner_of
from distml.training.callsites import argument
from distml.training.program import Program
from distml.training.syntax import method_name, receiver_of
from distml.training.values import Box

_COUNTED = Note(
    "mean over the samples of this rank",
    "this sum covers only the rank's own part of the data",
    "own-samples",
)
_TURNS = Note(
    "mean over the batches of this rank",
    "this sum covers only the rank's own share of the batches",
    "own-samples",
)
_SAMPLES = '''

def {name}(loader):
    """How many samples a process goes through: those of a prepared loader fill up its last batches."""
    batches = loader.batch_sampler
    return len(batches) * batches.batch_size if hasattr(batches, "num_processes") else len(batches.sampler)
'''


class Samples:
    """Plans what sums over the data of training are divided by."""

    def __init__(self, study: Study, plan: Plan, loops: Loops) -> None:
        self.study, self.plan, self.loops, self.program = study, plan, loops, study.program

    def counted(self, sampled: set[ast.Call]) -> None:
        """Divide by the samples of `sampled` loaders, and compare ends with them, where the program asks these for theirs."""
        for unit in self.plan.units():
            for node in walk(unit.tree):
                right = _divisor(node)
                lengths: list[ast.AST] = [right] if right is not None else []
                if isinstance(node, ast.If | ast.While) and self.study.training.holds_any(self._loops_above(node)):
                    lengths = [each for each in walk(node.test) if isinstance(self.program.parent(each), ast.BinOp)]
                for data in (_measured(each) for each in lengths):
                    found = self.loops.makers(data.value) if data is not None else frozenset()
                    if data is not None and found & sampled and all(map(self._plain, found - sampled)):
                        whole, loader = _whole(data, self.program), ast.unparse(data.value)
                        self.plan.patch(whole).wrap(whole, self.number(whole, loader, found), _COUNTED)

    def _plain(self, maker: ast.Call) -> bool:
        """Whether a loader goes through all samples of its data set."""
        return argument(maker, 3, "sampler") is None and argument(maker, 4, "batch_sampler") is None

    def summed(self, use: Use) -> None:
        """Divide what a loop sums up by the samples of its loader, not by those of the data set: `loss / len(data)`."""
        if not isinstance(use.drawn, ast.For) or not isinstance(use.iterable, ast.Name | ast.Attribute):
            return
        if not all(argument(maker, 3, "sampler") is None for maker in use.makers):
            return
        for right in self.divisors(use.drawn):
            if self.is_length(right, use):
                self.plan.patch(right).wrap(right, self.number(right, ast.unparse(use.iterable), use.makers), _COUNTED)

    def number(self, node: ast.AST, loader: str, makers: frozenset[ast.Call]) -> str:
        """How many samples of a loader, given as text, a rank goes through."""
        if not makers & self.loops.prepared:
            return f"len({loader}.sampler)"
        return f"{helper(self.plan, node, 'samples_of', _SAMPLES)}({loader})"

    def dealt(self, loop: ast.For, counts: set[str], samples: str = "") -> None:
        """Divide what a loop sums up, whose turns are dealt out, by what a rank gets.

        `counts` say how many turns there are for all ranks, `samples` how many samples they go through.
        """
        for right in self.divisors(loop):
            made = self.loops.assigned(right) if isinstance(right, ast.Name) else []
            if ast.unparse(right) in counts or (len(made) == 1 and ast.unparse(made[0]) in counts):
                self.plan.patch(right).wrap(right, f"({quotient(right, self.plan.world(right).size)})", _TURNS)
            elif samples and any(ast.unparse(each) == samples for each in walk(right)):
                self.plan.patch(right).wrap(right, f"({{}} / {self.plan.world(right).size})", _TURNS)

    def divisors(self, loop: ast.AST) -> Iterator[ast.expr]:
        """What is divided by where a loop stands, under what it adds up."""
        sums = {ast.unparse(each) for each in _added_up(loop)}
        for node in walk(owner_of(loop, self.program)):
            right, left = _divisor(node), node.left if isinstance(node, ast.BinOp) else getattr(node, "target", None)
            if right is not None and left is not None and any(ast.unparse(each) in sums for each in _names(left)):
                yield right

    def is_length(self, right: ast.expr, use: Use) -> bool:
        """Whether a number is that of the samples in the data set of a loader."""
        made = self.loops.assigned(right) if isinstance(right, ast.Name) else []
        data = length(made[0] if len(made) == 1 else right)
        if self._of_some_phase(right if data is None else data, use):
            return True
        if made and isinstance(data, ast.Attribute) and data.attr == "dataset":
            return self.loops.makers(data.value) == use.makers
        values = self.program.of(data) if isinstance(data, ast.Name) else frozenset()
        given = [argument(maker, 0, "dataset") for maker in use.makers]
        if data is None or not values:
            return False
        parts = any("[]" in name for name in self.program.names(data))
        called = {ast.unparse(each) for each in given if each is not None}
        if parts and called != {ast.unparse(data)}:  # parts of one split have the same origin
            return False
        return all(self.program.of(each) == values for each in given)

    def _of_some_phase(self, node: ast.expr, use: Use) -> bool:
        """Whether something is looked up by a name: a data set of these loaders, or the size of one."""
        if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Constant | ast.Slice):
            return False
        boxes = self.program.of(node.value)
        if boxes and all(isinstance(box, Box) and self._sizes(box.node) for box in boxes):
            return True
        given = (self.program.of(argument(maker, 0, "dataset")) for maker in use.makers)
        return any(each & self.program.of(node) for each in given)

    def of_phase(self, use: Use, key: str, shared: str = "") -> None:
        """Where a loop trains and evaluates in turn: `sizes[phase]`; `shared` says it where batches are dealt out."""
        assert isinstance(use.iterable, ast.Subscript)
        code = shared or f"len({ast.unparse(use.iterable)}.sampler)"
        changed: set[ast.expr] = set()
        for node in walk(owner_of(use.drawn, self.program)):
            right = _divisor(node)
            counts = [right, *(self.loops.assigned(right) if isinstance(right, ast.Name) else ())] if right else []
            for count in counts:
                parts = (each for each in walk(count) if isinstance(each, ast.expr))
                part = next((each for each in parts if self._of_phase(each, ast.unparse(use.iterable), key)), None)
                if part is not None and part not in changed:
                    changed.add(part)
                    self.plan.patch(part).wrap(part, code, _COUNTED)

    def _of_phase(self, node: ast.expr, loader: str, key: str) -> bool:
        data = length(node)
        if data is not None:
            return ast.unparse(data) == f"{loader}.dataset" or (_taken(data, key) and not self.loops.makers(data))
        boxes = self.program.of(node.value) if isinstance(node, ast.Subscript) and _taken(node, key) else frozenset()
        return bool(boxes) and all(isinstance(box, Box) and self._sizes(box.node) for box in boxes)

    def _sizes(self, node: ast.AST) -> bool:
        """Whether a dictionary holds how many samples there are of each kind."""
        values = [node.value] if isinstance(node, ast.DictComp) else node.values if isinstance(node, ast.Dict) else []
        measured = [length(each) for each in values]
        return bool(measured) and all(each is not None and not self.loops.makers(each) for each in measured)

    def _loops_above(self, node: ast.AST) -> list[ast.AST]:
        return [each for each in self.program.ancestors(node) if isinstance(each, LOOPS)]


def _divisor(node: ast.AST) -> ast.expr | None:
    """What something is divided by."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
        return node.right if isinstance(node, ast.BinOp) else node.value
    return None


def _names(node: ast.AST) -> Iterator[ast.AST]:
    return (each for each in walk(node) if isinstance(each, ast.Name | ast.Attribute | ast.Subscript))


def _added_up(loop: ast.AST) -> Iterator[ast.expr]:
    """What a loop adds to: sums and lists."""
    for each in walk(loop):
        if isinstance(each, ast.AugAssign):
            yield each.target
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == "append":
            yield each.func.value


def _taken(node: ast.expr, key: str) -> bool:
    """Whether something is looked up under the name of a phase."""
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and node.slice.id == key


def length(node: ast.AST) -> ast.expr | None:
    """The data in `len(data)`, `float(len(data))` or `data.__len__()`."""
    if not isinstance(node, ast.Call):
        return None
    if method_name(node) == "__len__":
        return receiver_of(node)
    name = ast.unparse(node.func)
    if name == "float" and len(node.args) == 1:
        return length(node.args[0])
    return node.args[0] if name == "len" and len(node.args) == 1 else None


def _whole(data: ast.expr, program: Program) -> ast.expr:
    """The call in which the length of data is asked for."""
    return next(each for each in program.ancestors(data) if isinstance(each, ast.Call))


def _measured(node: ast.AST) -> ast.Attribute | None:
    """The `loader.dataset` in `len(loader.dataset)` or `loader.dataset.__len__()`."""
    data = length(node)
    return data if isinstance(data, ast.Attribute) and data.attr == "dataset" else None
