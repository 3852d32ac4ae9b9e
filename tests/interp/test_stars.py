"""`from library import *` binds what it binds for Python, or leaves it unknown."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from distml.interp import special
from distml.ops.registry import names
from distml.values import Lib, Value

from interp.programs import errors_of, judge_running

if TYPE_CHECKING:
    import ast

    from distml.interp.arguments import Arguments
    from distml.interp.machine import Machine

pytestmark = pytest.mark.requires("torch", "numpy")

OTHER_VERSIONS = {
    "numpy": {"bool8", "complex_", "float_", "in1d", "product", "round_", "trapz"},
    "math": {"fma", "sumprod"},
    "torch.linalg": {"matrix_sqrth"},
}
"""What other versions of a library export."""
LIBRARIES = (
    "numpy",
    "numpy.linalg",
    "numpy.random",
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.func",
    "torch.linalg",
    "math",
)


def _bound(library: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(f"from {library} import *", found)
    return found


def _known(library: str) -> list[str]:
    """Names directly under a library that there are rules for."""
    every = {name.removeprefix(f"{library}.") for part in names() for name in part if name.startswith(f"{library}.")}
    return sorted(
        name for name in every if name.isidentifier() and not name.startswith("_") and name not in dir(builtins)
    )


def _taken(library: str, wanted: list[str]) -> list[str]:
    """What each name is after the import: the qualified name of something of a library, or nothing."""
    found: list[str] = []

    def note(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
        value = arguments.args[0]
        found.append(value.name if isinstance(value, Lib) else "")
        return value

    with mock.patch.dict(special.SPECIAL, {"builtins.reveal_shape": note}):
        errors_of("\n".join([f"from {library} import *", *(f"reveal_shape({name})" for name in wanted), ""]))
    assert len(found) == len(wanted)
    return found


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_name_that_is_taken_over_is_one_that_python_binds(library: str) -> None:
    bound, own = _bound(library).keys() | OTHER_VERSIONS.get(library, set()), _known(library)
    wanted = [name for name in (*own, *dir(builtins)) if not name.startswith("_") and name != "reveal_shape"]
    taken = dict(zip(wanted, _taken(library, wanted), strict=True))
    wrong = [
        f"{name} is {text}, and Python does not bind it" for name, text in taken.items() if text and name not in bound
    ]
    wrong = [each for each in wrong if "is builtins." not in each]
    wrong += [
        f"{name} is {text}, and the import replaces it"
        for name, text in taken.items()
        if "builtins." in text and name in bound
    ]
    assert not wrong, "\n".join(wrong)
    assert sum(bool(taken[name]) for name in own) > len(own) * 0.7


PROGRAMS = {
    "the last import wins": "from numpy import *\nfrom math import *\nx = zeros(int(sqrt(16)))\n",
    "a name of the program wins": "from numpy import *\ndef zeros(n):\n    return ones((n, 2))\nx = zeros(3)\n",
    "an import wins over what was bound before": "def zeros(n):\n    return 3\nfrom numpy import *\nx = zeros(3)\n",
    "in a function": "from torch import *\nfrom torch.nn import *\ndef run():\n    return Linear(3, 4)(zeros(2, 3))\nx = run()\n",
    "a class derives": (
        "from torch import *\nfrom torch.nn import *\nclass Net(Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = Linear(3, 4)\n    def forward(self, x):\n        return self.a(x)\nx = Net()(ones(2, 3))\n"
    ),
    "built-ins are replaced": "from numpy import *\nx = sum(ones((3, 4)), 1)\n",
    "built-ins stay": "from torch.nn.functional import *\nimport torch\nx = torch.zeros(max(2, 3), *range(1, 3))\n",
}


@pytest.mark.parametrize("title", PROGRAMS)
def test_programs(title: str) -> None:
    verdict = judge_running(PROGRAMS[title], ["x"])
    assert verdict.kind == "exact", str(verdict)


def test_a_library_that_only_may_be_imported_decides_nothing() -> None:
    branches = "import sys\nif sys.argv[1:]:\n    from numpy import *\nelse:\n    from torch import *\n"
    assert not errors_of(branches + "sum(ones((3, 4)), 1) + ones(5)\n")
    assert errors_of("from numpy import *\nsum(ones((3, 4)), 1) + ones(5)\n")
