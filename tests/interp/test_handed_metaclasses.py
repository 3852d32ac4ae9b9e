"""Classes whose metaclass is told by a function of another package, in the bases or above the class, or derives from one of it.

Each program is run with such functions too, so that what is expected of it is what it does.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest

from interp.programs import errors_and_revealed

PROGRAM = """
import numpy as np
from kit import Unseen, add_metaclass, with_metaclass

def first_column(method):
    def run(self, x):
        return method(self, x[:, :1])
    return run

class Cutting({base}):
    def __new__(cls, name, bases, namespace):
        if "gram" in namespace:
            namespace["gram"] = first_column(namespace["gram"])
        return super().__new__(cls, name, bases, namespace)

class Plain:
    width = 4

{classes}

reveal_shape(Kernel().gram(np.zeros((10, 6))))
"""
GRAM = "\n    def gram(self, x):\n        return x - x.T\n"
CLASSES = (
    f"class Kernel(with_metaclass(Cutting)):{GRAM}",
    f"class Kernel(with_metaclass(Cutting, object)):{GRAM}",
    f"class Kernel(with_metaclass(Cutting, Plain)):{GRAM}",
    f"@add_metaclass(Cutting)\nclass Kernel:{GRAM}",
    f"@add_metaclass(Cutting)\nclass Kernel(Plain):{GRAM}",
    f"class Base(with_metaclass(Cutting)):\n    pass\n\nclass Kernel(Base):{GRAM}",
    f"@add_metaclass(Cutting)\nclass Base:\n    pass\n\nclass Kernel(Base, Plain):{GRAM}",
    f"@add_metaclass(Cutting)\nclass Base:{GRAM}\nclass Kernel(Base):\n    pass\n",
)


def _add_metaclass(metaclass: type) -> Any:
    return lambda cls: metaclass(
        cls.__name__, cls.__bases__, {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
    )


def _with_metaclass(metaclass: type, *bases: type) -> type:
    return metaclass("Between", bases, {})


@pytest.mark.parametrize("base", ["type", "Unseen"])
@pytest.mark.parametrize("classes", [*CLASSES, f"class Kernel(metaclass=Cutting):{GRAM}"])
def test_a_metaclass_that_a_function_is_given_makes_the_class(classes: str, base: str) -> None:
    program = PROGRAM.format(base=base, classes=classes)
    kit = ModuleType("kit")
    vars(kit).update(Unseen=type, add_metaclass=_add_metaclass, with_metaclass=_with_metaclass)
    shapes: list[tuple[int, ...]] = []
    with mock.patch.dict(sys.modules, kit=kit):
        exec(program, {"reveal_shape": lambda x: shapes.append(np.shape(x)), "__name__": "program"})
    assert len(shapes) == 1
    assert errors_and_revealed(program) == ([], [f"ndarray{list(*shapes)}" if base == "type" else "unknown"])
