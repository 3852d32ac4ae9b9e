"""Progress bars and ranges: a row of the table is enough for a loop to be seen through a bar."""

from __future__ import annotations

import ast

import pytest

from distml.source.project import Project
from distml.training.callsites import asks_for_items, is_range, iterated
from distml.training.counting import LIBRARIES
from distml.training.program import Program

AROUND = [(each.path, name) for each in LIBRARIES for name in each.around.split()]
COUNTS = [(each.path, name) for each in LIBRARIES for name in each.counts.split()]


def loop_of(text: str) -> tuple[ast.For, Program]:
    """The one loop of a program."""
    project = Project("/nowhere", overlay={"/nowhere/bars.py": text.encode()})
    program = Program([project.open("/nowhere/bars.py")], project)
    (loop,) = (each for each in ast.walk(program.roots[0].tree) if isinstance(each, ast.For))
    return loop, program


@pytest.mark.parametrize(("library", "name"), AROUND)
def test_a_bar_gives_what_it_goes_around(library: str, name: str) -> None:
    loop, program = loop_of(
        f"from {library} import {name} as shown\ndata = [1, 2]\nfor x in shown(data):\n    print(x)\n"
    )
    assert ast.unparse(iterated(loop.iter, program)) == "data"
    assert program.of(loop.iter) == program.of(program.roots[0].tree.body[1].value)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("library", "name"), COUNTS)
def test_a_bar_counts_as_range_does(library: str, name: str) -> None:
    loop, program = loop_of(f"from {library} import {name} as count\nfor x in count(8):\n    print(x)\n")
    assert is_range(loop.iter, program)
    assert asks_for_items(loop, program)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("import numpy as np\nfor x in np.arange(8):\n    print(x)\n", True),
        ("from six.moves import xrange\nfor x in xrange(8):\n    print(x)\n", True),
        ("import tensorflow as tf\nfor x in tf.range(8):\n    print(x)\n", True),
        ("import tensorflow as tf\nfor x in tf.data.Dataset.range(8):\n    print(x)\n", False),
        ("def range(n):\n    return [n]\nfor x in range(8):\n    print(x)\n", False),
    ],
)
def test_a_range_is_what_counts_and_no_data(text: str, counts: bool) -> None:
    loop, program = loop_of(text)
    assert is_range(loop.iter, program) == counts
