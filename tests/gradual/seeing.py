"""A program run for real with its assignments, results and parameters recorded, beside what `distml shapes` shows of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from distml.gradual.questions import Question
from distml.gradual.shapes import find_shapes
from distml.gradual.shown import Entry, Shown

KINDS = ("parameter", "assignment", "return")


class Real(NamedTuple):
    """A tensor that a line really gave."""

    kind: str
    name: str
    line: int
    shape: tuple[int, ...]


class _Instrumented(ast.NodeTransformer):
    """Calls of `_seen` behind assignments to names, around results, and where functions begin."""

    def visit_Assign(self, node: ast.Assign) -> Any:
        names = [part for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        names = [part for part in names if isinstance(part.ctx, ast.Store)]
        return [node, *(_note("assignment", part.id, part.lineno, ast.Name(part.id, ast.Load())) for part in names)]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if not isinstance(node.target, ast.Name):
            return node
        name = ast.Name(node.target.id, ast.Load())
        return [node, _note("assignment", node.target.id, node.target.lineno, name)]

    def visit_Return(self, node: ast.Return) -> Any:
        if node.value is not None:
            node.value = _call("return", "return", node.value.lineno, node.value)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        notes = [_note("parameter", a.arg, a.lineno, ast.Name(a.arg, ast.Load())) for a in given]
        node.body = [*notes, *node.body]
        return node


def _call(kind: str, name: str, line: int, value: ast.expr) -> ast.Call:
    return ast.Call(
        ast.Name("_seen", ast.Load()), [ast.Constant(kind), ast.Constant(name), ast.Constant(line), value], []
    )


def _note(kind: str, name: str, line: int, value: ast.expr) -> ast.stmt:
    return ast.Expr(_call(kind, name, line, value))


def run_really(program: str, main: str = "") -> list[Real]:
    """The tensors that a run of the program, and then of `main` in it, met in the lines of the program."""
    found: list[Real] = []

    def seen(kind: str, name: str, line: int, value: Any) -> Any:
        if type(value).__name__ in ("Tensor", "Parameter", "ndarray"):
            found.append(Real(kind, name, line, tuple(value.shape)))
        return value

    tree = ast.fix_missing_locations(_Instrumented().visit(ast.parse(program)))
    names = {"__name__": "__main__", "_seen": seen}
    exec(compile(tree, "program.py", "exec", dont_inherit=True), names)
    exec(main, names)
    return found


def shapes(
    folder: Path, program: str, name: str | None = None, inputs: Sequence[str] = (), where: str | None = None
) -> Shown:
    """What `distml shapes` shows of a program."""
    path = folder / "program.py"
    path.write_text(program, "utf-8")
    return find_shapes(Question(f"{path}::{name}" if name else str(path), where), inputs)


def problems(shown: Shown, real: Sequence[Real]) -> Iterator[str]:
    """Every real tensor that what is shown of its place does not admit. What is not shown at all is unknown."""
    entries: dict[tuple[str, str, int], list[Entry]] = {}
    for entry in shown.entries:
        entries.setdefault((entry.kind, entry.name, entry.line), []).append(entry)
    bound: dict[str, int] = {}
    for each in real:
        if each.kind == "parameter":
            bound = {}  # another call: its sizes are new
        said = entries.get((each.kind, each.name, each.line))
        if said and not any(
            value in ("...", "?") or (sizes is not None and admits(sizes, each.shape, bound))
            for entry in said
            for value, sizes in zip(entry.values, entry.sizes, strict=True)
        ):
            yield f"line {each.line}: {each.kind} {each.name} is {list(each.shape)}, shown is {[e.values for e in said]}"


def admits(sizes: Sequence[int | str], real: Sequence[int], bound: dict[str, int]) -> bool:
    """Whether a shape that is shown may be this one; names that stand alone are bound to the sizes they first meet."""
    if "..." in sizes:
        cut = list(sizes).index("...")
        ends = len(sizes) - cut - 1
        if len(real) < max(cut, ends):
            return False
        return admits(sizes[:cut], real[:cut], bound) and admits(sizes[cut + 1 :], real[len(real) - ends :], bound)
    return len(sizes) == len(real) and all(_may_be(size, value, bound) for size, value in zip(sizes, real, strict=True))


def _may_be(size: int | str, value: int, bound: dict[str, int]) -> bool:
    if isinstance(size, int):
        return size == value
    if size == "?" or not re.fullmatch(r"[\w+*/() -]+", size):
        return True
    if size.isidentifier():
        return bound.setdefault(size, value) == value
    try:
        return bool(eval(size, {"__builtins__": {}}, dict(bound)) == value)
    except NameError:
        return True


def exactly(shown: Shown, real: Sequence[Real]) -> float:
    """The share of real tensors whose place shows their sizes, or sizes as formulas, and nothing else."""
    known = {(e.kind, e.name, e.line) for e in shown.entries if None not in e.sizes and not _is_vague(e)}
    return sum((each.kind, each.name, each.line) in known for each in real) / max(len(real), 1)


def _is_vague(entry: Entry) -> bool:
    return any(size in ("...", "?") for sizes in entry.sizes for size in sizes or ())
