"""A module that cannot be parsed is unknown to the rules for ranks of the files that import it; its own check says why."""

from __future__ import annotations

import time
from itertools import product
from pathlib import Path

import pytest

from distml.source.project import Project
from distml.spmd.check import check_source

BROKEN = {
    "no Python": "def f(:\n    dist.barrier()\n",
    "Python 2": "def f(x):\n    print 'x'\n",
    "newer": "def f[T](x: T, *y: (int for z in T)) -> T: return yield x\n",
    "nested": "x = " + "(" * 400 + ")" * 400 + "\n",
    "no text": "x = '\0'\n",
    "half": "import torch.distributed as dist\nif rank:\n",
}
IMPORTS = {
    "a name": "from pkg.broken import f\n",
    "another name": "from pkg.broken import f as g\nf = g\n",
    "a module": "import pkg.broken\nf = pkg.broken.f\n",
    "a module by another name": "import pkg.broken as b\nf = b.f\n",
    "from the package": "from pkg import broken\nf = broken.f\n",
    "relative": "from .broken import f\n",
    "everything": "from .broken import *\n",
    "a class": "from .broken import Base\nclass Net(Base):\n    def f(self): return self.g()\nf = Net().f\n",
    "in a function": "def f(x):\n    from .broken import f as g\n    return g(x)\n",
    "through another": "from .between import f\n",
}
USES = {
    "called": "x = f(torch.ones(3))\n",
    "on one rank": "if dist.get_rank() == 0:\n    f(torch.ones(3))\n",
    "a condition": "if f(1):\n    dist.barrier()\n",
    "a decorator": "@f\ndef g(x):\n    dist.all_reduce(x)\ng(torch.ones(3))\n",
}


@pytest.mark.parametrize(("broken", "imported"), [*product(BROKEN, IMPORTS)])
def test_nothing_is_said_of_what_it_holds_and_the_rest_is_followed(broken: str, imported: str, tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "broken.py").write_text(BROKEN[broken] + "# rank, torch.distributed\n", encoding="utf-8")
    (package / "between.py").write_text("import torch.distributed\nfrom .broken import f\n", encoding="utf-8")
    head = "import torch\nimport torch.distributed as dist\n" + IMPORTS[imported]
    for use in USES.values():
        for end, codes in (("dist.barrier()\n", set()), ("if dist.get_rank() == 0:\n    dist.barrier()\n", {"SPM101"})):
            (package / "main.py").write_text(head + use + end, encoding="utf-8")
            project = Project(str(tmp_path))
            found = check_source(project.open(str(package / "main.py")), project, time.process_time() + 10)
            assert {each.code for each in found} == codes
