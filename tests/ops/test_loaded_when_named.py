"""A rule is found by a program that names its library and no other: libraries are loaded when they are first named."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import chain

import pytest

from distml.ops.registry import LIBRARIES, names

_ASKED = """import json, sys
from distml.ops.registry import find_layer, find_op
names = json.load(sys.stdin)
missing = [name for name in names if not (find_op(name) or find_layer(name))]
json.dump(missing, sys.stdout)
"""


@pytest.mark.parametrize("folder", sorted(set(LIBRARIES.values())))
def test_every_name_is_found(folder: str) -> None:
    asked_for = [name for name in chain(*names()) if LIBRARIES.get(name.partition(".")[0]) == folder]
    asked = subprocess.run(
        [sys.executable, "-c", _ASKED], input=json.dumps(asked_for), capture_output=True, text=True, check=True
    )
    assert json.loads(asked.stdout) == []
