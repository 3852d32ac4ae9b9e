"""Where the code stands that is asked for."""

from __future__ import annotations

import ast

import pytest

from distml.rewrites.requests import Requests

TREE = ast.parse("class A:\n    def f(self):\n        return 1\n")
FUNCTION = next(each for each in ast.walk(TREE) if isinstance(each, ast.FunctionDef))


@pytest.mark.parametrize("where", ["begins", "ends"])
def test_what_begins_or_ends_a_function_stands_in_it(where: str) -> None:
    requests = Requests()
    getattr(requests, where)[FUNCTION].append("a = 1")
    assert [*requests.codes()] == [(FUNCTION.body[0], "a = 1")]


def test_what_comes_before_it_does_not() -> None:
    requests = Requests()
    requests.statements[FUNCTION].before.append("a = 1")
    assert (FUNCTION, "a = 1") in [*requests.codes()]
