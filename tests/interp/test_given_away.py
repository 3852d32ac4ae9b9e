"""What code out of sight is given, as an argument, an attribute or an item, it may call and change, then and later.

Each program runs for real; nothing may be found.
"""

from __future__ import annotations

import itertools

import pytest

from interp.programs import errors_of

HEAD = """import functools
import numpy as np
space = {}
exec('''
class Caller:
    def __init__(self):
        self.items = []
    def __setitem__(self, key, value):
        self.items.append(value)
    def keep(self, value):
        self.items.append(value)
    def run(self, value):
        for item in [*self.items, *vars(self).values()]:
            if callable(item):
                item(value)
            elif isinstance(item, list) and item is not self.items:
                item.append(value)
''', space)
caller = space["Caller"]()
found = []
def fill(value):
    found.append(value)
def fill_named(rows, value):
    rows.append(value)
"""
GIVEN = {
    "list": "found",
    "method": "found.append",
    "function": "fill",
    "lambda": "lambda value: found.append(value)",
    "partial": "functools.partial(fill_named, found)",
}
WAYS = {
    "argument": "caller.keep({given})",
    "attribute": "caller.hook = {given}",
    "setattr": "setattr(caller, 'hook', {given})",
    "item": "caller['hook'] = {given}",
}
USES = ("np.concatenate(found)", "np.stack(found)", "np.zeros((2, 3))[0] @ found[0].T")


def program(given: str, way: str, use: str) -> str:
    """Give something away, let it be called, and use what it filled."""
    return f"{HEAD}{WAYS[way].format(given=GIVEN[given])}\ncaller.run(np.zeros((2, 3)))\n{use}\n"


@pytest.mark.parametrize(("given", "way"), list(itertools.product(GIVEN, WAYS)))
def test_what_is_given_away_may_be_changed(given: str, way: str) -> None:
    for use in USES:
        source = program(given, way, use)
        exec(compile(source, given, "exec"), {})
        assert errors_of(source) == [], source


def test_what_stays_in_sight_is_known() -> None:
    assert errors_of(f"{HEAD}np.concatenate(found)\n") != []
