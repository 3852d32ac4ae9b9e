"""Imports are resolved the way Python does, within the project only."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.source.project import Project


def make(folder: Path, *files: str) -> None:
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", "utf-8")


def resolved(project: Project, importer: str, module: str, level: int = 0) -> str | None:
    found = project.resolve(project.open(importer), module, level)
    return found and found.path


def test_flat_layout(folder: Path) -> None:
    make(folder, "pkg/__init__.py", "pkg/net.py", "pkg/sub/__init__.py", "pkg/sub/deep.py", "train.py")
    project = Project()
    assert resolved(project, "train.py", "pkg") == "pkg/__init__.py"
    assert resolved(project, "train.py", "pkg.net") == "pkg/net.py"
    assert resolved(project, "pkg/sub/deep.py", "pkg.net") == "pkg/net.py"
    assert resolved(project, "pkg/sub/deep.py", "train") == "train.py"
    assert resolved(project, "train.py", "pkg.absent") is None


def test_src_layout_and_tests_beside_it(folder: Path) -> None:
    make(folder, "src/pkg/__init__.py", "src/pkg/net.py", "tests/test_net.py", "tests/shared.py")
    project = Project()
    assert resolved(project, "tests/test_net.py", "pkg.net") == "src/pkg/net.py"
    assert resolved(project, "tests/test_net.py", "shared") == "tests/shared.py"
    assert project.open("src/pkg/net.py").module == "pkg.net"


def test_folders_that_nothing_marks(folder: Path) -> None:
    (folder / "pyproject.toml").unlink()
    make(
        folder,
        "one/pkg/net.py",
        "one/jobs/train.py",
        "one/src/lib.py",
        "two/jobs/train.py",
        "two/setup.py",
        "pkg/net.py",
    )
    assert resolved(Project(), "one/jobs/train.py", "pkg.net") is None
    project = Project(unmarked=["one", "."])
    assert resolved(project, "one/jobs/train.py", "pkg.net") == "one/pkg/net.py"
    assert resolved(project, "one/jobs/train.py", "lib") == "one/src/lib.py"
    assert resolved(project, "one/jobs/train.py", "jobs.train") == "one/jobs/train.py"
    assert resolved(project, "two/jobs/train.py", "pkg.net") is None, "setup.py marks a project"
    assert resolved(Project(unmarked=["."]), "one/jobs/train.py", "pkg.net") == "pkg/net.py"


def test_configured_roots(folder: Path) -> None:
    make(folder, "lib/net.py", "train.py")
    assert resolved(Project(), "train.py", "net") is None
    assert resolved(Project(sources=["lib"]), "train.py", "net") == "lib/net.py"


def test_relative_imports(folder: Path) -> None:
    make(folder, "pkg/__init__.py", "pkg/a.py", "pkg/sub/__init__.py", "pkg/sub/b.py")
    project = Project()
    assert resolved(project, "pkg/a.py", "", 1) == "pkg/__init__.py"
    assert resolved(project, "pkg/a.py", "sub.b", 1) == "pkg/sub/b.py"
    assert resolved(project, "pkg/sub/b.py", "a", 2) == "pkg/a.py"
    assert resolved(project, "pkg/__init__.py", "a", 1) == "pkg/a.py"
    assert resolved(project, "pkg/sub/b.py", "a", 9) is None


def test_submodules(folder: Path) -> None:
    make(folder, "pkg/__init__.py", "pkg/a.py", "space/c.py")
    project = Project()
    package = project.open("pkg/__init__.py")
    assert package.is_package
    found = project.submodule(package, "a")
    assert found is not None
    assert found.module == "pkg.a"
    assert project.submodule(found, "a") is None
    assert project.submodule(package, "b") is None


def test_namespace_packages(folder: Path) -> None:
    make(folder, "space/part/net.py", "train.py", "data/image.png", "torch/image.py")
    project = Project()
    space = project.resolve(project.open("train.py"), "space")
    assert space is None or space.is_package
    assert resolved(project, "train.py", "space.part.net") == "space/part/net.py"
    part = project.resolve(project.open("train.py"), "space.part")
    assert part is not None
    assert part.is_package
    assert part.text == ""
    assert project.submodule(part, "net") is project.open("space/part/net.py")
    assert resolved(project, "train.py", "data") is None, "a folder of data hides no installed package"
    assert resolved(project, "train.py", "torch") is None, "a folder named like a library is not the library"


def test_the_standard_library_comes_first(folder: Path) -> None:
    make(
        folder,
        "pkg/__init__.py",
        "pkg/random.py",
        "pkg/a.py",
        "json.py",
        "scripts/run.py",
        "scripts/random.py",
        "sys.py",
    )
    project = Project()
    assert resolved(project, "pkg/a.py", "random") is None
    assert resolved(project, "pkg/a.py", "json") is None
    assert resolved(project, "scripts/run.py", "json") is None
    assert resolved(project, "scripts/run.py", "random") == "scripts/random.py"
    assert resolved(project, "scripts/run.py", "sys") is None


def test_installed_packages_are_strangers(folder: Path) -> None:
    make(folder, ".venv/lib/python3.11/site-packages/torch/__init__.py", "train.py", "site-packages/other/__init__.py")
    assert resolved(Project(), "train.py", "torch") is None
    assert resolved(Project(), "train.py", "other") is None


def test_installed_code_follows_its_own_package_only(folder: Path) -> None:
    inside = "env/lib/python3.11/site-packages"
    make(
        folder,
        f"{inside}/torch/__init__.py",
        f"{inside}/torch/nn/__init__.py",
        f"{inside}/torch/nn/a.py",
        f"{inside}/numpy.py",
    )
    make(folder, f"{inside}/single.py")
    project = Project()
    importer = f"{inside}/torch/nn/a.py"
    assert resolved(project, importer, "torch") == f"{inside}/torch/__init__.py"
    assert resolved(project, importer, "numpy") is None
    assert resolved(project, importer, "", 1) == f"{inside}/torch/nn/__init__.py"
    assert project.open(importer).module == "torch.nn.a"
    assert resolved(project, f"{inside}/single.py", "torch") is None


def test_symlink_cycles_end(folder: Path) -> None:
    make(folder, "pkg/__init__.py", "pkg/a.py")
    (folder / "pkg/loop").symlink_to(".")
    project = Project()
    assert project.resolve(project.open("pkg/a.py"), "loop.loop.loop.a", 1) is project.open("pkg/a.py")


def test_a_file_that_is_no_text_is_unknown_to_others(folder: Path) -> None:
    make(folder, "train.py")
    (folder / "bad.py").write_bytes(b"\xff")
    assert resolved(Project(), "train.py", "bad") is None


def test_an_overlay_replaces_what_is_on_disk(folder: Path) -> None:
    make(folder, "net.py")
    project = Project(overlay={str(folder / "net.py"): b"x = 1", str(folder / "new.py"): b"y = 2"})
    assert project.open("net.py").text == "x = 1"
    assert project.open("new.py").text == "y = 2"
    assert resolved(project, "net.py", "new") == "new.py"


def test_what_was_consulted_includes_what_was_absent(folder: Path) -> None:
    make(folder, "a.py", "b.py", "c.py")
    project = Project()
    a, b = project.open("a.py"), project.open("b.py")
    assert project.resolve(a, "b") is b
    assert project.resolve(b, "missing") is None
    paths = [*project.consulted(a), *(path for probed in project.consulted(a).values() for path in probed)]
    inside = {str(Path(path).relative_to(folder)) for path in paths if Path(path).is_relative_to(folder)}
    assert {"b.py", "b/__init__.py", "missing.py", "missing/__init__.py", "missing"} <= inside
    assert "c.py" not in inside


def test_what_was_consulted_is_kept_when_answers_are_remembered(folder: Path) -> None:
    make(folder, "a.py", "b.py", "c.py")
    project = Project()
    for name in ("a.py", "b.py"):
        project.resolve(project.open(name), "c")
    assert str(folder / "c.py") in project.consulted(project.open("a.py"))
    assert str(folder / "c.py") in project.consulted(project.open("b.py"))


@pytest.mark.parametrize("module", ["", "..", "a..b", "a b", "a/b", "../x"])
def test_odd_names_are_unknown(folder: Path, module: str) -> None:
    make(folder, "a.py", "x.py")
    assert resolved(Project(), "a.py", module) is None
