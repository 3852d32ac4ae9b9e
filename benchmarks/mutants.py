"""Breaks Python code in one place: which places there are, of what kind, and what may stand there instead.

A mutation is what people do wrong with shapes: a size that is off, sizes or axes swapped, a call that was left out, a window of
another size, a concatenation along another axis, an unpacking into another number of names. Whether the program then fails is not
asked here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator
from itertools import pairwise
from typing import NamedTuple

SIZED = frozenset(
    "Linear LazyLinear Bilinear Embedding LayerNorm RMSNorm GroupNorm BatchNorm1d BatchNorm2d BatchNorm3d LSTM GRU Dense Conv1d "
    "Conv2d Conv3d ConvTranspose2d MultiheadAttention Parameter zeros ones randn rand empty arange full Dense".split()
)
REARRANGING = frozenset(
    "permute transpose flatten unsqueeze squeeze reshape view mean rearrange repeat expand swapaxes".split()
)
WINDOWS = frozenset("kernel_size stride padding dilation groups patch_size pool_size strides".split())
AXES = frozenset("dim axis dims".split())
LIBRARIES = frozenset("torch F np tf ops keras jnp jax lax nn backend layers".split())
"""Names that programs give to libraries."""
JOINING = frozenset("cat concat concatenate stack chunk split unbind".split())


class Mutation(NamedTuple):
    """One change of a text: what stands from `start` to `end` (in bytes) becomes `new`."""

    kind: str
    line: int
    start: int
    end: int
    new: str

    def applied(self, text: bytes) -> bytes:
        """The text with the change."""
        return text[: self.start] + self.new.encode() + text[self.end :]


class Places:
    """The places of one source text that may be broken, on the lines that are wanted."""

    def __init__(self, text: bytes, lines: Collection[int]) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self.wanted = frozenset(lines)
        self._starts = [0]
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def find(self) -> list[Mutation]:
        """Every mutation, in order of places."""
        found = [
            mutation
            for node in ast.walk(self.tree)
            if getattr(node, "lineno", 0) in self.wanted
            for rule in _RULES.get(type(node), ())
            for mutation in rule(self, node)
        ]
        return sorted(
            dict.fromkeys(m for m in found if self.source(m.start, m.end) != m.new),
            key=lambda m: (m.start, m.end, m.new),
        )

    def source(self, start: int, end: int) -> str:
        """A piece of the text."""
        return self.text[start:end].decode()

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node stands."""
        first, last = node.lineno, node.end_lineno
        return self._starts[first - 1] + node.col_offset, self._starts[last - 1] + node.end_col_offset

    def written(self, node: ast.AST) -> str:
        """The text of a node."""
        return self.source(*self.span(node))

    def change(self, kind: str, node: ast.AST, new: str) -> Mutation:
        """A node that is written otherwise."""
        return Mutation(kind, node.lineno, *self.span(node), new)


def _named(call: ast.Call) -> str:
    function = call.func
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _numbers(node: ast.expr) -> Iterator[ast.Constant]:
    """The integers written in an argument: itself, or those of a tuple."""
    for part in node.elts if isinstance(node, ast.Tuple | ast.List) else [node]:
        if isinstance(part, ast.Constant) and type(part.value) is int:
            yield part


def _constants(places: Places, call: ast.Call) -> Iterator[Mutation]:
    """A size, a window or an axis that is off."""
    name = _named(call)
    given = [(None, argument) for argument in call.args] + [(each.arg, each.value) for each in call.keywords]
    for index, (keyword, argument) in enumerate(given):
        for number in _numbers(argument):
            kind = "size"
            if (
                keyword in WINDOWS
                or ("Pool" in name and keyword is None)
                or ("Conv" in name and keyword is None and index > 1)
            ):
                kind = "window"
            elif keyword in AXES or (name in JOINING | REARRANGING and keyword is None):
                kind = "axis"
            value = number.value
            assert isinstance(value, int)
            changed = [value - 1, value + 1] if kind == "axis" or value < 4 else [value + 1, value * 2]
            yield from (places.change(kind, number, str(new)) for new in changed if new >= -3)


def _features(places: Places, call: ast.Call) -> Iterator[Mutation]:
    """A size that is computed and is off, and two sizes that are swapped."""
    if _named(call) not in SIZED:
        return
    sizes = [argument for argument in call.args[:2] if not isinstance(argument, ast.Constant | ast.Starred)]
    for argument in sizes:
        if isinstance(argument, ast.Name | ast.Attribute | ast.BinOp) and not _of_library(argument):
            yield places.change("features", argument, f"({places.written(argument)}) + 1")
            yield places.change("features", argument, f"({places.written(argument)}) * 2")
    if len(call.args) > 1 and not any(isinstance(argument, ast.Starred) for argument in call.args[:2]):
        yield _swapped(places, call.args[0], call.args[1])


def _of_library(node: ast.expr) -> bool:
    """Whether an argument is a library's own name, such as a dtype, and no size."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in LIBRARIES


def _swapped(places: Places, first: ast.expr, second: ast.expr) -> Mutation:
    start, end = places.span(first)[0], places.span(second)[1]
    between = places.source(places.span(first)[1], places.span(second)[0])
    return Mutation("swapped", first.lineno, start, end, places.written(second) + between + places.written(first))


def _left_out(places: Places, call: ast.Call) -> Iterator[Mutation]:
    """A permute, flatten or unsqueeze that was forgotten, or whose sizes or axes are swapped."""
    name, function = _named(call), call.func
    if name not in REARRANGING or not call.args:
        return
    root = function.value if isinstance(function, ast.Attribute) else None
    of_library = root is None or (isinstance(root, ast.Name) and root.id in LIBRARIES)
    rest = call.args[1:] if of_library else call.args
    kept = call.args[0] if of_library else root
    if kept is not None and not isinstance(kept, ast.Starred):
        yield places.change("left out", call, places.written(kept))
    if len(rest) > 1 and not any(isinstance(argument, ast.Starred) for argument in rest[:2]):
        yield _swapped(places, rest[0], rest[1])


def _patterns(places: Places, node: ast.Constant) -> Iterator[Mutation]:
    """Two names of an einops or einsum pattern that are swapped."""
    text = node.value
    if not isinstance(text, str) or "->" not in text or "\n" in text:
        return
    written = places.written(node)
    arrow = written.index("->") if "->" in written else -1
    names = list(re.finditer(r"\b[a-z]\w*\b" if " " in text else r"[a-z]", written[arrow + 2 :]))
    for first, second in pairwise(names):
        right = written[arrow + 2 :]
        swapped = (
            right[: first.start()] + second[0] + right[first.end() : second.start()] + first[0] + right[second.end() :]
        )
        yield places.change("pattern", node, written[: arrow + 2] + swapped)


def _assigned(places: Places, node: ast.Assign) -> Iterator[Mutation]:
    """A step that was left out, or a result that is unpacked into one name less."""
    target = node.targets[0]
    if isinstance(target, ast.Name) and isinstance(node.value, ast.Call):
        passed = [part for part in node.value.args if isinstance(part, ast.Name) and part.id == target.id]
        if passed:
            yield places.change("step", node, "pass")
    if isinstance(target, ast.Tuple) and len(target.elts) > 1:
        yield places.change("unpack", target, ", ".join(places.written(part) for part in target.elts[:-1]) + ",")
        yield places.change("unpack", target, places.written(target).removesuffix(")").removeprefix("(") + ", _more")


def _shapes(places: Places, node: ast.Subscript) -> Iterator[Mutation]:
    """Another axis of a shape, or an index that keeps or takes an axis."""
    if isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is int:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            yield places.change("axis", node.slice, str(node.slice.value + 1))


_RULES: dict[type[ast.AST], tuple[Callable[[Places, ast.AST], Iterator[Mutation]], ...]] = {
    ast.Call: (_constants, _features, _left_out),
    ast.Constant: (_patterns,),
    ast.Assign: (_assigned,),
    ast.Subscript: (_shapes,),
}
