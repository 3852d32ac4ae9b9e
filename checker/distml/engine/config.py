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


LARGEST_CONFIGURATION = 4 * 1024 * 1024  # bytes; a pyproject.toml is a few thousand
LONGEST = 1000  # characters of a code, pattern or path
SHOWN = 80  # characters of a wrong value in a message
MOST_SECONDS = 1_000_000
MOST_MEBIBYTES = 16 * 1024 * 1024
MOST_BYTES = 1024**3
MOST_JOBS = 1000


class ConfigError(Exception):
    """The configuration or a command-line value is wrong; the message is one clear line."""


class Config(NamedTuple):
    """Settings of a run. Patterns and `src` are relative to `folder`, where the configuration lies.

    `select` and `ignore` hold codes, prefixes of codes or names; an empty `select` means all. Limits are for each file:
    seconds, MiB of memory, bytes of source. `jobs` is the number of worker processes: `None` lets distml choose, 0 checks
    in this process. `baseline` is the path of a file with findings that are not reported. `python` is the interpreter or the
    folder of the environment whose packages are followed, `none` for no packages, empty to find it. `tracked`
    is asked for on the command line alone: how much of each function is known.
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
    baseline: str = ""
    python: str = ""
    tracked: bool = False


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
    known = {field.replace("_", "-"): field for field in Config._fields if field not in ("folder", "tracked")}
    for key, value in table.items():
        if key not in known:
            told = f"unknown key {_short(key)} in [tool.distml]; known keys: {', '.join(sorted(known))}"
            raise ConfigError(f"{path}: {told}")
        wanted, read = _READERS[known[key]]
        try:
            changes: dict[str, Any] = {known[key]: read(value)}
        except TypeError:
            raise ConfigError(f"{path}: {key} in [tool.distml] must be {wanted}, not {_short(value)}") from None
        config = config._replace(**changes)
    return config


def _table(path: str) -> dict[str, object] | None:
    """`[tool.distml]` of a file, `None` where it has none."""
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_CONFIGURATION + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > LARGEST_CONFIGURATION:
        raise ConfigError(f"{path}: cannot be read: it has more than {LARGEST_CONFIGURATION} bytes")
    if b"distml" not in data:
        return None
    import tomllib

    try:
        table = tomllib.loads(data.decode())
    except ValueError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply to be read") from None
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


def _short(value: object) -> str:
    """A value as it is written, cut where it is long."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or an integer with too many digits
        text = f"this {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and _is_usable(item) for item in value):
        raise TypeError
    return tuple(value)


def _is_usable(text: str) -> bool:
    """Whether the system takes a string in a path, and a pattern can be compiled in no time."""
    return "\0" not in text and len(text) <= LONGEST


def _patterns(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict) or not all(map(_is_usable, value)):
        raise TypeError
    return tuple((pattern, _strings(codes)) for pattern, codes in value.items())


def _path(value: object) -> str:
    if not isinstance(value, str) or not _is_usable(value):
        raise TypeError
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < MOST_SECONDS:
        raise TypeError
    return float(value)


def _whole(least: int, most: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise TypeError
        return value

    return read


_STRINGS = (f"an array of strings without NUL, of at most {LONGEST} characters", _strings)
_READERS: dict[str, tuple[str, Callable[[object], Any]]] = {
    "select": _STRINGS,
    "ignore": _STRINGS,
    "per_file_ignores": ("a table of arrays of such strings as `exclude` takes", _patterns),
    "exclude": _STRINGS,
    "respect_gitignore": ("true or false", _flag),
    "src": _STRINGS,
    "time_limit": (f"a number of seconds above 0 and below {MOST_SECONDS}", _seconds),
    "memory_limit": (f"a whole number of MiB from 1 to {MOST_MEBIBYTES}", _whole(1, MOST_MEBIBYTES)),
    "max_file_size": (f"a whole number of bytes from 1 to {MOST_BYTES}", _whole(1, MOST_BYTES)),
    "jobs": (f"a whole number from 0 to {MOST_JOBS}", _whole(0, MOST_JOBS)),
    "python": (f"a path without NUL, of at most {LONGEST} characters", _path),
    "baseline": (f"a path without NUL, of at most {LONGEST} characters", _path),
}
