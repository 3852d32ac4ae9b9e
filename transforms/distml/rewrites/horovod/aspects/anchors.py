"""Where the start-up of a file stands, what has been imported by then, and what runs before it.

It stands behind the imports of the file, not at its very top: Horovod binds to the framework that is imported before it,
and lines such as `os.environ[...] = ...` in front of that import must stay in front.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from distml.rewrites.horovod.plan import Plan
from distml.source.nodes import walk
from distml.training.remembered import remembered
from distml.training.syntax import closure, nodes_in
from distml.training.unit import Unit

_FETCHES = re.compile(r"(urlretrieve|wget\.download|gdown\.\w*download|nltk\.download|fetch_\w+|load_dataset)$")
_PRELUDE = frozenset({"os", "sys", "warnings", "matplotlib", "pathlib", "random"})


def import_of(module: str, unit: Unit) -> tuple[str, list[str]]:
    """The name of a module, and the import it takes unless the file has one by then."""
    anchor = anchor_of(unit, "torch")
    for statement in unit.tree.body[: unit.tree.body.index(anchor) + 1] if anchor is not None else []:
        for alias in statement.names if isinstance(statement, ast.Import) else ():
            if alias.asname is None and alias.name.partition(".")[0] == module:
                return module, []
            if alias.asname is not None and alias.name == module:
                return alias.asname, []
    return module, [f"import {module}"]


def tensorflow_in(unit: Unit, later: bool = False) -> str:
    """The name that a file has for TensorFlow where the start-up stands, or also `later`; nothing if it has none by then."""
    anchor = unit.tree.body[-1] if later else anchor_of(unit, "tensorflow")
    for statement in unit.tree.body[: unit.tree.body.index(anchor) + 1 if anchor else 0]:
        for node in [statement] if not isinstance(statement, ast.Try | ast.If) else walk(statement):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    whole = alias.name in ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2")
                    if whole and (alias.asname or alias.name == "tensorflow"):
                        return alias.asname or alias.name
                    if alias.name.startswith("tensorflow.") and not alias.asname:
                        return "tensorflow"
    return ""


@remembered
def anchor_of(unit: Unit, framework: str) -> ast.stmt | None:
    """The statement the start-up goes behind: the last import before the program begins, or the first of the framework."""
    last: ast.stmt | None = None
    begun = seen = fetched = False
    for statement in unit.tree.body:
        imports = [each for each in walk(statement) if isinstance(each, ast.Import | ast.ImportFrom)]
        works = isinstance(statement, ast.If) and not _prepares(statement, unit)
        top = isinstance(statement, ast.Import | ast.ImportFrom | ast.Try | ast.If) and imports and not works
        begun = begun or not (top or _prepares(statement, unit))
        ours = any(_imports(each, framework) for each in imports)
        fetched = fetched or (begun and last is not None and framework == "tensorflow" and _fetches(statement, unit))
        if top and (not begun or (ours and not seen and not fetched)):
            last = statement
            seen = seen or ours
    if last is None and unit.tree.body and ast.get_docstring(unit.tree, clean=False) is not None:
        return unit.tree.body[0]
    return last


def _fetches(statement: ast.stmt, unit: Unit) -> bool:
    """Whether a statement downloads, which processes are to do one after another, so that they must have been started."""
    return any(isinstance(each, ast.Call) and _FETCHES.search(path_of(each.func, unit)) for each in walk(statement))


def started(plan: Plan, node: ast.AST) -> bool:
    """Whether the start-up of a file has run where a node stands, also where a function around it is called."""
    program = plan.program
    unit = program.unit(node)
    torch = any(loop.start == "torch" for loop in plan.loops)
    anchor = anchor_of(unit, "torch" if torch else "tensorflow")
    if anchor is None:
        return True

    def leading(here: ast.AST) -> Iterator[ast.AST]:
        return (call for call in program.calling(program.function(here)) if program.unit(call) is unit)

    for here in (each for each in closure([node], leading) if program.function(each) is None):
        top = next((each for each in (here, *program.ancestors(here)) if program.parent(each) is unit.tree), anchor)
        if _place(top) <= _place(anchor):
            return False
    return True


def _place(node: ast.AST) -> tuple[int, int]:
    """Where a statement of a module begins."""
    return (node.lineno, node.col_offset) if isinstance(node, ast.stmt) else (0, 0)


def _prepares(statement: ast.stmt, unit: Unit) -> bool:
    """Whether a statement between imports only sets something: constants, the environment, warnings, paths."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.For | ast.While | ast.With):
        return False
    calls = list(nodes_in(statement, ast.Call))
    return all(path_of(call.func, unit).partition(".")[0] in _PRELUDE for call in calls)


def path_of(node: ast.expr, unit: Unit) -> str:
    """An expression as it is written, with the names of imports as those of what they import."""
    text = ast.unparse(node)
    first, dot, rest = text.partition(".")
    return imported(unit).get(first, first) + dot + rest


@remembered
def imported(unit: Unit) -> dict[str, str]:
    """What the imports at the top of a module bind, by name."""
    found: dict[str, str] = {}
    for node in unit.tree.body:
        if isinstance(node, ast.Import):
            found |= {
                each.asname or each.name.partition(".")[0]: each.name if each.asname else each.name.partition(".")[0]
                for each in node.names
            }
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return found


_ON_TORCH = frozenset({"torchvision", "torchtext", "torchaudio"})


def _imports(statement: ast.Import | ast.ImportFrom, framework: str) -> bool:
    """Whether a statement imports the framework, or what stands on it."""
    modules = [alias.name for alias in statement.names]
    if isinstance(statement, ast.ImportFrom):
        modules = [statement.module or ""] if not statement.level else []
    tops = {each.partition(".")[0] for each in modules}
    return (
        framework in tops
        or (framework == "torch" and bool(tops & _ON_TORCH))
        or (framework == "tensorflow" and any(each == "keras" or each.startswith("tensorflow_") for each in tops))
    )
