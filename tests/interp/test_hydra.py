"""Configurations that hydra composes, as hydra-core 1.3.8 was seen to compose them."""

from __future__ import annotations

from pathlib import Path

import pytest

from distml.interp.check import check_file
from distml.source.project import Project

FILES = {
    "conf/config.yaml": "defaults:\n  - g: one\na: 1\ng:\n  w: 100\n",
    "conf/first.yaml": "defaults:\n  - _self_\n  - g: one\n  - other\n  - override hydra/job_logging: disabled\n"
    "g: {w: 100}\nz: 1\n",
    "conf/g/one.yaml": "w: 5\nv: 6\n",
    "conf/other.yaml": "z: 2\ny: 3\n",
    "conf/none.yaml": "defaults:\n  - g: null\na: 1\n",
    "conf/packed.yaml": "defaults:\n  - g: away\na: 1\n",
    "conf/g/away.yaml": "# @package _global_\na: 2\n",
    "conf/at.yaml": "defaults:\n  - g@h: one\na: 1\n",
    "conf/referred.yaml": "a: ${b}\nb: 3\nc: ???\nd: 4\n",
    "conf/chosen.yaml": "defaults:\n  - g: ${which}\nwhich: one\n",
}
COMPOSE = """from hydra import compose, initialize
with initialize(version_base=None, config_path="conf"):
    cfg = compose({call})
reveal_shape(cfg.{key})
"""


def revealed(folder: Path, program: str) -> list[str]:
    for path, text in {**FILES, "main.py": program}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    project = Project(str(folder))
    return [each.text for each in check_file(project.open("main.py"), project, None).revealed]


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("config", "g.w", "100"),
        ("config", "g.v", "6"),
        ("config", "a", "1"),
        ("first", "g.w", "5"),
        ("first.yaml", "z", "2"),
        ("first", "y", "3"),
        ("none", "a", "1"),
        ("referred", "d", "4"),
        ("referred", "a", "3"),
        ("referred", "c", "unknown"),
        ("packed", "a", "unknown"),
        ("at", "a", "unknown"),
        ("chosen", "which", "unknown"),
        ("absent", "a", "unknown"),
    ],
)
def test_what_is_composed(name: str, key: str, value: str, tmp_path: Path) -> None:
    (found,) = revealed(tmp_path, COMPOSE.format(call=f'config_name="{name}"', key=key))
    assert set(found.split(" | ")) == {value}


def test_overrides_are_unknown(tmp_path: Path) -> None:
    call = 'config_name="first", overrides=["z=7"]'
    assert revealed(tmp_path, COMPOSE.format(call=call, key="z")) == ["unknown"]


def test_a_program_elsewhere_has_its_own_files(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/main.py").write_text(
        "import hydra\n@hydra.main(config_path='../conf', config_name='other')\n"
        "def main(cfg):\n    reveal_shape(cfg.z)\nmain()\n"
    )
    revealed(tmp_path, "")
    project = Project(str(tmp_path))
    found = check_file(project.open("inner/main.py"), project, None)
    assert [each.text for each in found.revealed] == ["2"]


@pytest.mark.parametrize(
    ("config", "value"),
    [
        ("{'_target_': 'math.prod', '_args_': [[2, 3]]}", "6"),
        ("{'_target_': '__main__.Size', 'a': 2, 'inner': {'_target_': '__main__.Size', 'a': 5}}", "7"),
        ("{'_target_': 'other.absent'}", "unknown"),
        ("{'a': 2}", "unknown"),
        ("{'_target_': '__main__.Size', 'a': 2, '_convert_': 'all'}", "unknown"),
    ],
)
def test_what_is_instantiated(config: str, value: str, tmp_path: Path) -> None:
    program = "from hydra.utils import instantiate\ndef Size(a, inner=0):\n    return a + inner\n"
    assert revealed(tmp_path, f"{program}reveal_shape(instantiate({config}))\n") == [value]
