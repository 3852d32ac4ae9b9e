"""The short programs of `source/models` against the libraries they stand for.

Each program is run for real, with the library, and checked: what `reveal_shape` saw must be the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.interp.check import check_file
from distml.source.project import MODELLED, MODELS, Project

from interp.differential import compare_runs
from interp.programs import errors_of

PROGRAMS = {
    "addict": """
from addict import Dict

d = Dict({"model": {"width": 3}}, depth=4)
reveal_shape(d.model.width + d.depth)
d.head.classes = 5
reveal_shape(d.head.classes)
reveal_shape(d["head"]["classes"])
d["rows"] = 6
reveal_shape(d.rows)
reveal_shape("rows" in d)
reveal_shape(d.to_dict()["model"]["width"])
""",
    "easydict": """
from easydict import EasyDict as edict

e = edict({"model": {"width": 3, "sizes": [1, 2]}}, depth=4)
reveal_shape(e.model.width + e.depth)
reveal_shape(e.model.sizes)  # vague
e.head = {"classes": 5}
reveal_shape(e.head.classes)
reveal_shape(e["head"]["classes"])
e.model.width = 7
reveal_shape(e["model"].width)
e["rows"] = 6
reveal_shape(e.rows)
reveal_shape(e.get("none", 8))
reveal_shape(sorted(e.keys()))
""",
    "ml_collections": """
import ml_collections
from ml_collections import config_dict


def get_config():
    config = ml_collections.ConfigDict()
    config.width = 32
    config.model = ml_collections.ConfigDict(dict(classes=5, name="a"))
    config.optimizer = config_dict.ConfigDict({"rate": 2})
    config.model.depth = 3
    return config


c = get_config()
reveal_shape(c.width + c.model.classes + c.model["depth"] + c.optimizer.rate)
c.update({"model": {"classes": 6}})
reveal_shape(c.model.classes)
reveal_shape(c.model.depth)
with c.unlocked():
    c.rows = 2
reveal_shape(c.rows)
reveal_shape("rows" in c)
reveal_shape(c.get("none", 4))
reveal_shape(c.to_dict()["model"]["classes"])
c["width"] = 9
reveal_shape(c.width)
frozen = ml_collections.FrozenConfigDict({"width": 3})
reveal_shape(frozen.width)
late = ml_collections.ConfigDict({"width": ml_collections.FieldReference(3)})
reveal_shape(late.width)  # vague
""",
    "munch": """
from munch import Munch, munchify, unmunchify

m = Munch(width=3)
m.depth = 4
reveal_shape(m.width + m.depth)
reveal_shape(m["depth"])
n = munchify({"model": {"width": 5}, "sizes": [1, 2]})
reveal_shape(n.model.width)
reveal_shape(unmunchify(n)["model"]["width"])
n.model.width = 6
reveal_shape(n["model"]["width"])
""",
    "omegaconf": """
from omegaconf import DictConfig, OmegaConf

base = OmegaConf.create({"model": {"width": 10, "depth": 2}, "rate": 0.5})
reveal_shape(base.model.width)
cfg = OmegaConf.merge(base, {"model": {"width": 30}}, OmegaConf.create({"rows": 4}))
reveal_shape(cfg.model.width)
reveal_shape(cfg.model.depth)
reveal_shape(cfg["rows"])
reveal_shape(base.model.width)
reveal_shape(OmegaConf.to_container(cfg, resolve=True)["model"]["width"])
cfg.model.classes = 5
reveal_shape(cfg["model"].classes)
tied = OmegaConf.create({"width": 3, "hidden": "${width}"})
reveal_shape(tied.hidden)  # vague
reveal_shape(OmegaConf.merge(cfg, {"rows": 5}).rows)
reveal_shape("rows" in cfg)
""",
}


def test_every_model_is_compared() -> None:
    assert set(PROGRAMS) == MODELLED == {path.stem for path in Path(MODELS).glob("[!_]*.py")}


@pytest.mark.parametrize("library", [pytest.param(name, marks=pytest.mark.requires(name)) for name in sorted(PROGRAMS)])
def test_a_model_does_what_the_library_does(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared, problems = compare_runs(PROGRAMS[library], tmp_path, monkeypatch)
    assert not problems, "\n".join(problems)
    assert compared.exact()[1], "nothing is revealed"


def test_settings_that_meet_a_shape() -> None:
    program = (
        "import torch\nfrom omegaconf import OmegaConf\n"
        'cfg = OmegaConf.merge({"width": 10}, {"width": 30})\n'
        "torch.nn.Linear(cfg.width, 2)(torch.zeros(4, SIZE))\n"
    )
    assert [each.code for each in errors_of(program.replace("SIZE", "10"))] == ["SHP401"]
    assert errors_of(program.replace("SIZE", "30")) == []


@pytest.mark.parametrize(
    "change", ["def later(other):\n    cfg.width = other\n", "def later(name):\n    cfg[name] = 4\n"]
)
def test_settings_that_other_code_changes_are_unknown(change: str) -> None:
    program = (
        "import torch\nfrom munch import Munch\ncfg = Munch(width=3)\n{}\n"
        "def run():\n    return torch.zeros(2, cfg.width) @ torch.zeros(4, 2)\n"
    )
    assert [each.code for each in errors_of(program.format(""))] == ["SHP101"]
    assert errors_of(program.format(change)) == []


def test_a_module_of_the_project_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("munch.py").write_text("class Munch:\n    width = 7\n", "utf-8")
    Path("program.py").write_text("from munch import Munch\nreveal_shape(Munch().width)\n", "utf-8")
    project = Project()
    found = check_file(project.open("program.py"), project, None)
    assert [each.text for each in found.revealed] == ["7"]
