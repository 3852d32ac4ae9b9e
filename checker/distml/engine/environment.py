"""Finds the Python environment that a program runs in, without running any Python.

In this order: the setting `python`, `VIRTUAL_ENV`, `.venv` or `venv` in the project, the Python that GitHub's setup-python
installed, `CONDA_PREFIX`, pdm's and Poetry's own places. A hook of pre-commit runs in an environment of its own, which says
nothing of the project's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from distml.engine.config import Config, ConfigError
from distml.source.installed import Environment, environment_in, read_text
from distml.source.roots import MARKERS, upward

if TYPE_CHECKING:
    from collections.abc import Iterable

NONE = "none"
"""The setting that follows no installed package."""
_SITE = re.compile(r"python3\.(\d+)t?")


def environment(config: Config, variables: Mapping[str, str] | None = None) -> Environment:
    """Where the packages of the configured or surrounding environment lie. Raises `ConfigError` where the setting names none."""
    if config.python == NONE:
        return Environment()
    if config.python:
        given = os.path.join(config.folder, os.path.expanduser(config.python))
        folders = _site_folders(_prefix_of(given))
        if not folders:
            raise ConfigError(f"python: no installed packages were found for {config.python}")
        return environment_in(folders)
    for prefix in _prefixes(os.environ if variables is None else variables, os.path.realpath(os.curdir)):
        folders = _site_folders(prefix)
        if folders:
            return environment_in(folders)
    return Environment()


def _prefixes(variables: Mapping[str, str], folder: str) -> Iterator[str]:
    """Where environments may be, the most certain first."""
    if "VIRTUAL_ENV" in variables and "PRE_COMMIT" not in variables:
        yield variables["VIRTUAL_ENV"]
    root = folder
    for root in upward(folder):
        yield from (os.path.join(root, name) for name in (".venv", "venv"))
        if any(os.path.exists(os.path.join(root, marker)) for marker in MARKERS):
            break
    if "pythonLocation" in variables:  # what actions/setup-python sets
        yield variables["pythonLocation"]
    if "CONDA_PREFIX" in variables and "PRE_COMMIT" not in variables:
        yield variables["CONDA_PREFIX"]
    chosen = (read_text(os.path.join(root, ".pdm-python")) or "").strip()
    if chosen and "\0" not in chosen:
        yield _prefix_of(os.path.join(root, chosen))
    yield os.path.join(root, "__pypackages__")
    yield from _of_poetry(variables, root)


def _of_poetry(variables: Mapping[str, str], root: str) -> Iterator[str]:
    """Poetry's environments of a project: in its cache, marked with a hash of the project's folder."""
    if "tool.poetry" not in (read_text(os.path.join(root, "pyproject.toml")) or ""):
        return
    import base64
    import hashlib

    cache = variables.get("POETRY_CACHE_DIR") or os.path.join(os.path.expanduser("~"), ".cache", "pypoetry")
    digest = base64.urlsafe_b64encode(hashlib.sha256(os.path.normcase(root).encode()).digest()).decode()[:8]
    folder = os.path.join(cache, "virtualenvs")
    yield from (os.path.join(folder, each) for each in sorted(_listed(folder)) if f"-{digest}-py" in each)


def _prefix_of(path: str) -> str:
    """The folder of an environment, given that folder or its interpreter."""
    return path if os.path.isdir(path) else os.path.dirname(os.path.dirname(path))


def _site_folders(prefix: str) -> tuple[str, ...]:
    """The folders with packages of an environment, and of the Python below it where it takes those too."""
    if "\0" in prefix or not os.path.isdir(prefix):
        return ()
    found = list(_own_folders(prefix))
    settings = _settings(os.path.join(prefix, "pyvenv.cfg"))
    if settings.get("include-system-site-packages", "").lower() == "true" and settings.get("home"):
        found += _own_folders(os.path.dirname(settings["home"]))
    return tuple(dict.fromkeys(map(os.path.realpath, found)))


def _own_folders(prefix: str) -> Iterator[str]:
    """`lib/python3.N/site-packages` and the like, for the newest N."""
    for library in ("lib", "lib64", os.path.join("local", "lib")):
        folder = os.path.join(prefix, library)
        for version in _newest(_listed(folder)):
            yield from _existing(os.path.join(folder, version, name) for name in ("site-packages", "dist-packages"))
    yield from _existing([os.path.join(prefix, "Lib", "site-packages")])
    yield from _existing([os.path.join(prefix, "lib", "python3", "dist-packages")])
    yield from _existing(os.path.join(prefix, name, "lib") for name in _listed(prefix) if re.fullmatch(r"3\.\d+", name))


def _newest(names: Iterable[str]) -> list[str]:
    versions = sorted((int(found[1]), name) for name in names if (found := _SITE.fullmatch(name)) is not None)
    return [versions[-1][1]] if versions else []


def _existing(folders: Iterable[str]) -> Iterator[str]:
    return filter(os.path.isdir, folders)


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _settings(path: str) -> dict[str, str]:
    """`key = value` lines of a `pyvenv.cfg`."""
    pairs = (line.partition("=") for line in (read_text(path) or "").splitlines())
    return {key.strip().lower(): value.strip() for key, equals, value in pairs if equals}
