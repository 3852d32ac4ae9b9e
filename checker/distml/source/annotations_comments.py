"""Shapes of parameters in comments, for source that cannot carry annotations.

Lines between a signature and the body it belongs to say what jaxtyping says, one parameter a line:

    def forward(self, x, mask=None):
        # distml: x: float[batch, 3, h, w//2]
        # distml: mask: bool[batch, ...] | None

`_` is an axis of any size, `...` any number of axes. Such a line counts as the parameter's annotation.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

_COMMENT = re.compile(
    r"\s*# distml: (?P<name>[^\W\d]\w*)\s*:\s*(?P<dtype>float|int|bool|complex)?\s*\[(?P<axes>[^\]]*)\]"
    r"(?P<none>\s*\|\s*None)?\s*"
)
_DTYPES = {"float": "Float", "int": "Integer", "bool": "Bool", "complex": "Complex", None: "Shaped"}


def parameter_of(line: str) -> str | None:
    """The parameter that a line of source is about; None where it is no such comment."""
    found = _COMMENT.fullmatch(line)
    return found["name"] if found else None


def attach_comments(tree: ast.Module, lines: Sequence[str]) -> None:
    """Give the parameters in `tree` the annotations that comments state."""
    if not any(_COMMENT.fullmatch(line) for line in lines):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _attach(node, lines)


def _attach(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: Sequence[str]) -> None:
    args = function.args
    named = {each.arg: each for each in [*args.posonlyargs, *args.args, *args.kwonlyargs]}
    ends = [each.end_lineno or 0 for each in ast.walk(args) if isinstance(each, ast.expr | ast.arg)]
    for number in range(max([function.lineno, *ends]) + 1, function.body[0].lineno):
        found = _COMMENT.fullmatch(lines[number - 1])
        if found and found["name"] in named:
            named[found["name"]].annotation = _annotation(found, number, lines[number - 1])


def _annotation(found: re.Match[str], number: int, line: str) -> ast.expr:
    """The jaxtyping annotation that says the same, placed at the comment."""
    axes = " ".join("".join(axis.split()) for axis in found["axes"].split(",") if axis.strip())
    text = f"{_DTYPES[found['dtype']]}[torch.Tensor, {axes!r}]" + (" | None" if found["none"] else "")
    node = ast.parse(text, mode="eval").body
    for each in ast.walk(node):
        if isinstance(each, ast.expr):
            each.lineno = each.end_lineno = number
            each.col_offset = len(line[: line.index("#")].encode())
            each.end_col_offset = len(line.rstrip().encode())
    return node
