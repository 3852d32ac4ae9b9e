"""One source file: its text, its syntax tree when somebody asks for it, and places in it.

Parsing is Python's own `ast.parse`; the file is never imported or run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from sys import version_info

from distml.diagnostics.model import Span
from distml.source.annotations_comments import attach_comments
from distml.source.hashing import content_hash
from distml.source.imports import Import, imports, public_names
from distml.source.notebook import Notebook, is_notebook
from distml.source.parsing import NestedError, parse
from distml.source.reading import UnreadableError, decode, split_lines, unreadable


class SourceFile:
    """A file as it was read; the `text` of a `notebook` is the program of its cells.

    `path` is how the file is shown in messages; `location` is its real absolute path and its identity. `module` is its
    dotted name as its project imports it. A namespace package is a file without text whose location is the folder.
    `installed` says that it belongs to a package of the environment, which is followed and not judged.
    """

    def __init__(
        self,
        path: str,
        location: str,
        data: bytes,
        *,
        module: str,
        is_package: bool,
        limit: int | None = None,
        installed: bool = False,
    ) -> None:
        """Raises `UnreadableError`: SRC102 where the bytes are not text, SRC108 where they should be a notebook and are not,
        SRC103 where the code of a notebook has more characters than `limit`."""
        self.path = path
        self.location = location
        self.module = module
        self.is_package = is_package
        self.installed = installed
        self.digest = content_hash(data)
        self.notebook = Notebook(decode(data, path), path, limit) if is_notebook(path) else None
        self.text = decode(data, path) if self.notebook is None else self.notebook.program

    def __repr__(self) -> str:
        return f"SourceFile({self.path!r})"

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends; `lines[0]` is line 1."""
        return split_lines(self.text)

    @property
    def shown_lines(self) -> list[str]:
        """The lines as their author wrote them: of a notebook, those of its cells, with an empty one above each cell."""
        return self.lines if self.notebook is None else self.notebook.lines

    @cached_property
    def imports(self) -> list[Import]:
        """What its text imports, in order."""
        return imports(self.text)

    @cached_property
    def has_stars(self) -> bool:
        """Whether its text may import all names of a module."""
        return any("*" in each.names for each in self.imports)

    @cached_property
    def public_names(self) -> frozenset[str] | None:
        """The names that `import *` of it gives, where its `__all__` lists them plainly; None elsewhere."""
        return public_names(self.text)

    def may_give(self, name: str) -> bool:
        """Whether `import *` of it may give `name`."""
        if self.public_names is not None:
            return name in self.public_names
        return not name.startswith("_") or "__all__" in self.text

    def may_bind(self, name: str) -> bool:
        """Whether `name` may stand for something here: what neither its text nor an `import *` gives need not be parsed for."""
        return name in self.text or self.has_stars or not self.text.isascii()

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree. Raises `UnreadableError`: SRC101 for a syntax error, SRC104 where it is nested too deeply;
        `MemoryError` where memory runs out.
        """
        broken = self.notebook and self.notebook.broken
        try:
            tree = parse(broken[1] if broken else self.text)
        except SyntaxError as error:
            raise self._syntax_error(error, broken[0] if broken else 0) from None
        except NestedError:
            raise unreadable("SRC104", self.path, "nested too deeply for Python's parser") from None
        except ValueError as error:
            raise unreadable("SRC102", self.path, f"not text: {error}") from None
        if "# distml: " in self.text:
            attach_comments(tree, self.lines)
        return tree

    @contextmanager
    def lent_tree(self) -> Iterator[ast.Module]:
        """The syntax tree for a short look: it is kept afterwards only where somebody had it before. Raises as `tree` does."""
        kept = "tree" in self.__dict__
        try:
            yield self.tree
        finally:
            if not kept:
                self.forget_tree()

    def forget_tree(self) -> None:
        """Let go of the syntax tree; it is parsed anew if it is asked for again."""
        self.__dict__.pop("tree", None)

    def span(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias | ast.excepthandler) -> Span:
        """Where a node stands, with columns in characters (`ast` counts bytes)."""
        end_line = node.end_lineno or node.lineno
        end = node.col_offset if node.end_col_offset is None else node.end_col_offset
        return Span(
            self.path, node.lineno, self._column(node.lineno, node.col_offset), end_line, self._column(end_line, end)
        )

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node as it is written."""
        place = self.span(node)
        lines = self.lines[place.line - 1 : place.end_line]
        lines[-1] = lines[-1][: place.end_column - 1]
        lines[0] = lines[0][place.column - 1 :]
        return "\n".join(lines)

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if not text.isascii():
            offset = len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore"))
        return offset + 1

    def _syntax_error(self, error: SyntaxError, above: int) -> UnreadableError:
        message, line = error.msg, above + (error.lineno or 1)
        if "too many" in message and ("nested" in message or "indentation" in message):
            return unreadable("SRC104", self.path, message, line, error.offset or 1)
        from distml.source.newer import needed

        here = f"Python {version_info.major}.{version_info.minor}"
        newer = needed(self.text)
        message += f" (read as {here})"
        if newer is not None:
            message = f"{newer.what} need Python 3.{newer.minor} or newer, and distml runs on {here}"
        return unreadable("SRC101", self.path, message, line, max(error.offset or 1, 1))
