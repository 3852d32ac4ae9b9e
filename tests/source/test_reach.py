"""Files that cannot hold a tensor are recognized without parsing."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.source.imports import Import, imports
from distml.source.project import Project
from distml.source.reach import reaches_tensor_library


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import os", [("os", 0, ())]),
        ("import os, torch.nn as nn", [("os", 0, ()), ("torch.nn", 0, ())]),
        ("    import torch\n", [("torch", 0, ())]),
        ("if x: import torch", [("torch", 0, ())]),
        ("import os; import torch; x = 1", [("os", 0, ()), ("torch", 0, ())]),
        ("from torch import nn as n, Tensor", [("torch", 0, ("nn", "Tensor"))]),
        ("from . import (a,  # one\n    b as c,\n)", [("", 1, ("a", "b"))]),
        ("from .. pkg.mod import *", [("pkg.mod", 2, ("*",))]),
        ("from .pkg import(a)", [("pkg", 1, ("a",))]),
        ("from a \\\n  import b", [("a", 0, ("b",))]),
        ("import a\\\n  .b", [("a", 0, ())]),
        ("x = importlib.import_module('torch.nn')", [("torch.nn", 0, ())]),
        ("__import__('numpy')", [("numpy", 0, ())]),
        ("important = 1\nfrom_x = 2", []),
        ("x = 'no i-m-p-o-r-t'", []),
        ("import a\r\nimport b\rimport c", [("a", 0, ()), ("b", 0, ()), ("c", 0, ())]),
    ],
)
def test_imports_by_pattern(text: str, found: list[tuple[str, int, tuple[str, ...]]]) -> None:
    assert imports(text) == [Import(*each) for each in found]


def test_patterns_do_not_take_long_on_hostile_text() -> None:
    for text in (
        "from a import (" * 100_000,
        "import " * 100_000,
        "from " * 100_000,
        "; \t" * 200_000,
        " " * 500_000 + "import",
    ):
        imports(text)


def reaches(name: str) -> bool:
    project = Project()
    return reaches_tensor_library(project.open(name), project)


def test_directly_and_through_the_project(folder: Path) -> None:
    (folder / "pkg").mkdir()
    (folder / "pkg/__init__.py").touch()
    (folder / "pkg/net.py").write_text("import numpy as np")
    (folder / "direct.py").write_text("import torch")
    (folder / "through.py").write_text("from pkg import net")
    (folder / "twice.py").write_text("import through")
    (folder / "none.py").write_text("import os, pkg")
    assert [reaches(f"{name}.py") for name in ("direct", "through", "twice", "none")] == [True, True, True, False]


def test_cycles(folder: Path) -> None:
    for number in range(5):
        (folder / f"m{number}.py").write_text(f"import m{(number + 1) % 5}, self_{number}")
    project = Project()
    assert not any(reaches_tensor_library(project.open(f"m{number}.py"), project) for number in range(5))
    (folder / "m3.py").write_text("import m4, torch")
    project = Project()
    assert all(reaches_tensor_library(project.open(f"m{number}.py"), project) for number in range(5))


def test_what_a_packages_own_file_imports_counts(folder: Path) -> None:
    (folder / "pkg").mkdir()
    (folder / "pkg/__init__.py").write_text("import torch")
    (folder / "pkg/names.py").touch()
    (folder / "main.py").write_text("import pkg.names")
    assert reaches("main.py")
