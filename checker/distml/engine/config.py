"""What a run is told: `[tool.distml]` of the nearest pyproject.toml, overridden by the command line.

The file is read only if it mentions distml at all, so that a project without configuration does not pay for TOML.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

DEFAULT_EXCLUDES = (
    ".*",
    "__pycache__",
    "__pypackages__",
    "node_modules",
    "site-packages",
    "dist-packages",
    "venv",
    "build",
    "dist",
    "*.egg-info",
)


class ConfigError(Exception):
    """The configuration or a command-line value is wrong; the message is one clear line."""


class Config(NamedTuple):
    """Settings of a run. Patterns and `src` are relative to `folder`, where the configuration lies.

    `select` and `ignore` hold codes, prefixes of codes or names; an empty `select` means all. Limits are for each file:
    seconds, MiB of memory, bytes of source. `jobs` is the number of worker processes: `None` lets distml choose, 0 checks
    in this process.
    """

    folder: str = "."
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    respect_gitignore: bool = False
    src: tuple[str, ...] = ()
    time_limit: float = 10.0
    memory_limit: int = 2048
    max_file_size: int = 2 * 1024 * 1024
    jobs: int | None = None


def load(given: str | None, folder: str) -> Config:
    """The configuration in the file `given`, else in the nearest pyproject.toml at or above `folder`.

    Raises `ConfigError` for a file that cannot be read, an unknown key or a value of the wrong type.
    """
    if given is not None:
        table = _table(given)
        return parse(table or {}, given)
    for candidate in _upward(os.path.realpath(folder)):
        path = os.path.join(candidate, "pyproject.toml")
        if os.path.isfile(path):
            table = _table(path)
            if table is not None:
                return parse(table, path)
    return Config(folder=folder)


def parse(table: dict[str, object], path: str) -> Config:
    """`[tool.distml]` as a `Config`. Raises `ConfigError`."""
    config = Config(folder=os.path.dirname(os.path.realpath(path)))
    known = {field.replace("_", "-"): field for field in Config._fields if field != "folder"}
    for key, value in table.items():
        if key not in known:
            raise ConfigError(f"{path}: unknown key {key!r} in [tool.distml]; known keys: {', '.join(sorted(known))}")
        wanted, read = _READERS[known[key]]
        try:
            changes: dict[str, Any] = {known[key]: read(value)}
        except TypeError:
            raise ConfigError(f"{path}: {key} in [tool.distml] must be {wanted}, not {value!r}") from None
        config = config._replace(**changes)
    return config


def _table(path: str) -> dict[str, object] | None:
    """`[tool.distml]` of a file, `None` where it has none."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    if b"distml" not in data:
        return None
    import tomllib

    try:
        table = tomllib.loads(data.decode())
    except ValueError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    tools = table.get("tool", {})
    own = tools.get("distml") if isinstance(tools, dict) else None
    if own is not None and not isinstance(own, dict):
        raise ConfigError(f"{path}: tool.distml must be a table")
    return own


def _upward(folder: str) -> list[str]:
    found = [folder]
    while (parent := os.path.dirname(found[-1])) != found[-1]:
        found.append(parent)
    return found


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError
    return tuple(value)


def _patterns(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise TypeError
    return tuple((pattern, _strings(codes)) for pattern, codes in value.items())


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6:
        raise TypeError
    return float(value)


def _size(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise TypeError
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError
    return value


_READERS: dict[str, tuple[str, Callable[[object], Any]]] = {
    "select": ("an array of strings", _strings),
    "ignore": ("an array of strings", _strings),
    "per_file_ignores": ("a table of arrays of strings", _patterns),
    "exclude": ("an array of strings", _strings),
    "respect_gitignore": ("true or false", _flag),
    "src": ("an array of strings", _strings),
    "time_limit": ("a number of seconds above 0", _seconds),
    "memory_limit": ("a whole number of MiB above 0", _size),
    "max_file_size": ("a whole number of bytes above 0", _size),
    "jobs": ("a whole number, 0 or more", _count),
}
