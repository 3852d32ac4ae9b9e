"""Small functions that a program gets where ranks combine what their containers hold, in the words of any back end."""

from __future__ import annotations

import ast
from typing import NamedTuple

from distml.rewrites.horovod.aspects.setup import helper
from distml.rewrites.horovod.aspects.spelling import spell
from distml.rewrites.horovod.plan import Plan

MEAN = '''

def {name}(value):
    """The mean over all ranks of a number or an array, or of each number in a list."""
    {parts}
    if isinstance(value, list):
        return [sum(same) / len(same) for same in zip(*parts)]
    return sum(parts) / len(parts)
'''
SUM = '''

def {name}(value):
    """The sum over all ranks of a number or an array."""
    {parts}
    return sum(parts)
'''
MEAN_OF_EACH = '''

def {name}(value):
    """The mean over all ranks of each number in a container, which stays the same object."""

    def put(each, change):
        if isinstance(each, dict):
            for key, item in each.items():
                each[key] = put(item, change)
        elif isinstance(each, tuple):
            return tuple(put(item, change) for item in each)
        elif isinstance(each, list) or hasattr(each, "popleft"):
            for i, item in enumerate(each):
                each[i] = put(item, change)
        elif hasattr(each, "dtype") or (isinstance(each, (int, float)) and not isinstance(each, bool)):
            return change(each)
        elif hasattr(each, "__dict__"):
            put(vars(each), change)
        return each

    def mean(each):
        found = next(means)
        if getattr(each, "ndim", 0) and "float" in str(each.dtype) and hasattr(each, "__setitem__"):
            each[...] = found
            return each
        {tensor}return each if getattr(each, "ndim", 0) == 0 and each == found else found

    numbers = []
    put(value, lambda each: numbers.append({plain}) or each)
    {parts}
    means = iter([sum(same) / len(same) for same in zip(*parts)])
    return put(value, mean)
'''
FROM_ALL = '''

def {name}(value):
    """What the lists or arrays of all ranks hold, lists in the order of their batches."""
    {parts}
    {joined}
    return [each for i in range(max(map(len, parts))) for part in parts for each in part[i : i + 1]]
'''
SUM_OF_EACH = '''

def {name}(value):
    """The sum over all ranks of each count in a dict, a list or an array, which stays the same object."""
    {parts}
    if isinstance(value, dict):
        for key in [key for part in parts for key in part]:
            value[key] = sum(part.get(key, 0) for part in parts)
    elif isinstance(value, list):
        value[:] = map(sum, zip(*parts))
    else:
        value[...] = sum(parts)
    return value
'''
EXTREME = '''

def {name}(value):
    """The {kind} number of all ranks."""
    {parts}
    return {choose}(parts)
'''


_ARRAYS = """\
if hasattr(value, "dtype"):
        return {lib}.concatenate(parts)"""


class Tensors(NamedTuple):
    """How tensors of a library, which a file calls `{lib}`, come to the other ranks and back: what is sent of one for a mean,
    and of one in a list, what a mean becomes, and how the parts of all ranks are joined.
    """

    sent: str
    item: str
    back: str
    joined: str


class Spelling:
    """The functions that each file needs for numbers and containers of Python and NumPy, put behind its start-up once."""

    tensors: Tensors | None = None

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def library(self, node: ast.AST) -> str:
        """What a file calls the library of its arrays or tensors."""
        return spell(self.plan, node, "numpy", at_start=True)

    def mean_of(self, node: ast.AST, code: str) -> str:
        """The mean over all ranks of numbers, given as text."""
        return self.combined(node, "mean_of_ranks", MEAN, code)

    def sum_of(self, node: ast.AST, code: str) -> str:
        """The sum over all ranks of a number, given as text."""
        return self.combined(node, "sum_of_ranks", SUM, code)

    def mean_of_each(self, node: ast.AST, code: str) -> str:
        """The mean over all ranks of each number in a container, given as text."""
        own, plain, tensor = self.tensors, "each", ""
        if own is not None:
            lib = self.library(node)
            plain = f"{own.sent} if {lib}.is_tensor(each) else each"
            tensor = f"if {lib}.is_tensor(each):\n            return {own.back.format(lib=lib)}\n        "
        return self.combined(node, "mean_of_each", MEAN_OF_EACH, code, "numbers", plain=plain, tensor=tensor)

    def from_all(self, node: ast.AST, code: str) -> str:
        """What the lists or arrays of all ranks hold, given as text."""
        own, lib, held = self.tensors, self.library(node), "value"
        if own is not None:
            items = f"[{own.item} if {lib}.is_tensor(each) else each for each in value]"
            held = f"{items} if isinstance(value, list) else value"
        joined = (_ARRAYS if own is None else own.joined).format(lib=lib)
        return self.combined(node, "from_all_ranks", FROM_ALL, code, held, joined=joined)

    def sum_of_each(self, node: ast.AST, code: str) -> str:
        """The sum over all ranks of each count in a container, given as text."""
        return self.combined(node, "sum_of_each", SUM_OF_EACH, code)

    def extreme(self, node: ast.AST, code: str, choose: str) -> str:
        """The largest or smallest number of all ranks, of one given as text."""
        kind = {"max": "largest", "min": "smallest"}[choose]
        return self.combined(node, f"{choose}_of_ranks", EXTREME, code, kind=kind, choose=choose)

    def combined(self, node: ast.AST, name: str, text: str, code: str, value: str = "value", **words: str) -> str:
        """A call of the function `text`, in which `value` is what the ranks give each other."""
        return f"{helper(self.plan, node, name, text, parts=self.parts(node, value), **words)}({code})"

    def parts(self, node: ast.AST, value: str) -> str:
        """The statement by which `parts` becomes a list with what each rank has for `value`."""
        return f"parts = {self.gathering(node)}({value})"

    def gathering(self, node: ast.AST) -> str:
        """The function that gives a list with what each rank has."""
        return f"{self.plan.world(node).module}.allgather_object"
