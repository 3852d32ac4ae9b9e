"""An attribute of an unknown value may be anything, whatever arrays have by that name.

Names of methods of arrays are plain numbers of the program's own class here, in every form that looks at a number.
The programs run; nothing in them is a finding.
"""

from __future__ import annotations

import numpy as np
import pytest

from distml.interp.guess import METHODS

from interp.programs import errors_of, shown

NAMES = sorted(METHODS)[::4]
FORMS = (
    "out.shape == (x.NAME, 2)",
    "list(out.shape) == [x.NAME, 2]",
    "out.shape[0] == x.NAME",
    "x.NAME in out.shape",
    "out.shape in [(x.NAME, 2)]",
    "{'shape': out.shape} == {'shape': (x.NAME, 2)}",
    "x.NAME is not None",
    "isinstance(x.NAME, int)",
    "not callable(x.NAME)",
    "(x.NAME, 2) <= out.shape",
    "max(x.NAME, 2) == out.shape[0]",
    "out.reshape(x.NAME * 2).shape == (x.NAME * 2,)",
    "(out @ np.ones((2, x.NAME))).shape == (x.NAME, x.NAME)",
    "np.ones(6).reshape(x.NAME, 2).shape == out.shape",
    "len(range(x.NAME)) == len(out)",
)
PROGRAM = """import numpy as np


class Thing:
    NAME = 3


"""
FUNCTION = """def look_INDEX(x):
    out = np.zeros((x.NAME, 2))
    assert FORM


"""


@pytest.mark.parametrize("name", NAMES)
def test_a_number_by_the_name_of_a_method(name: str) -> None:
    functions = [FUNCTION.replace("INDEX", str(index)).replace("FORM", form) for index, form in enumerate(FORMS)]
    program = (PROGRAM + "".join(functions)).replace("NAME", name)
    names: dict[str, object] = {"np": np}
    exec(program, names)
    for index in range(len(FORMS)):
        look = names[f"look_{index}"]
        assert callable(look)
        look(names["Thing"]())
    assert [shown(finding) for finding in errors_of(program)] == []


SET = ("50", "[1, 2, 3]", "(1, 2, 3)", "None", "np.zeros(3)", "range(3)", "{1: 2}", "np.float64(2.5)", "True", "'abc'")
READ = (
    "x.size @ np.ones(3)",
    "x.size[:, 2]",
    "x.size + np.ones((4, 1))",
    "np.concatenate([x.size, np.ones((4, 2))], axis=1)",
    "np.stack([x.size, np.ones((4, 3))])",
    "x.size.reshape(2, 6)",
    "[a + b + c for a, b, c in x.size]",
    "np.allclose(x.size, np.ones((4, 3)))",
)
SETTING = """import numpy as np


class Thing:
    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, value):
        self._size = np.zeros((4, 3))


"""
READING = """def look_INDEX(x):
    x.size = VALUE
    FORM
    assert x.size.shape == (4, 3)


"""


@pytest.mark.parametrize("value", SET)
def test_a_setter_may_make_other_data_of_what_it_is_given(value: str) -> None:
    functions = [
        READING.replace("INDEX", str(index)).replace("FORM", form).replace("VALUE", value)
        for index, form in enumerate(READ)
    ]
    program = SETTING + "".join(functions)
    names: dict[str, object] = {"np": np}
    exec(program, names)
    for index in range(len(READ)):
        look, thing = names[f"look_{index}"], names["Thing"]
        assert callable(look)
        assert callable(thing)
        look(thing())
    assert [shown(finding) for finding in errors_of(program)] == []


def test_objects_that_an_unknown_object_is_given_stay_what_they_are() -> None:
    program = """import torch
from torch import nn


def change(model):
    model.head = nn.Linear(4, 5)
    return model.head(torch.zeros(2, 3))
"""
    assert [finding.code for finding in errors_of(program)] == ["SHP401"]
