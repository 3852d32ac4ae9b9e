"""References in configurations come to what OmegaConf resolves them to, or to nothing known."""

from __future__ import annotations

from pathlib import Path

import omegaconf
import pytest

from distml.interp.check import check_file
from distml.source.project import Project

START = """from omegaconf import OmegaConf
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
    "cfg.model.get('width')": "7",
    "OmegaConf.select(cfg, 'model.width')": "7",
    "OmegaConf.to_container(cfg.model, resolve=True)['width']": "7",
    "OmegaConf.merge(cfg, OmegaConf.create({'data': {'features': 2}})).model.width": "2",
    "OmegaConf.merge(cfg, {'model': {'width': 9}}).again": "9",
    "build(**cfg.model)": "7",
    "{**cfg.model}['own']": "5",
    "[value for key, value in cfg.model.items() if key == 'width'][0]": "7",
    "OmegaConf.to_container(cfg.model)['width']": "'${data.features}'",
}
UNKNOWN = (
    "cfg.model.deep.name",
    "cfg.item",
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
def test_a_reference_is_what_it_refers_to(asked: str, tmp_path: Path) -> None:
    assert revealed(tmp_path, f"{START}reveal_shape({asked})\n") == [KNOWN[asked]]
    names = {"OmegaConf": omegaconf.OmegaConf}
    exec(START, names)
    assert repr(eval(asked, names)) == KNOWN[asked]


@pytest.mark.parametrize("asked", UNKNOWN)
def test_other_references_are_unknown(asked: str, tmp_path: Path) -> None:
    assert revealed(tmp_path, f"{START}reveal_shape({asked})\n") in (["unknown"], ["[3, unknown]"])


def test_a_reference_follows_what_is_set_later(tmp_path: Path) -> None:
    later = (
        f"{START}cfg.data.features = 11\nreveal_shape(cfg.model.width)\ncfg.model.width = 2\nreveal_shape(cfg.again)\n"
    )
    assert revealed(tmp_path, later) == ["11", "2"]
