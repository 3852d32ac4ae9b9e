"""SHP310: what is told of kinds beside what NumPy and PyTorch do."""

from __future__ import annotations

import pytest

from interp.programs import errors_of
from ops.kind_forms import HEADS, programs, really


@pytest.mark.parametrize("library", ["numpy", pytest.param("torch", marks=pytest.mark.requires("torch"))])
def test_what_fails_for_its_kinds(library: str) -> None:
    source = programs(library)
    failing = really(library, source)
    text = HEADS[library] + "\n".join(source.values())
    starts = {number: line[4:-3] for number, line in enumerate(text.splitlines(), 1) if line.startswith("def ")}
    found = {starts[max(line for line in starts if line <= error.span.line)]: error for error in errors_of(text)}
    told = [f"{source[name]}{error.code} {error.message}" for name, error in found.items() if name not in failing]
    assert not told, "\n".join(told)
    missed = failing - {*found}
    assert len(missed) < 0.1 * len(failing), "\n".join(source[name] for name in sorted(missed))
