"""What was learned of an object out of sight holds until something of it is set or called: setters and methods may change
any part of it, and of what it is a part of.

Each program runs for real; nothing may be found.
"""

from __future__ import annotations

import pytest

from interp.programs import errors_of

HEAD = """import numpy as np
space = {}
exec('''import numpy as np
class View:
    columns = 2
    def __init__(self, owner=None):
        self.owner = owner
    @property
    def data(self):
        return np.zeros((4, self.columns if self.owner is None else self.owner.columns))
    @property
    def width(self):
        return self.columns
    @width.setter
    def width(self, columns):
        self.columns = columns
        if self.owner is not None:
            self.owner.columns = columns
    def widen(self):
        self.width = 3
class Layer:
    columns = 2
    def __init__(self):
        self.shown = self.first = View(self)
        self.views = [self.shown]
    @property
    def data(self):
        return self.shown.data
    def widen(self):
        self.shown.widen()
class Fields:
    def __init__(self, **given):
        self.__dict__.update(given)
    def update(self, **given):
        self.__dict__.update(given)
class Named:
    def __init__(self, count=None):
        self.rows = count
''', space)
view, layer, Fields = space["View"](), space["Layer"](), space["Fields"]
class Settings(Fields):
    rows: int = 2
class Sized(space["Named"]):
    rows = 2
    def __init__(self, **given):
        super().__init__(**given)
"""
LEARNED = (
    "{}.data.shape == (4, {})",
    "{}.data.shape[1] == {}",
    "{}.data.shape[-1] == {} and {}.data.ndim == 2",
    "len({}.data.T) == {}",
)
CHANGES = {
    "view": (
        "view.width = 3",
        "view.widen()",
        "setattr(view, 'width', 3)",
        "view.columns += 1",
        "change = view.widen\nchange()",
    ),
    "layer": (
        "layer.widen()",
        "layer.shown.width = 3",
        "layer.shown.widen()",
        "layer.views[0].widen()",
        "layer.columns = 3",
    ),
    "layer.shown": (
        "layer.widen()",
        "layer.shown.width = 3",
        "layer.first.width = 3",
        "layer.first.widen()",
        "layer.columns = 3",
    ),
    "layer.views[0]": ("layer.widen()", "layer.shown.width = 3", "layer.columns = 3"),
}


@pytest.mark.parametrize("learned", LEARNED)
@pytest.mark.parametrize(("name", "change"), [(name, change) for name, all_ in CHANGES.items() for change in all_])
def test_what_was_learned_before_a_change_is_forgotten(name: str, change: str, learned: str) -> None:
    before, after = (f"assert {learned.replace('{}', name, 1).replace('{}.', name + '.').format(n)}\n" for n in (2, 3))
    program = f"{HEAD}{before}{change}\n{after}"
    exec(program, {})
    assert not errors_of(program), errors_of(program)[0].message


FIELDS = (
    "made = Settings(rows=3)\n",
    "made = Sized(count=3)\n",
    "made = Settings()\nmade.update(rows=3)\n",
    "made = Settings(columns=3)\nmade.update(rows=3)\n",
)


@pytest.mark.parametrize("change", FIELDS)
@pytest.mark.parametrize("told", ["made.rows == 3", "np.zeros(made.rows).shape == (3,)"])
def test_fields_are_what_a_base_out_of_sight_set(change: str, told: str) -> None:
    program = f"{HEAD}{change}assert {told}\n"
    exec(program, {})
    assert not errors_of(program), errors_of(program)[0].message
