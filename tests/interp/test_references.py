"""References in configurations come to what OmegaConf resolves them to, or to nothing known."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from distml.interp.check import check_file
from distml.source.project import Project

START = """from omegaconf import II, OmegaConf
cfg = OmegaConf.create({
    "data": {"n": 3, "features": 7},
    "model": {
        "width": "${data.features}", "own": "${.hidden}", "hidden": 5,
        "deep": {"up": "${..hidden}", "far": "${...data.n}", "sizes": ["${data.n}", 4], "name": "run_${data.n}"},
    },
    "again": "${model.width}", "part": "${model}", "spaced": "${ data.n }", "item": "${model.deep.sizes[0]}",
    "called": "${oc.select:data.n}", "inner": "${data.${which}}", "which": "n", "gone": "${data.none}",
    "first": "${second}", "second": "${first}", "list": ["${data.n}", "${.0}"],
})
from dataclasses import dataclass, field
from typing import Any, List
@dataclass
class Part:
    width: int = 4
    sizes: List[int] = field(default_factory=lambda: [2, 6])
    deep: Any = None
    def area(self):
        return self.width * self.sizes[1]
@dataclass
class Whole:
    one: Part = field(default_factory=Part)
    two: Part = field(default_factory=lambda: Part(width=II("one.sizes[1]")))
    rows: int = II("one.width")
whole = OmegaConf.structured(Whole)
def build(width, **more):
    return width
"""
KNOWN = {
    "cfg.model.width": "7",
    "cfg['model']['width']": "7",
    "cfg.model.own": "5",
    "cfg.model.deep.up": "5",
    "cfg.model.deep.far": "3",
    "list(cfg.model.deep.sizes)": "[3, 4]",
    "cfg.again": "7",
    "cfg.part.hidden": "5",
    "cfg.part.width": "7",
    "cfg.spaced": "3",
    "cfg.item": "3",
    "cfg.model.get('width')": "7",
    "OmegaConf.select(cfg, 'model.width')": "7",
    "OmegaConf.to_container(cfg.model, resolve=True)['width']": "7",
    "OmegaConf.merge(cfg, OmegaConf.create({'data': {'features': 2}})).model.width": "2",
    "OmegaConf.merge(cfg, {'model': {'width': 9}}).again": "9",
    "build(**cfg.model)": "7",
    "{**cfg.model}['own']": "5",
    "[value for key, value in cfg.model.items() if key == 'width'][0]": "7",
    "whole.two.width": "6",
    "whole.rows": "4",
    "OmegaConf.to_object(whole).two.area()": "36",
    "OmegaConf.to_object(OmegaConf.structured(Part(width=5))).area()": "30",
    "OmegaConf.to_object(OmegaConf.merge(whole, {'one': {'width': 9}})).one.area()": "54",
    "OmegaConf.to_object(OmegaConf.merge(whole, OmegaConf.from_dotlist(['one.sizes=[1,8]']))).two.width": "8",
    "OmegaConf.merge(Whole, {'rows': 3}).rows": "3",
    "OmegaConf.to_container(whole, resolve=True)['two']['width']": "6",
    "OmegaConf.create({'part': Part()}).part.sizes[0]": "2",
    "OmegaConf.to_container(cfg.model)['width']": "'${data.features}'",
}
UNKNOWN = (
    "cfg.model.deep.name",
    "cfg.called",
    "cfg.inner",
    "cfg.gone",
    "cfg.first",
    "cfg.list",
)


def revealed(folder: Path, program: str) -> list[str]:
    (folder / "main.py").write_text(program, "utf-8")
    project = Project(str(folder))
    result = check_file(project.open("main.py"), project, None)
    assert not result.diagnostics
    return [each.text for each in result.revealed]


@pytest.mark.parametrize("asked", KNOWN)
def test_a_reference_is_what_it_refers_to(asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert revealed(tmp_path, f"{START}reveal_shape({asked})\n") == [KNOWN[asked]]
    module = ModuleType("references")  # where OmegaConf looks up the types of fields
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(START, module.__dict__)
    assert repr(eval(asked, module.__dict__)) == KNOWN[asked]


@pytest.mark.parametrize("asked", UNKNOWN)
def test_other_references_are_unknown(asked: str, tmp_path: Path) -> None:
    assert revealed(tmp_path, f"{START}reveal_shape({asked})\n") in (["unknown"], ["[3, unknown]"])


def test_a_reference_follows_what_is_set_later(tmp_path: Path) -> None:
    later = (
        f"{START}cfg.data.features = 11\nreveal_shape(cfg.model.width)\ncfg.model.width = 2\nreveal_shape(cfg.again)\n"
    )
    assert revealed(tmp_path, later) == ["11", "2"]
