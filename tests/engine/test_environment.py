"""Where installed packages are found, without running any Python."""

import base64
import hashlib
from pathlib import Path

import pytest

from distml.engine.config import Config, ConfigError
from distml.engine.environment import environment


def site(prefix: Path, version: str = "3.11") -> Path:
    folder = prefix / "lib" / f"python{version}" / "site-packages"
    folder.mkdir(parents=True)
    return folder.resolve()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / "inner").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[tool.poetry]\nname = 'x'\n")
    monkeypatch.chdir(folder / "inner")
    return folder


def found(variables: dict[str, str], python: str = "") -> list[str]:
    return list(environment(Config(python=python), variables).folders)


def test_nothing_is_found_where_there_is_no_environment(project: Path) -> None:
    assert found({}) == []


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX", "pythonLocation"])
def test_variables_name_an_environment(project: Path, tmp_path: Path, variable: str) -> None:
    folder = site(tmp_path / "env")
    assert found({variable: str(tmp_path / "env")}) == [str(folder)]


@pytest.mark.parametrize("name", [".venv", "venv"])
def test_the_projects_own_environment_is_found_from_below(project: Path, tmp_path: Path, name: str) -> None:
    folder = site(project / name)
    assert found({"CONDA_PREFIX": str(tmp_path)}) == [str(folder)]


def test_an_environment_above_the_project_is_not_taken(project: Path, tmp_path: Path) -> None:
    site(tmp_path / ".venv")
    assert found({}) == []


def test_the_environment_of_a_hook_is_not_the_projects(project: Path, tmp_path: Path) -> None:
    site(tmp_path / "hook")
    folder = site(project / ".venv")
    assert found({"VIRTUAL_ENV": str(tmp_path / "hook"), "PRE_COMMIT": "1"}) == [str(folder)]


def test_pdm_and_poetry_keep_environments_elsewhere(project: Path, tmp_path: Path) -> None:
    digest = base64.urlsafe_b64encode(hashlib.sha256(str(project.resolve()).encode()).digest()).decode()[:8]
    of_poetry = site(tmp_path / "cache" / "virtualenvs" / f"x-{digest}-py3.11")
    assert found({"POETRY_CACHE_DIR": str(tmp_path / "cache")}) == [str(of_poetry)]
    of_pdm = site(tmp_path / "pdm")
    (project / ".pdm-python").write_text(str(tmp_path / "pdm" / "bin" / "python"))
    assert found({"POETRY_CACHE_DIR": str(tmp_path / "cache")}) == [str(of_pdm)]


def test_the_setting_comes_first(project: Path, tmp_path: Path) -> None:
    folder = site(tmp_path / "chosen")
    site(project / ".venv")
    (tmp_path / "chosen" / "bin").mkdir()
    (tmp_path / "chosen" / "bin" / "python").touch()
    assert found({}, str(tmp_path / "chosen")) == [str(folder)]
    assert found({}, str(tmp_path / "chosen" / "bin" / "python")) == [str(folder)]
    assert found({}, "none") == []


@pytest.mark.parametrize("wrong", ["missing", "empty", "a\nb"])
def test_a_setting_without_packages_is_refused_on_one_line(project: Path, tmp_path: Path, wrong: str) -> None:
    (project / "empty").mkdir()
    with pytest.raises(ConfigError) as caught:
        found({}, wrong)
    assert "no installed packages" in str(caught.value)


def test_the_newest_python_and_the_one_below_are_taken(project: Path, tmp_path: Path) -> None:
    below = site(tmp_path / "base", "3.12")
    site(tmp_path / "env", "3.9")
    folder = site(tmp_path / "env", "3.12")
    (tmp_path / "env" / "pyvenv.cfg").write_text(
        f"home = {tmp_path / 'base' / 'bin'}\ninclude-system-site-packages = true\n"
    )
    assert found({"VIRTUAL_ENV": str(tmp_path / "env")}) == [str(folder), str(below)]


def test_path_files_add_folders_and_their_code_is_not_run(project: Path, tmp_path: Path) -> None:
    folder = site(tmp_path / "env")
    more = tmp_path / "more"
    more.mkdir()
    package = tmp_path / "src" / "pkg"
    package.mkdir(parents=True)
    mark = tmp_path / "ran"
    (folder / "a.pth").write_text(f"# comment\n{more}\nimport os; open({str(mark)!r}, 'w')\nmissing\n\0\n")
    (folder / "__editable___pkg_finder.py").write_text(
        f"open({str(mark)!r}, 'w')\nMAPPING: dict[str, str] = {{'pkg': {str(package)!r}}}\n"
    )
    (folder / "__editable___bad_finder.py").write_text("MAPPING: dict[str, str] = __import__('os')\n")
    env = environment(Config(), {"VIRTUAL_ENV": str(tmp_path / "env")})
    assert env.folders == (str(folder), str(more.resolve()))
    assert env.mapped == (("pkg", str(package)),)
    assert not mark.exists()
