"""A class of exceptions of the program's own is raised where the program says so, and nowhere else. All programs run for real."""

from __future__ import annotations

import pytest

from interp.programs import errors_of, fails

HEAD = """import os
import torch
from torch import nn


class Done(Exception):
    pass


class Later(Done):
    def __init__(self, x):
        super().__init__("done")
        self.x = x


class Wrong(RuntimeError):
    pass


class Both(Done, ValueError):
    pass


def put(d, key, value, enough):
    d[key] = value
    if len(d) == enough:
        raise RAISED


seen = {}
x = torch.zeros(2, 3)
layers = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5), nn.Linear(5, 6))
"""
BODY = """
try:
    put(seen, "a", torch.zeros(2, 4), 2)
    put(seen, "b", x, 2)
    put(seen, "a", x, 2)
except CAUGHT:
    pass
"""
HOOKED = """
for name, layer in {"a": layers[0], "b": layers[1]}.items():
    layer.register_forward_hook(lambda m, i, o, name=name: put(seen, name, o, 2))
try:
    layers(x)
    seen = {}
except CAUGHT:
    pass
"""
CALLED = """
def run(x):
    try:
        list(map(lambda item: put(seen, *item, 2), [("a", torch.zeros(2, 4)), ("b", x), ("a", x)]))
    except CAUGHT:
        return seen["a"]
    return x


seen["a"] = run(x)
"""
INNER = """
try:
    try:
        put(seen, "a", torch.zeros(2, 4), 2)
        put(seen, "b", x, 2)
        put(seen, "a", x, 2)
    except KeyError:
        seen = {}
except CAUGHT:
    pass
"""
AGAIN = """
try:
    try:
        x @ x
    except RuntimeError:
        seen["a"] = torch.zeros(2, 4)
        raise RAISED
except CAUGHT:
    pass
"""
BODIES = {"called": BODY, "hooked": HOOKED, "mapped": CALLED, "inner": INNER, "raised again": AGAIN}
RAISED = {"Done": "Done", "Later(x)": "Done", "Later(1)": "(Later, KeyError)", "Wrong": "Wrong", "Both()": "Done"}
"""What is raised, and what catches it."""
USE = '\nseen["a"] @ torch.zeros(5, 1)\n'
FAILS = """
try:
    x @ x
except CAUGHT:
    pass
"""


@pytest.mark.parametrize("raised", RAISED)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_what_a_handler_meets_is_what_was_so_where_it_was_raised(body: str, raised: str) -> None:
    caught = RAISED[raised]
    program = (HEAD + body + USE).replace("RAISED", raised).replace("CAUGHT", caught)
    assert fails(program)
    assert errors_of(program) or caught != "Done" or body == INNER
    good = program.replace("zeros(5, 1)", "zeros(4, 1)")
    assert not fails(good)
    assert errors_of(good) == []


@pytest.mark.parametrize(
    "caught", ["Done", "(Done, Later)", "KeyError", "Wrong", "Both", "(Done, RuntimeError)", "Exception"]
)
def test_what_it_does_not_catch_is_found(caught: str) -> None:
    program = (HEAD + FAILS).replace("RAISED", "Done").replace("CAUGHT", caught)
    assert bool(errors_of(program)) == (fails(program) and caught not in ("Wrong", "Both"))
