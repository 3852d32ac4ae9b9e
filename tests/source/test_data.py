"""Data files: what is read is what the real libraries read, and hostile ones cost nothing."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest

from distml.source.data import MAX_BYTES, NoDataError, parsed

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE = {
    "deep json": ("[" * 5_000 + "]" * 5_000, "json"),
    "deep in objects": ('{"a":' * 5_000 + "1" + "}" * 5_000, "json"),
    "unclosed": ("[" * 100_000, "json"),
    "deep yaml": ("[" * 5_000 + "]" * 5_000, "yaml"),
    "deep blocks": ("".join(" " * depth + "a:\n" for depth in range(300)), "yaml"),
    "deep toml": ("a = " + "[" * 5_000 + "]" * 5_000, "toml"),
    "large": ('"' + "x" * MAX_BYTES + '"', "json"),
    "large yaml": ("a: 1\n" * 30_000, "yaml"),
    "long number": ("9" * 10_000, "json"),
    "python object": ("!!python/object/apply:os.system ['true']", "yaml"),
    "python name": ("!!python/name:os.system", "yaml"),
    "own tag": ("a: !env HOME", "yaml"),
    "two documents": ("a: 1\n---\na: 2\n", "yaml"),
    "no yaml": ("a: b: c", "yaml"),
    "twice in toml": ("a = 1\na = 2", "toml"),
    "twice for omegaconf": ("a: 1\na: 2", "omegaconf"),
    "unknown alias": ("a: *b", "yaml"),
    "endless alias": ("a: &a [*a]", "yaml"),
    "no section": ("a = 1", "ini"),
    "twice in ini": ("[a]\nb = 1\nb = 2", "ini"),
}


def size(value: Any) -> int:
    items = [*value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return 1 + len(items)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_no_data_or_small(name: str) -> None:
    started = time.process_time()
    try:
        found = parsed(*HOSTILE[name])
    except NoDataError:
        found = None
    assert size(found) < 100
    assert time.process_time() - started < 5


def test_laughs_take_no_room() -> None:
    assert len(parsed(LAUGHS, "yaml")) == 9


@pytest.mark.parametrize(
    "text", ['{"a": [1, 2.5, null, true, "x"], "b": {"c": -3}}', '{"a": 1, "a": 2}', "[]", '"}{"', "3"]
)
def test_json_is_read_as_json_reads_it(text: str) -> None:
    assert parsed(text, "json") == json.loads(text)


def test_numbers_that_are_none() -> None:
    assert math.isnan(parsed("[NaN]", "json")[0])


@pytest.mark.requires("yaml")
@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: [1, 2]\nc: {d: 0x10, e: 1_000, f: 010}\n",
        "a: &x {w: 3, h: 4}\nb:\n  <<: *x\n  h: 5\n",
        "- 1e-3\n- 1.0e-3\n- yes\n- ~\n- 12:30:00\n- 'a: b'\n",
        "a: |\n  text\n  more\nb: >-\n  folded\n",
        "a: 1\na: 2\n",
        "",
    ],
)
def test_yaml_is_read_as_pyyaml_reads_it(text: str) -> None:
    import yaml

    assert parsed(text, "yaml") == yaml.safe_load(text)


@pytest.mark.requires("omegaconf")
@pytest.mark.parametrize("text", ["a: 1e-3\nb: 1.5e3\nc: [3, 1E5]\n", "a: {b: 0x10}\n", "a: off\n"])
def test_yaml_is_read_as_omegaconf_reads_it(text: str) -> None:
    from omegaconf import OmegaConf

    assert parsed(text, "omegaconf") == OmegaConf.to_container(OmegaConf.create(text))
