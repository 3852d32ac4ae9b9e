"""A class that leaves methods to its subclasses is there to be derived from: what else it says may be written anew."""

from __future__ import annotations

import pytest

from interp.programs import errors_of

HEAD = """import numpy as np
from abc import ABC, abstractmethod
class Base(ABC):
    size = 0
    kind = None
    def __init__(self, data):
        self.data = np.asarray(data)
"""
OPEN = {
    "abstract": "    @abstractmethod\n    def area(self):\n        pass\n",
    "unwritten": "    def area(self):\n        raise NotImplementedError\n",
    "documented": '    def area(self):\n        """The area."""\n',
}
USES = {
    "attribute": "    def use(self):\n        return np.zeros(4) + np.zeros(self.size)\n",
    "type": "    def use(self):\n        return np.zeros(4) + np.zeros(type(self).size)\n",
    "class": "    def use(self):\n        return np.zeros(4) + np.zeros(self.__class__.size)\n",
    "method of the class": "    @classmethod\n    def use(cls):\n        return np.zeros(4) + np.zeros(cls.size)\n",
    "constructor": "    def use(self):\n        return type(self)(np.zeros(4) + np.zeros(self.size))\n",
    "called": "    def use(self):\n        return self.more()\n"
    "    def more(self):\n        return np.zeros(4) + np.zeros(self.size)\n",
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("left", OPEN)
def test_attributes_of_an_open_class_are_those_of_its_subclasses(left: str, use: str) -> None:
    assert not errors_of(HEAD + OPEN[left] + USES[use])


@pytest.mark.parametrize("use", USES)
def test_attributes_of_a_whole_class_are_its_own(use: str) -> None:
    assert [each.code for each in errors_of(HEAD + USES[use])] == ["SHP102"]


@pytest.mark.parametrize("use", USES)
def test_attributes_of_an_object_that_is_made_are_known(use: str) -> None:
    program = (
        f"{HEAD}{OPEN['abstract']}{USES[use]}class Sub(Base):\n    def area(self):\n        return 1\nSub(3).use()\n"
    )
    assert [each.code for each in errors_of(program)] == ["SHP102"]


def test_attributes_that_a_subclass_in_sight_writes_anew_are_open() -> None:
    program = f"{HEAD}{USES['attribute']}class Sub(Base):\n    size = 4\n"
    assert not errors_of(program)


KINDS = """import numpy as np
class Kind:
    def use(self):
        return stacked(self)
class Mixed:
    pass
class Derived(Kind):
    rows = 3
class Both(Kind, Mixed):
    rows = 3
class Empty:
    rows = 0
def stacked(made):
    made = made if isinstance(made, {}) else Empty()
    return np.vstack([np.zeros(3) for _ in range(made.rows)])
"""


@pytest.mark.parametrize("kind", ["Derived", "Mixed", "(Both, str)"])
def test_an_object_of_any_class_may_be_of_a_derived_one(kind: str) -> None:
    assert not errors_of(KINDS.format(kind))
    assert [each.code for each in errors_of(KINDS.format(kind) + "Kind().use()\n")] == ["SHP203"]
