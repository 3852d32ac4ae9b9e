"""Declared files answer as a disk that holds just them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.source.files import Declared, Disk
from distml.source.project import Project
from distml.source.reading import UnreadableError

NAMES = st.sampled_from(["a", "b", "a.py", "b.py", "__init__.py", "data.txt"])
PATHS = st.builds(lambda folders, name: "/".join([*folders, name]), st.lists(st.sampled_from("ab"), max_size=2), NAMES)


@settings(max_examples=60)
@given(files=st.sets(PATHS, max_size=5), asked=PATHS)
def test_as_a_disk(tmp_path_factory: pytest.TempPathFactory, files: set[str], asked: str) -> None:
    files = {path for path in files if not any(other.startswith(path + "/") for other in files)}
    folder = tmp_path_factory.mktemp("disk")
    for path in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(b"x")
    disk, declared = Disk({}), Declared({str(folder / path): b"x" for path in files})
    path = str(folder / asked)
    assert declared.exists(path) == disk.exists(path)
    assert declared.is_file(path) == disk.is_file(path)
    assert declared.is_folder(path) == disk.is_folder(path)
    assert declared.holds_modules(path) == disk.holds_modules(path)


def test_nothing_beside_them(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("x = 1\n")
    (tmp_path / "app.py").write_text("import net\n")
    os.symlink(tmp_path / "net.py", tmp_path / "link.py")
    declared = Declared({str(tmp_path / "app.py"): b"import net\nimport link\n"})
    project = Project(str(tmp_path), files=declared)
    app = project.open("app.py")
    assert project.resolve(app, "net") is None
    assert project.resolve(app, "link") is None
    with pytest.raises(UnreadableError, match="not among the declared files"):
        project.open("net.py")


def test_the_limit_on_size() -> None:
    project = Project("/declared", max_file_size=3, files=Declared({"/declared/a.py": b"x = 1\n"}))
    with pytest.raises(UnreadableError, match="6 bytes"):
        project.open("a.py")


def test_packages_and_namespaces() -> None:
    contents = {f"/declared/{name}": b"" for name in ("app.py", "pkg/__init__.py", "pkg/net.py", "space/inner/deep.py")}
    project = Project("/declared", files=Declared(contents))
    app = project.open("app.py")
    for module in ("pkg", "pkg.net", "space.inner", "space.inner.deep"):
        assert project.resolve(app, module) is not None, module
    assert project.resolve(app, "space") is None  # as on disk: it holds neither a module nor a package
