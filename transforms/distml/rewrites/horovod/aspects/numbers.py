"""Numbers that a batch gives: taken out of its tensors, computed of such, or the loss itself; texts made of them are none."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from distml.rewrites.horovod.aspects.containers import chooses
from distml.rewrites.horovod.aspects.filling import assigned
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.source.nodes import walk
from distml.training.around import own_nodes, owner_of
from distml.training.callers import run_by
from distml.training.callsites import called
from distml.training.program import Program
from distml.training.syntax import nodes_in, receiver_of, targets_of
from distml.training.values import Box, Instance, Module

_WHOLE = re.compile(r":[^{}]*d\}")


class Numbers:
    """Answers for one program; `losses` are the names of what gradients are taken of."""

    def __init__(self, program: Program, uniform: Uniform, losses: Collection[str]) -> None:
        self.program, self.uniform, self.losses = program, uniform, losses
        self._asked: set[tuple[ast.AST, str]] = set()
        """The variables that a question is about: one that is computed of itself is no number by that."""

    def begins(self, target: ast.expr) -> bool:
        """Whether what is added to was set to a number, or to a tensor of zeros, before."""
        return any(_is_zero(value) for value in self.stored(target))

    def stored(self, target: ast.expr) -> Iterator[ast.expr]:
        """What is stored, by simple statements, where a target is found in the same module."""
        key = target.attr if isinstance(target, ast.Attribute) else ast.unparse(target)
        whole: ast.AST = owner_of(target, self.program)
        if not isinstance(target, ast.Name):
            whole = self.program.unit(target).tree
        for node in walk(whole):
            given = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            for each in targets_of(node):
                for place, value in assigned(each, given) if given is not None else ():
                    if key == (place.attr if isinstance(place, ast.Attribute) else ast.unparse(place)):
                        yield value

    def _gives(self, function: ast.FunctionDef) -> bool:
        """Whether all that a function gives back is a number of its data."""
        given = [each.value for each in own_nodes(function, ast.Return)]
        return bool(given) and all(each is not None and self.is_one(each, below=True) for each in given)

    def is_one(self, node: ast.expr, *, below: bool = False) -> bool:
        """Whether something is a number that the data gives: taken out of a tensor, computed of such, or the loss itself."""
        if self.uniform.holds(node):
            return False
        if isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
            return not any(map(is_text, sides)) and any(self.is_one(each, below=below) for each in sides)
        if isinstance(node, ast.Call):
            name = called(node, self.program)
            if name in ("item", "float") and not chooses(node):
                return True
            own = [each for each in run_by(node, self.program) if isinstance(each, ast.FunctionDef) and not below]
            if own:
                return all(self._gives(each) for each in own)
            inner = receiver_of(node)
            return name in ("detach", "cpu", "clone", "numpy") and inner is not None and self.is_one(inner)
        if isinstance(node, ast.Attribute) and node.attr == "data":
            return self.is_one(node.value)
        if isinstance(node, ast.Subscript):
            return self._first_of_data(node)
        if isinstance(node, ast.Name):
            if node.id in self.losses:
                return True
            return self._holds_one(node)
        return False

    def _first_of_data(self, node: ast.Subscript) -> bool:
        """Whether a number is taken out of a tensor as in early versions of PyTorch: `loss.data[0]`."""
        first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
        data = node.value if isinstance(node.value, ast.Attribute) and node.value.attr == "data" else None
        tensor = data.value if data is not None and isinstance(data.value, ast.Name) else None
        held = self.program.of(tensor) if tensor is not None else frozenset()
        return first and tensor is not None and not any(isinstance(each, Box | Instance | Module) for each in held)

    def _holds_one(self, name: ast.Name) -> bool:
        made, variable = [*self.stored(name)], (owner_of(name, self.program), name.id)
        if len(made) != 1 or isinstance(made[0], ast.Name) or variable in self._asked:
            return False
        self._asked.add(variable)
        try:
            return self.is_one(made[0])
        finally:
            self._asked.remove(variable)


def is_text(node: ast.AST) -> bool:
    """Whether something is a text, or made one."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        return name in ("format", "join", "str")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return is_text(node.left)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_zero(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("zeros", "tensor")


def shown_whole(name: ast.Name, program: Program) -> bool:
    """Whether something is written with a format for whole numbers, which a mean is not."""
    owner = owner_of(name, program)
    texts = (each.value for each in nodes_in(owner, ast.Constant))
    formats = (ast.unparse(each) for each in nodes_in(owner, ast.FormattedValue))
    shown = any(isinstance(each, str) and _WHOLE.search(each) for each in texts)
    return shown or any(name.id in each and _WHOLE.search(each) for each in formats)
