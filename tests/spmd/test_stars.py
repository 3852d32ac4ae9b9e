"""Classes that a file takes by `import *` are followed: what their objects keep of a rank's data and rank 0 tells is found."""

from __future__ import annotations

import time

import pytest

from distml.source.project import Project
from distml.spmd.check import certified
from distml.spmd.told import Watch

from spmd.test_told import HEAD, OWN_LOADER

STARS = "from .meters import *\n"
AROUND = {"a.py": "from b import *\n", "b.py": "from a import *\nfrom c import *\n", "c.py": ""}
STARRED = {
    "a file": ({"meters.py": ""}, "from meters import *"),
    "a package": ({"kept/__init__.py": STARS, "kept/meters.py": ""}, "from kept import *"),
    "a name of a package": ({"kept/__init__.py": STARS, "kept/meters.py": ""}, "from kept import Own"),
    "a module of a package": ({"kept/__init__.py": STARS, "kept/meters.py": ""}, "import kept\nOwn = kept.Own"),
    "files that take from each other": (AROUND, "from a import *"),
}
STARRED_CLASS = """
class Own:
    def __init__(self):
        self.reset()

    def reset(self):
        self.total = 0

    def update(self, value):
        self.total += value
"""


@pytest.mark.parametrize("way", STARRED)
def test_what_a_star_brings_is_followed(way: str) -> None:
    files, taken = STARRED[way]
    body = f"{taken}\nmeter = Own()\nfor x in {OWN_LOADER}:\n    meter.update(model(x).item())\n"
    body += "    if dist.get_rank() == 0:\n        print(meter.total)\n"
    overlay = {
        f"/nowhere/{name}": (text if "import" in text else STARRED_CLASS).encode() for name, text in files.items()
    }
    project = Project("/nowhere", overlay=overlay | {"/nowhere/script.py": (HEAD + body).encode()})
    source = project.open("script.py")
    findings, places, *_ = certified(source, project, time.process_time() + 20, Watch(frozenset({"print"})))
    assert not findings
    assert [source.lines[each.node.lineno - 1].strip() for each in places] == ["print(meter.total)"]


@pytest.mark.parametrize(
    ("listed", "follows"), [("['Own']", True), ("['Other']", False), ("['Other'] + ['Own']", True)]
)
def test_a_star_brings_what_its_module_lists(listed: str, follows: bool) -> None:
    body = f"from meters import *\nmeter = Own()\nfor x in {OWN_LOADER}:\n    meter.update(model(x).item())\n"
    body += "    if dist.get_rank() == 0:\n        print(meter.total)\n"
    meters = f"__all__ = {listed}\nOther = 1\n{STARRED_CLASS}"
    overlay = {"/nowhere/meters.py": meters.encode(), "/nowhere/script.py": (HEAD + body).encode()}
    project = Project("/nowhere", overlay=overlay)
    _, places, *_ = certified(project.open("script.py"), project, time.process_time() + 20, Watch(frozenset({"print"})))
    assert bool(places) is follows
