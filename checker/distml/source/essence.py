"""What of a file can matter to the files that import it, as a digest: everything but comments, docstrings and layout.

Shapes are inferred through functions that carry no annotations, so a file means its bodies, not only its signatures. What
stands in comments counts where distml reads it: annotations, and suppressions with the code that they speak for. Places
do not count; who shows a place of a file depends on the file itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from distml.source.file import SourceFile
from distml.source.hashing import content_hash
from distml.source.imports import imports
from distml.source.reading import UnreadableError
from distml.source.suppressions import ignores_file, spoken_for

_WITH_BODY = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def essence(source: SourceFile) -> str:
    """The digest; that of the whole content where the file cannot be parsed."""
    try:
        parts = list(_parts(source))
    except (UnreadableError, RecursionError):
        parts = [source.digest]
    finally:
        source.forget_tree()  # it is no longer what was written
    return content_hash("\0".join(parts).encode("utf-8", "surrogatepass"))


def _parts(source: SourceFile) -> Iterator[str]:
    tree = source.tree
    for spoken, codes in spoken_for(source):
        yield f"{','.join(codes)}:{_nodes_on(tree, spoken)}"
    if "__doc__" not in source.text:
        _drop_docstrings(tree)
    yield from (repr(tuple(each)) for each in imports(source.text))  # found by pattern, in strings and comments too
    yield str(ignores_file(source))
    yield ast.dump(tree)


def _nodes_on(tree: ast.Module, lines: range) -> list[tuple[int, bool]]:
    """Which expressions and statements, counted in the order of `ast.walk`, have a part on these lines; and whether they end
    there, since a finding may point at the end of a chain of calls alone."""
    return [
        (index, (node.end_lineno or node.lineno) in lines)
        for index, node in enumerate(ast.walk(tree))
        if isinstance(node, ast.expr | ast.stmt)
        and node.lineno < lines.stop
        and lines.start <= (node.end_lineno or node.lineno)
    ]


def _drop_docstrings(tree: ast.Module) -> None:
    """Empty docstrings; they stay as statements, since a body of nothing else is still a body."""
    for node in ast.walk(tree):
        if isinstance(node, _WITH_BODY) and ast.get_docstring(node, clean=False) is not None:
            statement = node.body[0]
            if isinstance(statement, ast.Expr):
                statement.value = ast.Constant("")
