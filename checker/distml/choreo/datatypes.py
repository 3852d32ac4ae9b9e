"""The data types of a choreography, by mypy: to it `At[T, R]` is `T`, so roles do not matter.

Mypy is optional: without it there are no findings. It runs in this process and only reads: the file, the stubs of the
standard library that it brings, and `distml.choreo`. Nothing else is there for it: no configuration, no plugin and no
module of the checked folder, which may be called `types.py`. What comes from other modules is unknown, and unknown is
never an error. What it learns of the standard library it remembers in distml's cache folder, or in `$MYPY_CACHE_DIR`.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from distml.choreo.bindings import HOMES
from distml.choreo.model import Module
from distml.choreo.read import last
from distml.diagnostics.model import Diagnostic, Span
from distml.source.file import SourceFile
from distml.source.folders import default_folder

if TYPE_CHECKING:
    from mypy.fscache import FileSystemCache
    from mypy.options import Options

_FOUND = re.compile(r":(\d+):(\d+):(\d+):(\d+): error: (.*?)(?:  \[([\w-]+)\])?$")
# Not about data: names that parties declare each for itself, interfaces whose bodies are `...`, classes used with roles.
_OTHER_MATTERS = ("no-redef", "empty-body", "type-arg", "valid-type", "import-not-found", "import-untyped")
_NAME = "__main__"  # nothing imports it, so that no module of the standard library is replaced


def installed() -> bool:
    """Whether there is a mypy to ask."""
    return find_spec("mypy") is not None


def check_types(source: SourceFile, module: Module) -> tuple[Diagnostic, ...]:
    """CHO501 for each error of mypy in the file; none where mypy is absent or cannot read the file."""
    if not installed():
        return ()
    from mypy.build import build
    from mypy.modulefinder import BuildSource

    language = os.path.dirname(os.path.abspath(__file__))
    sources = [
        BuildSource(source.path, _NAME, _without_roles(source, module)),
        BuildSource(os.path.join(os.path.dirname(language), "__init__.py"), "distml", "", followed=True),
        BuildSource(os.path.join(language, "__init__.py"), "distml.choreo", followed=True),
        BuildSource(os.path.join(language, "language.py"), "distml.choreo.language", followed=True),
    ]
    try:
        errors = build(sources, _options(_has_foreign_star(module.tree)), fscache=_files(language)).errors
    except Exception:  # what mypy cannot parse, or fails on, must not cost the other findings
        return ()
    return tuple(_diagnostics(source, errors))


def _without_roles(source: SourceFile, module: Module) -> str:
    """The text with the roles of generic choreographies blanked out: to mypy they would be types of their data."""
    generic = {
        name for name, each in module.classes.items() if any(last(base.value) == "Generic" for base in each.node.bases
        if isinstance(base, ast.Subscript))
    }  # fmt: skip
    lines = source.text.split("\n")
    uses = [
        *(node.func for node in ast.walk(module.tree) if isinstance(node, ast.Call)),
        *(base for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef) for base in node.bases),
    ]
    for use in uses:
        if isinstance(use, ast.Subscript) and last(use.value) in generic and use.lineno == use.end_lineno:
            span, head = source.span(use), source.span(use.value)
            line = lines[span.line - 1]
            blank = " " * (span.end_column - head.end_column)
            lines[span.line - 1] = line[: head.end_column - 1] + blank + line[span.end_column - 1 :]
    return "\n".join(lines)


def _files(language: str) -> FileSystemCache:
    """The files that there are for mypy: its own, and those of the language. Raises OSError for the rest."""
    import mypy
    from mypy.fscache import FileSystemCache

    seen = tuple(os.path.join(folder, "") for folder in (os.path.dirname(os.path.abspath(mypy.__file__)), language))

    class Files(FileSystemCache):
        def stat_or_none(self, path: str) -> os.stat_result | None:
            return super().stat_or_none(path) if os.path.join(path, "").startswith(seen) else None

        def listdir(self, path: str) -> list[str]:
            if not os.path.join(path, "").startswith(seen):
                raise FileNotFoundError(path)
            return super().listdir(path)

    return Files()


def _has_foreign_star(tree: ast.Module) -> bool:
    """Whether names come from a file that is not there for mypy."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module not in HOMES)
    return any(each.name == "*" for node in imports for each in node.names)


def _options(more_names: bool) -> Options:
    from mypy.options import Options

    options = Options()
    options.python_executable = None
    options.follow_imports = "skip"
    options.ignore_missing_imports = True
    options.disable_error_code = [*_OTHER_MATTERS, *(["name-defined"] if more_names else [])]
    options.process_error_codes(error_callback=lambda _: None)
    options.show_column_numbers = options.show_error_end = True
    options.cache_dir = _cache()
    options.sqlite_cache = False  # several workers write at once
    options.raise_exceptions = True
    return options


def _cache() -> str:
    """A folder of ours beneath mypy's own, where the environment names one, else beneath distml's."""
    own = os.environ.get("MYPY_CACHE_DIR")
    folder = os.path.join(own, "distml") if own else os.path.join(default_folder(), "mypy")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return os.devnull
    return folder


def _diagnostics(source: SourceFile, errors: list[str]) -> Iterator[Diagnostic]:
    """Mypy counts columns from 1, the end included."""
    for text in errors:
        found = _FOUND.search(text)
        if found is not None and text[: found.start()].endswith(os.path.basename(source.path)):
            line, column, end_line, end_column = map(int, found.groups()[:4])
            span = Span(source.path, line, column, end_line, end_column + 1)
            yield Diagnostic("CHO501", f"{found[5]} [{found[6]}]" if found[6] else found[5], span)
