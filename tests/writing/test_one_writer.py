"""One module writes what commands are asked to write. Who else opens, moves or makes files says why here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TREES = (ROOT / "checker" / "distml", ROOT / "transforms" / "distml")

ALLOWED = {
    "writing/files.py": "the writer",
    "engine/store.py": "folders of the cache, and what is too old in it",
    "choreo/datatypes.py": "the folder of mypy's cache, beside ours",
    "choreo/play.py": "programs that are about to be run, in a temporary folder",
    "cli/main.py": "the null device, where the output goes that nobody reads",
    "cli/worker.py": "outputs that the build system declared and named",
    "git/clone.py": "a repository of ours, in a temporary folder",
    "autofix/compute.py": "the files of a commit, in a temporary folder",
    "action/run.py": "the folder of a patch, among the runner's temporary ones",
    "action/toolkit.py": "the runner's own files, named by its variables",
    "server/pages.py": "the folder of the pages of rules, in the cache",
    "smoke/folder.py": "the copy of a script's folder, which runs",
    "smoke/notes.py": "a sign to processes that run, in a temporary folder",
    "smoke/run.py": "temporary folders of a run",
    "smoke/launch.py": "the plan of a run, in a temporary folder",
    "smoke/probe/runner.py": "notes of a process that runs, in a temporary folder",
    "smoke/probe/recorder.py": "notes of a process that runs, in a temporary folder",
    "smoke/probe/torch_hooks.py": "notes of a process that runs, in a temporary folder",
    "smoke/probe/tensorflow_hooks.py": "notes of a process that runs, in a temporary folder",
}

METHODS = "write_text write_bytes touch mkdir symlink_to hardlink_to unlink rmdir chmod lchmod".split()
FUNCTIONS = {
    "os": "replace rename renames link symlink unlink remove rmdir removedirs mkdir makedirs truncate ftruncate chmod chown "
    "fchmod fchown mknod mkfifo",
    "shutil": "copy copy2 copyfile copyfileobj copytree move rmtree chown unpack_archive make_archive",
    "tempfile": "mkstemp mkdtemp NamedTemporaryFile TemporaryFile",
    "": "copyfile copytree rmtree NamedTemporaryFile mkstemp",
}
MADE = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND", "O_TRUNC"}


def writes(tree: ast.AST) -> Iterator[int]:
    """Lines that can write a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in MADE:
            yield node.lineno
        if not isinstance(node, ast.Call):
            continue
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        room = owner.id if isinstance(owner, ast.Name) else ""
        if name in FUNCTIONS.get(room, "").split() or (owner is not None and name in METHODS):
            yield node.lineno
        if name == "open":
            is_method = owner is not None and room not in ("io", "codecs", "gzip")  # such as Path.open(mode)
            given = [*node.args[not is_method :][:1], *(each.value for each in node.keywords if each.arg == "mode")]
            yield from (node.lineno for mode in given if _makes(mode, unless_said=not is_method))


def _makes(mode: ast.expr, unless_said: bool) -> bool:
    """Whether a mode of `open` is one that writes; `unless_said` where it is not written out."""
    if not isinstance(mode, ast.Constant):
        return unless_said
    letters = set(str(mode.value))
    return letters <= set("rwaxbt+") and bool(letters & set("wax+"))


def found() -> dict[str, list[int]]:
    lines = {
        path.relative_to(tree).as_posix(): sorted(set(writes(ast.parse(path.read_text("utf-8")))))
        for tree in TREES
        for path in tree.rglob("*.py")
    }
    return {path: each for path, each in lines.items() if each}


def test_nobody_else_writes() -> None:
    unknown = {path: lines for path, lines in found().items() if path not in ALLOWED}
    assert unknown == {}, "write through distml.writing.files, or say why not in ALLOWED"


def test_nobody_is_excused_who_does_not_write() -> None:
    assert ALLOWED.keys() - found().keys() == set()


@pytest.mark.parametrize(
    "line",
    [
        "open(path, 'w')",
        "open(path, mode='ab')",
        "open(path, how)",
        "io.open(path, 'x')",
        "path.open('w')",
        "path.write_text(text)",
        "Path(name).write_bytes(data)",
        "os.replace(a, b)",
        "os.open(path, os.O_WRONLY | os.O_CREAT)",
        "shutil.copyfile(a, b)",
        "tempfile.mkstemp()",
        "path.mkdir()",
    ],
)
def test_what_writes_is_seen(line: str) -> None:
    assert list(writes(ast.parse(line)))


@pytest.mark.parametrize(
    "line", ["open(path)", "open(path, 'rb')", "path.open()", "project.open(path)", "text.replace('a', 'b')"]
)
def test_what_reads_is_not(line: str) -> None:
    assert not list(writes(ast.parse(line)))
