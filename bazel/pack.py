"""Packs Python files, compiled, into one archive that Python imports from: `pack.py @FILE`.

The file names the archive and then the sources, one a line. The source roots `checker` and `transforms` become one. Times
in the archive are fixed, and modules are not compared with their sources again.
"""

from __future__ import annotations

import py_compile
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from zipfile import ZipFile, ZipInfo

ROOTS = ("checker", "transforms")


def pack(archive: str, sources: Iterable[str]) -> None:
    """Write the archive; folders have entries of their own, since packages without `__init__.py` are found by them."""
    modules = {inside(source): source for source in sources}
    folders = {f"{folder}/" for module in modules for folder in module.parents if folder.name}
    with ZipFile(archive, "w") as made, TemporaryDirectory() as scratch:
        for folder in sorted(folders):
            made.writestr(ZipInfo(folder), b"")
        for module, source in sorted(modules.items()):
            code = Path(scratch, "code")
            mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
            py_compile.compile(source, str(code), str(module), doraise=True, invalidation_mode=mode)
            made.writestr(ZipInfo(f"{module}c"), code.read_bytes())


def inside(source: str) -> PurePosixPath:
    """The path of a source below its root."""
    parts = PurePosixPath(source).parts
    at = max(index for index, part in enumerate(parts[:-1]) if part in ROOTS)
    return PurePosixPath(*parts[at + 1 :])


if __name__ == "__main__":
    given = Path(sys.argv[1].removeprefix("@")).read_text(encoding="utf-8").splitlines()
    pack(given[0], given[1:])
