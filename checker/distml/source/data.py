"""Data files of a project, from bytes to plain Python values: JSON, YAML, TOML and INI.

Nothing is constructed but dicts, lists, strings, numbers, booleans and None; what is larger, deeper or more than the limits, or
is not plainly of its format, is no data. A file without aliases has no more items than bytes; those that aliases repeat are
counted where the values are used.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

MAX_BYTES = 256 * 1024
MAX_YAML_BYTES = 64 * 1024
MAX_DEPTH = 32

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)
_BRACKETS = re.compile(r"[\[{\]}]")
_FAILURES = (ValueError, LookupError, TypeError, AttributeError, RecursionError, configparser.Error)
_EXPONENT = re.compile(r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?[eE][-+]?[0-9]+$")


class NoDataError(Exception):
    """A text is not data of its format, or beyond the limits."""


def parsed(text: str, form: str) -> Any:
    """The data in a text of a form: json, toml, ini, yaml, omegaconf (YAML as OmegaConf reads it) or hydra (that, in the package
    of its folder). Raises `NoDataError`."""
    if len(text) > (MAX_BYTES if form in ("json", "toml", "ini") else MAX_YAML_BYTES):
        raise NoDataError
    try:
        return _PARSERS[form](text)
    except _FAILURES as error:
        raise NoDataError from error


def decoded(data: bytes) -> str:
    """The text of a data file. Raises `NoDataError`."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NoDataError from error


def _shallow(text: str) -> str:
    """The text, if its brackets nest no deeper than the limit: parsers recurse."""
    depth = 0
    for bracket in _BRACKETS.findall(_STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            raise NoDataError
    return text


def _ini(text: str) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    sections = {name: dict(parser[name]) for name in parser.sections()}
    return {"DEFAULT": dict(parser.defaults()), **sections}


def _yaml(text: str, *, exponents: bool = False) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise NoDataError from error

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise NoDataError
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if len(set(names)) != len(names) and exponents:
                raise NoDataError
            return super().construct_mapping(node, deep=deep)

    if exponents:
        Loader.add_implicit_resolver("tag:yaml.org,2002:float", _EXPONENT, list("-+0123456789"))
    try:
        return yaml.load(_shallow(text), Loader=Loader)
    except yaml.YAMLError as error:
        raise NoDataError from error


def _hydra(text: str) -> Any:
    if "@package" in text:  # its content stands elsewhere than its folder says
        raise NoDataError
    return _yaml(text, exponents=True)


_PARSERS: dict[str, Callable[[str], Any]] = {
    "json": lambda text: json.loads(_shallow(text)),
    "toml": lambda text: tomllib.loads(_shallow(text)),
    "ini": _ini,
    "yaml": _yaml,
    "omegaconf": lambda text: _yaml(text, exponents=True),
    "hydra": _hydra,
}
