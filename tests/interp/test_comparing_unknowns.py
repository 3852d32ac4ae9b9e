"""What is unknown may be an array: what it is compared with gives an array then, not a bool.

Unknown are names of libraries that are not known, attributes of unknown values, what those give. The programs run with
arrays for them, and nothing in them is a finding.
"""

from __future__ import annotations

import sys
from types import ModuleType
from unittest import mock

import numpy as np
import pytest

from interp.programs import errors_of, shown

OPERATORS = ("> 0.0", "<= y", "== 1", "!= 'a'", "< tables.TABLE", ">= (0, 1, 2, 3)", "== tables.TABLE.T.T")
UNKNOWNS = (
    "tables.TABLE",
    "TABLE",
    "tables.part.TABLE",
    "tables.part.made()",
    "(x - y).real",
    "(x - TABLE).T.T",
    "x.real",
    "-x.real",
    "x[:].real",
    "(x * y).copy().real",
    "(lambda z: z.real)(x - y)",
    "[x - y][0].real",
)
USES = (
    "MASK[1]",
    "MASK[1][1, 2]",
    "MASK[..., 2]",
    "np.argmax(MASK, axis=-1)[1, 2]",
    "np.logical_and(MASK, np.ones((3, 4), bool)).any(axis=1)",
    "np.stack([MASK, MASK]).sum(axis=3)",
    "np.ones((2, 3, 4))[MASK]",
    "np.where(MASK, 1, np.zeros((3, 4)))[1, 2, 3]",
    "[row.any(axis=1) for row in (MASK,)]",
)


def tables() -> dict[str, ModuleType]:
    """A library that nobody knows."""
    made, part = ModuleType("tables"), ModuleType("tables.part")
    table = np.zeros((2, 3, 4))
    names = {"TABLE": table, "part": part, "made": lambda: table}
    for module in (made, part):
        vars(module).update(names)
    return {"tables": made, "tables.part": part}


@pytest.mark.parametrize("unknown", UNKNOWNS)
def test_a_comparison_of_what_is_unknown(unknown: str) -> None:
    masks = [f"({unknown} {operator})" for operator in OPERATORS]
    uses = [use.replace("MASK", mask) for mask in masks for use in USES]
    program = "import numpy as np\nimport tables\nfrom tables import TABLE\n" + "".join(
        f"\n\ndef use_{index}(x, y):\n    return {use}\n" for index, use in enumerate(uses)
    )
    with mock.patch.dict(sys.modules, tables()):
        names: dict[str, object] = {}
        exec(program, names)
        for index in range(len(uses)):
            use = names[f"use_{index}"]
            assert callable(use)
            use(np.ones((2, 3, 4)), np.ones((2, 3, 4)))
    assert [shown(finding) for finding in errors_of(program)] == []


PARTS = [
    "b.shape",
    "b.shape[-2:]",
    "b.shape[:2]",
    "b.shape[1:]",
    "b.shape[:2] + (3,)",
    "(3,) + b.shape[1:]",
    "b.shape[:-1][1:]",
]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("known", ["b = make(x)", "b = make(x)\n    m, n = b.shape", "b = x"])
def test_the_shape_of_an_array_of_any_library_may_be_equal_to_a_list(part: str, known: str) -> None:
    """A `TensorShape` of TensorFlow is, and so is a part of it; `torch.Size` and a tuple are not."""
    tests = f"    assert {part} == [2, 3]\n    assert {part} != [7]\n"
    assert errors_of(f"from unseen import make\n\n\ndef f(x):\n    {known}\n{tests}") == []
