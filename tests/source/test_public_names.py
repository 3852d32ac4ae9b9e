"""What `import *` may give is told from the text as Python does it, and what cannot give a name is not parsed for it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from distml.source.file import SourceFile
from distml.source.project import Project
from distml.spmd.check import check_source

BODY = "def a(): ...\ndef b(): ...\n_c = 1\nclass D: ...\n"
ALL = {
    "none": BODY,
    "a list": BODY + '__all__ = ["a", "D"]\n',
    "a tuple": BODY + "__all__ = ('a', '_c')\n",
    "without brackets": BODY + "__all__ = 'a', 'b'\n",
    "over lines, with comments": BODY + '__all__ = [\n    "a",  # one\n    # "b",\n    "D",\n]\n',
    "brackets in a comment": BODY + '__all__ = [\n    "a",  # one [1]\n    "D",\n]\n',
    "empty": BODY + "__all__ = []\n",
    "annotated": BODY + '__all__: list[str] = ["b"]\n',
    "two lists": BODY + '__all__ = ["a"] + ["b"]\n',
    "added to": BODY + '__all__ = ["a"]\n__all__ += ["b"]\n',
    "extended": BODY + '__all__ = ["a"]\n__all__.extend(["_c"])\n',
    "computed": BODY + "__all__ = [name for name in dir() if name != 'a']\n",
    "names in it": BODY + "B = 'b'\n__all__ = ['a', B]\n",
    "texts side by side": BODY + "__all__ = ['a' 'b', 'D']\nab = 1\n",
    "with a prefix": BODY + "__all__ = [r'a', u'b']\n",
    "sorted": BODY + "__all__ = sorted(['b', 'a'])\n",
    "in a condition": BODY + "if 1:\n    __all__ = ['b']\n",
    "in a function": BODY + "def f():\n    __all__ = ['b']\n",
    "spoken of": '"""Has no __all__."""\n' + BODY,
    "set elsewhere": BODY + "globals()['__all__'] = ['_c']\n",
}


def read(text: str) -> SourceFile:
    return SourceFile("m.py", "/nowhere/m.py", text.encode(), module="m", is_package=False)


@pytest.mark.parametrize("way", ALL)
def test_what_a_star_may_give(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that Python takes is left out, and a plain list is taken at its word."""
    (tmp_path / "starred_module.py").write_text(ALL[way])
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "starred_module", raising=False)
    taken: dict[str, object] = {}
    try:
        exec("from starred_module import *", taken)
    except AttributeError:  # `__all__` names what is not there
        pass
    finally:
        sys.modules.pop("starred_module", None)
    given, source = {name for name in taken if not name.startswith("__")}, read(ALL[way])
    assert given <= {name for name in ("a", "b", "_c", "D", "B", "f", "ab") if source.may_give(name)}
    if source.public_names is not None:
        assert source.public_names == given


def test_plain_lists_are_read() -> None:
    plain = {way for way, text in ALL.items() if read(text).public_names is not None}
    assert plain == {"a list", "a tuple", "over lines, with comments", "empty", "annotated"}


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("def name(): ...\n", True),
        ("from other import *\n", True),
        ("x = 2 * 3\n", False),
        ("def f(*args, **kwargs): ...\n", False),
        ("import name\n", True),
        ("", False),
        ("naïve = 1\n", True),  # letters that Python takes for others
    ],
)
def test_which_files_may_bind_a_name(text: str, may: bool) -> None:
    assert read(text).may_bind("name") is may


def test_files_that_cannot_give_a_name_are_not_parsed() -> None:
    """Of the many modules that a package takes all names of, as large libraries do."""
    names = [f"part{number}" for number in range(40)]
    files = {f"p/{name}.py": f"__all__ = ['{name}']\nimport torch\ndef {name}(x): return x, other\n" for name in names}
    files["p/other.py"] = "import torch.distributed as dist\ndef other(x):\n    dist.barrier()\n"
    files["p/__init__.py"] = "".join(f"from .{name} import *\n" for name in ["other", *names])
    files["run.py"] = (
        "import torch.distributed as dist\nfrom p import other\n"
        "def go(x):\n    if dist.get_rank() == 0:\n        other(x)\n"
    )
    project = Project("/nowhere", overlay={f"/nowhere/{name}": text.encode() for name, text in files.items()})
    findings = check_source(project.open("run.py"), project, time.process_time() + 20)
    assert [finding.code for finding in findings] == ["SPM101"]
    others = [project.shown_as(f"p/{name}.py") for name in names]
    assert not [each.path for each in others if each is not None and "tree" in vars(each)]
