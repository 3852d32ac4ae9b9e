"""Agreement is positive: an order, a text or a format counts as agreed only where it is known to be the same everywhere.

The oracle are two Python processes with hashes, folders, environments and memory of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from choreo import test_divergence
from choreo.forms import DETERMINED, HEAD, OWN, forms
from choreo.test_divergence import AGREED, TAIL

from distml.choreo.project import project_source

BEFORE, RUN = test_divergence.HEAD.split("def run(")
PROGRAM = f"{BEFORE}{HEAD.lstrip()}def run({RUN}"
EVALUATE = """
import json, sys
asked = json.load(open(sys.argv[1]))
space = {"__name__": sys.argv[2]}
exec(asked["program"], space)
def shown(value):
    if isinstance(value, (set, frozenset)):
        return sorted(map(shown, value))
    if isinstance(value, (list, tuple)):
        return [shown(each) for each in value]
    if isinstance(value, dict):
        return [[shown(key), shown(each)] for key, each in value.items()]
    return sorted(vars(value)) if isinstance(value, space["Thing"]) else ascii(value)
results = {}
for form in asked["forms"]:
    given = {name: eval(text) for name, text in asked["agreed"].items()}
    try:
        results[form] = shown(eval(form, {**space, **given}))
    except BaseException as error:
        results[form] = type(error).__name__
json.dump(results, open(sys.argv[3], "w"))
"""


def codes(line: str) -> list[str]:
    return [each.code for each in project_source(f"{PROGRAM}    {line}{TAIL}", "program.py").findings]


@pytest.mark.parametrize("form", forms(OWN))
def test_what_is_not_known_to_be_the_same_is_each_partys_own(form: str) -> None:
    assert codes(f"agreed = {form}")


@pytest.mark.parametrize("form", forms(DETERMINED))
def test_what_is_known_to_be_the_same_is_agreed(form: str) -> None:
    assert codes(f"agreed = {form}") == []


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], ...]:
    """What the expressions come to in two processes."""
    agreed = {name: repr(value) for name, value in AGREED.items()} | {"s": "{'a', 'b', 'c', 'dd', 'e', 'f'}"}
    program = PROGRAM.partition("def run(")[0]
    found = []
    for party, seed in (("A", "1"), ("B", "2")):
        folder = tmp_path_factory.mktemp(party)
        (folder / "own.txt").write_text(party)
        (folder / "asked").write_text(
            json.dumps({"program": program, "forms": [*forms(OWN), *forms(DETERMINED)], "agreed": agreed})
        )
        subprocess.run(
            [sys.executable, "-c", EVALUATE, "asked", party, "results"],
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed, "WHO": party, "PYTHONBREAKPOINT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=900,
        )
        found.append(json.loads(Path(folder / "results").read_text()))
    return tuple(found)


def test_two_processes_agree_on_what_is_determined(results: tuple[dict[str, object], ...]) -> None:
    one, other = results
    assert [form for form in forms(DETERMINED) if one[form] != other[form]] == []


def test_two_processes_differ_in_much_of_the_rest(results: tuple[dict[str, object], ...]) -> None:
    one, other = results
    assert len([form for form in forms(OWN) if one[form] != other[form]]) > 150


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("agreed = (lambda e=n: e)()", "CHO101"),
        ("agreed = sorted(words, key=lambda e, d=n: d)", "CHO101"),
        ("agreed = (lambda e=time.time(): e)()", "CHO110"),
    ],
)
def test_defaults_of_a_lambda_are_operands(line: str, code: str) -> None:
    assert codes(line) == [code]


@pytest.mark.parametrize(
    "form", ["text" + ".strip()" * 60, "str(" * 60 + "k" + ")" * 60, "(lambda e: " * 30 + "e" + ")(k)" * 30]
)
def test_chains_of_calls_take_time_by_their_length(form: str) -> None:
    assert codes(f"agreed = {form}") == []
