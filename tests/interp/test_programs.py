"""Programs that Hypothesis writes: run with the real library, and checked.

A program that runs must have no finding, also when its first tensors are parameters of a function nobody calls, and
what is known of its shapes must hold. One that ends in a shape mistake must have a finding there and none before it.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from types import ModuleType

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from interp import numpy_templates, torch_templates
from interp.programs import Verdict, judge_failing, judge_parameters, judge_running
from interp.writing import Template, Writer

NUMPY = pytest.param("numpy", marks=pytest.mark.requires("numpy"))
TORCH = pytest.param("torch", marks=pytest.mark.requires("torch"))
TEMPLATES = {"numpy": numpy_templates, "torch": torch_templates}
STATEMENTS = 30


def present(library: str) -> bool:
    """Whether a library can be imported."""
    return importlib.util.find_spec(library) is not None


def modules(library: str) -> dict[str, ModuleType]:
    """What a program imports."""
    names = {"np": "numpy", "os": "os"}
    if library == "torch":
        names = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "os": "os"}
        importlib.import_module("torch").set_num_threads(1)
    return {short: importlib.import_module(name) for short, name in names.items()}


def written(library: str, random: Random, templates: Sequence[Template], wrong: bool) -> Writer:
    """A finished program."""
    writer = Writer(random, modules(library))
    writer.begin(random.randint(2, 4))
    writer.write(templates, STATEMENTS, wrong)
    return writer


def check_running(writer: Writer) -> Counter[str]:
    """A program that runs, as it is and as a function."""
    verdicts = [judge_running(writer.program(), writer.tensors()), judge_parameters(writer.program(), writer.inputs)]
    for verdict in verdicts:
        # The copies that statements are tried on can be written to where a view cannot.
        assume(verdict.kind != "other" or "read-only" not in verdict.text)
        assert verdict.kind in ("exact", "vague"), verdict
    return Counter(verdict.kind for verdict in verdicts)


@pytest.fixture(autouse=True)
def no_gradients() -> Iterator[None]:
    """Tensors with gradients cannot be copied."""
    if not present("torch"):
        yield
        return
    import torch

    with torch.no_grad():
        yield


@pytest.mark.parametrize("kind", ["STRAIGHT", "STRUCTURED"])
@pytest.mark.parametrize("library", [NUMPY, TORCH])
@pytest.mark.filterwarnings("ignore")
def test_a_program_that_runs_has_no_finding(library: str, kind: str) -> None:
    counts: Counter[str] = Counter()

    @settings(max_examples=70, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 2**32))
    def examine(seed: int) -> None:
        counts.update(check_running(written(library, Random(seed), getattr(TEMPLATES[library], kind), wrong=False)))

    examine()
    assert counts["exact"] > 0.5 * counts.total()


@pytest.mark.parametrize(("kind", "floor"), [("STRAIGHT", 0.95), ("STRUCTURED", 0.9)])
@pytest.mark.parametrize("library", [NUMPY, TORCH])
@pytest.mark.filterwarnings("ignore")
def test_a_mistake_is_found_where_it_is(library: str, kind: str, floor: float) -> None:
    counts: Counter[str] = Counter()
    missed: list[Verdict] = []
    templates = [each for each in getattr(TEMPLATES[library], kind) if each not in TEMPLATES[library].BY_DATA]

    @settings(max_examples=90, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 2**32))
    def examine(seed: int) -> None:
        writer = written(library, Random(seed), templates, wrong=True)
        if not writer.fails:
            return
        verdict = judge_failing(writer.program())
        assert verdict.kind in ("found", "missed", "other"), verdict
        counts[verdict.kind] += 1
        missed.extend([verdict] if verdict.kind == "missed" else [])

    examine()
    assert counts["found"] > 40
    assert counts["found"] >= floor * (counts["found"] + counts["missed"]), "\n".join(map(str, missed))


@pytest.mark.filterwarnings("ignore")
def test_writing_is_repeatable() -> None:
    pytest.importorskip("numpy")
    one, other = (written("numpy", Random(7), numpy_templates.STRUCTURED, wrong=False) for _ in range(2))
    assert one.program() == other.program()
