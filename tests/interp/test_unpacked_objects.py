"""`**x` takes from an object what Python takes from it: by its keys, or from the dict that it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.interp.check import check_file
from distml.source.project import Project

CLASSES = """
class Keyed:
    def __init__(self, held):
        self.held = held
    def keys(self):
        return list(self.held)
    def __getitem__(self, key):
        return self.held[key] + 1
class Items(dict):
    def __getitem__(self, key):
        return 99
class Iterated(dict):
    def __getitem__(self, key):
        return 98
    def __iter__(self):
        return iter(["a"])
class Named(dict):
    def __getitem__(self, key):
        return 97
    def keys(self):
        return ["a"]
class Both(dict):
    def __getitem__(self, key):
        return 96
    def __iter__(self):
        return super().__iter__()
def f(a=0, **more):
    return a
"""
ASKED = {
    "f(**Keyed({'a': 3}))": "4",
    "f(**Keyed({'b': 3}))": "0",
    "f(**Items(a=5))": "5",
    "f(**Iterated(a=5))": "98",
    "f(**Named(a=5))": "5",
    "f(**Both(a=5))": "96",
    "{**Iterated(a=5)}['a']": "98",
    "{**Items(a=5)}['a']": "5",
    "{**Keyed({'a': 3}), **{'a': 1}}['a']": "1",
}


@pytest.mark.parametrize("asked", ASKED)
def test_what_an_object_unpacks_to(asked: str, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(f"{CLASSES}reveal_shape({asked})\n")
    project = Project(str(tmp_path))
    (found,) = check_file(project.open("main.py"), project, None).revealed
    names: dict[str, object] = {}
    exec(CLASSES, names)
    assert found.text == ASKED[asked] == repr(eval(asked, names))
